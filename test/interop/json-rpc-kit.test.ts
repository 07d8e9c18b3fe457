import {
  type Address,
  type Base64EncodedWireTransaction,
  createSolanaRpc,
  isSolanaError,
  type Rpc,
  type Signature,
  SOLANA_ERROR__JSON_RPC__INVALID_PARAMS,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE,
  type SolanaRpcApiDevnet,
  type TransactionMessageBytesBase64,
} from '@solana/kit';
import { getTransferCheckedInstruction } from '@solana-program/token';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEVNET_USDC } from '../../src/solana/cluster.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { associatedTokenAddress, TOKEN_PROGRAM } from '../../src/solana/token.ts';
import { buildTransaction } from '../../src/solana/transaction.ts';
import { openRpcEndpoint, type RpcEndpoint } from './rpc-endpoint.ts';

const alice = signerFromSeed(new Uint8Array(32).fill(11));
const bob = signerFromSeed(new Uint8Array(32).fill(12));

const codeOf = async (promise: Promise<unknown>) => {
  const error = await promise.catch((reason: unknown) => reason);
  return isSolanaError(error) ? error.context.__code : error;
};

describe('@solana/kit, unmodified, against the JSON-RPC', () => {
  let endpoint: RpcEndpoint;
  let rpc: Rpc<SolanaRpcApiDevnet>;
  let aliceUsdc: Address;
  let bobUsdc: Address;

  beforeAll(async () => {
    endpoint = await openRpcEndpoint();
    rpc = createSolanaRpc(endpoint.url) as typeof rpc;
    aliceUsdc = await associatedTokenAddress(alice.address, DEVNET_USDC);
    bobUsdc = await associatedTokenAddress(bob.address, DEVNET_USDC);
    await endpoint.cluster.airdropSol(alice.address, 1_000_000_000n);
    await endpoint.cluster.airdropUsdc(alice.address, 10_000_000n);
    await endpoint.cluster.airdropUsdc(bob.address, 1n);
  });
  afterAll(() => endpoint.close());

  const pay = async (amount: bigint) => {
    const signed = buildTransaction({
      feePayer: alice,
      instructions: [
        getTransferCheckedInstruction({
          source: aliceUsdc,
          mint: DEVNET_USDC,
          destination: bobUsdc,
          authority: alice,
          amount,
          decimals: 6,
        }),
      ],
      blockhash: (await rpc.getLatestBlockhash().send()).value,
    });
    return { ...signed, wire: toBase64(signed.wire), bytes: signed.wire };
  };
  const toBase64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64') as Base64EncodedWireTransaction;

  it('reads the chain with 64-bit integers', async () => {
    expect(await rpc.getHealth().send()).toBe('ok');
    expect(await rpc.getGenesisHash().send()).toBe('EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG');
    expect(await rpc.getSlot().send()).toBe(0n);
    expect(await rpc.getBlockHeight().send()).toBe(0n);
    expect(await rpc.getBlockTime(0n).send()).toBe(BigInt(Math.floor(endpoint.clock.now() / 1000)));
    expect(await rpc.getEpochInfo().send()).toMatchObject({ epoch: 0n, slotsInEpoch: 432000n });
    expect(await rpc.getMinimumBalanceForRentExemption(0n).send()).toBe(890880n);
    expect(await rpc.getTransactionCount().send()).toBe(3n);
    const { value } = await rpc.getLatestBlockhash({ commitment: 'finalized' }).send();
    expect(value.lastValidBlockHeight).toBe(150n);
    expect((await rpc.isBlockhashValid(value.blockhash).send()).value).toBe(true);
    expect(await rpc.getVersion().send()).toHaveProperty('solana-core');
  });

  it('reads accounts in every encoding', async () => {
    expect((await rpc.getBalance(alice.address).send()).value).toBe(1_000_000_000n);
    const read = (encoding: 'base64' | 'base64+zstd' | 'base58' | 'jsonParsed', address = DEVNET_USDC) =>
      rpc.getAccountInfo(address, { encoding: encoding as 'base64' }).send();
    const base64 = await read('base64');
    expect(base64.value).toMatchObject({ owner: TOKEN_PROGRAM, space: 82n, rentEpoch: 2n ** 64n - 1n });
    expect((await read('base58')).value?.data[1]).toBe('base58');
    const zstd = Buffer.from((await read('base64+zstd')).value?.data[0] ?? '', 'base64');
    expect(zstd.subarray(16)).toEqual(Buffer.from(base64.value?.data[0] ?? '', 'base64'));
    expect((await read('jsonParsed')).value?.data).toMatchObject({
      program: 'spl-token',
      parsed: { type: 'mint', info: { decimals: 6, isInitialized: true } },
      space: 82n,
    });
    const sliced = await rpc
      .getAccountInfo(DEVNET_USDC, { encoding: 'base64', dataSlice: { offset: 44, length: 1 } })
      .send();
    expect(sliced.value?.data).toEqual(['Bg==', 'base64']);
    const [mint, nothing] = (await rpc.getMultipleAccounts([DEVNET_USDC, bob.address]).send()).value;
    expect([mint?.space, nothing]).toEqual([82n, null]);
    const owned = await rpc
      .getTokenAccountsByOwner(alice.address, { mint: DEVNET_USDC }, { encoding: 'jsonParsed' })
      .send();
    expect(owned.value[0]?.pubkey).toBe(aliceUsdc);
    expect((await rpc.getTokenAccountBalance(aliceUsdc).send()).value.amount).toBe('10000000');
    expect((await rpc.getTokenSupply(DEVNET_USDC).send()).value.amount).toBe('10000001');
    expect(
      await rpc.getProgramAccounts(TOKEN_PROGRAM, { encoding: 'base64', filters: [{ dataSize: 165n }] }).send(),
    ).toHaveLength(2);
  });

  it('simulates without a signature, with a blockhash put in its place', async () => {
    const { bytes } = await pay(2_000_000n);
    endpoint.clock.advance(151 * 400);
    const unsigned = toBase64(bytes.slice().fill(0, 1, 65));
    const expired = await rpc.simulateTransaction(unsigned, { encoding: 'base64' }).send();
    expect(expired.value.err).toBe('BlockhashNotFound');
    const { value } = await rpc
      .simulateTransaction(unsigned, {
        encoding: 'base64',
        replaceRecentBlockhash: true,
        innerInstructions: true,
        accounts: { addresses: [bobUsdc], encoding: 'jsonParsed' },
      })
      .send();
    expect(value.err).toBeNull();
    expect(value.replacementBlockhash.blockhash).toBe((await rpc.getLatestBlockhash().send()).value.blockhash);
    expect(value.accounts[0]?.data).toMatchObject({ parsed: { info: { tokenAmount: { amount: '2000001' } } } });
    expect((await rpc.getTokenAccountBalance(bobUsdc).send()).value.amount).toBe('1');
  });

  it('sends a token payment and reads it back', async () => {
    const { wire, signature, bytes } = await pay(2_000_000n);
    const message = toBase64(bytes.slice(65)) as unknown as TransactionMessageBytesBase64;
    expect((await rpc.getFeeForMessage(message).send()).value).toBe(5000n);
    expect(await rpc.sendTransaction(wire, { encoding: 'base64' }).send()).toBe(signature);
    // What has landed is refused by the preflight, which is how the simulation answers too.
    const again = rpc.sendTransaction(wire, { encoding: 'base64' }).send();
    expect(await codeOf(again)).toBe(SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE);
    const forwarded = rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight: true }).send();
    expect(await forwarded).toBe(signature);
    const [status] = (await rpc.getSignatureStatuses([signature]).send()).value;
    expect(status).toMatchObject({ err: null, confirmationStatus: 'finalized' });
    const found = await rpc
      .getTransaction(signature, { encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 })
      .send();
    expect(found?.transaction.message.instructions[0]).toMatchObject({
      program: 'spl-token',
      parsed: { type: 'transferChecked', info: { authority: alice.address, source: aliceUsdc } },
    });
    const balances = found?.meta?.postTokenBalances?.map((one) => [one.owner, one.uiTokenAmount.amount]);
    expect(balances).toEqual(
      expect.arrayContaining([
        [alice.address, '8000000'],
        [bob.address, '2000001'],
      ]),
    );
    const [latest] = await rpc.getSignaturesForAddress(bobUsdc, { limit: 1 }).send();
    expect(latest?.signature).toBe(signature);
    const raw = await rpc.getTransaction(signature, { encoding: 'base64', maxSupportedTransactionVersion: 0 }).send();
    expect(raw?.transaction[0]).toBe(wire);
  });

  it('takes airdrops of SOL', async () => {
    const signature = await rpc.requestAirdrop(bob.address, 70_000_000n as never).send();
    expect((await rpc.getBalance(bob.address).send()).value).toBe(70_000_000n);
    expect(signature).toMatch(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/);
  });

  it('gets the errors that it knows', async () => {
    const { bytes } = await pay(1n);
    const forged = bytes.slice();
    forged[3] = (forged[3] ?? 0) ^ 1;
    expect(await codeOf(rpc.sendTransaction(toBase64(forged), { encoding: 'base64' }).send())).toBe(
      SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE,
    );
    const tooMuch = await pay(999_000_000n);
    expect(await codeOf(rpc.sendTransaction(tooMuch.wire, { encoding: 'base64' }).send())).toBe(
      SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
    );
    expect(await codeOf(rpc.getBalance('nobody' as Address).send())).toBe(SOLANA_ERROR__JSON_RPC__INVALID_PARAMS);
    expect(await rpc.getTransaction(`${'1'.repeat(64)}` as Signature, { encoding: 'json' }).send()).toBeNull();
  });
});
