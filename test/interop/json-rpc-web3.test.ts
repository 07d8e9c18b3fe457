import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  SendTransactionError,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEVNET_USDC } from '../../src/solana/cluster.ts';
import { openRpcEndpoint, type RpcEndpoint } from './rpc-endpoint.ts';

const USDC = new PublicKey(DEVNET_USDC);
const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');

describe('@solana/web3.js, unmodified, against the JSON-RPC', () => {
  let endpoint: RpcEndpoint;
  let connection: Connection;
  const alice = Keypair.generate();
  const bob = Keypair.generate();

  beforeAll(async () => {
    endpoint = await openRpcEndpoint();
    connection = new Connection(endpoint.url, { commitment: 'confirmed', disableRetryOnRateLimit: true });
    await connection.requestAirdrop(alice.publicKey, 5 * LAMPORTS_PER_SOL);
    await endpoint.cluster.airdropUsdc(alice.publicKey.toBase58() as typeof DEVNET_USDC, 123_450_000n);
  });
  afterAll(() => endpoint.close());

  const transfer = async (lamports: number) => {
    const { blockhash } = await connection.getLatestBlockhash();
    const instruction = SystemProgram.transfer({ fromPubkey: alice.publicKey, toPubkey: bob.publicKey, lamports });
    const message = new TransactionMessage({
      payerKey: alice.publicKey,
      recentBlockhash: blockhash,
      instructions: [instruction],
    });
    const transaction = new VersionedTransaction(message.compileToV0Message());
    transaction.sign([alice]);
    return transaction;
  };

  it('reads the chain', async () => {
    expect(await connection.getVersion()).toHaveProperty('solana-core');
    expect(await connection.getGenesisHash()).toBe('EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG');
    endpoint.clock.advance(4_000);
    expect(await connection.getSlot()).toBe(10);
    expect(await connection.getBlockHeight()).toBe(10);
    expect(await connection.getEpochInfo()).toMatchObject({ absoluteSlot: 10, epoch: 0, slotsInEpoch: 432000 });
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
    expect(lastValidBlockHeight).toBe(160);
    expect((await connection.isBlockhashValid(blockhash)).value).toBe(true);
    expect((await connection.isBlockhashValid(Keypair.generate().publicKey.toBase58())).value).toBe(false);
    expect(await connection.getBlockTime(10)).toBe(Math.floor(endpoint.clock.now() / 1000));
    expect(await connection.getMinimumBalanceForRentExemption(165)).toBe(2039280);
    expect(await connection.getTransactionCount()).toBeGreaterThan(1);
    expect(await connection.getRecentPrioritizationFees()).toHaveLength(1);
  });

  it('reads accounts and tokens', async () => {
    expect(await connection.getBalance(alice.publicKey)).toBe(5 * LAMPORTS_PER_SOL);
    expect(await connection.getAccountInfo(bob.publicKey)).toBeNull();
    const wallet = await connection.getAccountInfo(alice.publicKey);
    expect(wallet?.owner.toBase58()).toBe(SystemProgram.programId.toBase58());
    const [program, nobody, mint] = await connection.getMultipleAccountsInfo([TOKEN_PROGRAM, bob.publicKey, USDC]);
    expect(program?.executable).toBe(true);
    expect(nobody).toBeNull();
    expect(mint?.data).toHaveLength(82);
    expect((await connection.getTokenSupply(USDC)).value).toMatchObject({ decimals: 6, uiAmount: 123.45 });

    const { value } = await connection.getParsedTokenAccountsByOwner(alice.publicKey, { mint: USDC });
    expect(value).toHaveLength(1);
    expect(value[0]?.account.data.parsed).toMatchObject({
      type: 'account',
      info: {
        mint: DEVNET_USDC,
        owner: alice.publicKey.toBase58(),
        state: 'initialized',
        isNative: false,
        tokenAmount: { amount: '123450000', decimals: 6, uiAmount: 123.45, uiAmountString: '123.45' },
      },
    });
    const account = value[0]?.pubkey ?? USDC;
    const raw = await connection.getTokenAccountsByOwner(alice.publicKey, { programId: TOKEN_PROGRAM });
    expect(raw.value.map(({ pubkey }) => pubkey.toBase58())).toEqual([account.toBase58()]);
    expect((await connection.getTokenAccountBalance(account)).value.amount).toBe('123450000');
    const [largest] = (await connection.getTokenLargestAccounts(USDC)).value;
    expect(largest?.address.toBase58()).toBe(account.toBase58());
    const held = await connection.getProgramAccounts(TOKEN_PROGRAM, {
      filters: [{ dataSize: 165 }, { memcmp: { offset: 32, bytes: alice.publicKey.toBase58() } }],
    });
    expect(held).toHaveLength(1);
    expect((await connection.getParsedAccountInfo(USDC)).value?.data).toMatchObject({
      program: 'spl-token',
      parsed: { type: 'mint', info: { decimals: 6, freezeAuthority: null } },
    });
  });

  it('simulates, sends, and reads back a transaction of version 0', async () => {
    const transaction = await transfer(LAMPORTS_PER_SOL);
    const fee = await connection.getFeeForMessage(transaction.message);
    expect(fee.value).toBe(5000);
    const tried = await connection.simulateTransaction(transaction, { sigVerify: true });
    expect(tried.value).toMatchObject({ err: null, unitsConsumed: 150 });
    expect(await connection.getBalance(bob.publicKey)).toBe(0);

    const signature = await connection.sendTransaction(transaction);
    expect(await connection.getBalance(bob.publicKey)).toBe(LAMPORTS_PER_SOL);
    const { value: status } = await connection.getSignatureStatus(signature);
    expect(status).toMatchObject({ err: null, confirmationStatus: 'finalized' });
    // Sent again, the same bytes are answered alike and land no second time.
    const again = { skipPreflight: true };
    expect(await connection.sendRawTransaction(transaction.serialize(), again)).toBe(signature);
    expect(await connection.getBalance(bob.publicKey)).toBe(LAMPORTS_PER_SOL);

    const found = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(found?.version).toBe(0);
    expect(found?.transaction.signatures).toEqual([signature]);
    expect(found?.meta).toMatchObject({ err: null, fee: 5000, computeUnitsConsumed: 150 });
    expect(found?.meta?.postBalances[1]).toBe(LAMPORTS_PER_SOL);
    const parsed = await connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(parsed?.transaction.message.instructions[0]).toMatchObject({
      program: 'system',
      parsed: { type: 'transfer', info: { lamports: LAMPORTS_PER_SOL, destination: bob.publicKey.toBase58() } },
    });
    await expect(connection.getTransaction(signature)).rejects.toThrow('maxSupportedTransactionVersion');
    const history = await connection.getSignaturesForAddress(alice.publicKey, { limit: 1 });
    expect(history).toMatchObject([{ signature, err: null, memo: null }]);
    const older = await connection.getSignaturesForAddress(alice.publicKey, { before: signature });
    expect(older).toHaveLength(2);
    expect(older[0]?.memo).toMatch(/^\[16\] [0-9a-f]{16}$/);
    expect(
      await connection.getSignaturesForAddress(alice.publicKey, { until: older[0]?.signature ?? '' }),
    ).toHaveLength(1);
  });

  it('sends a legacy transaction', async () => {
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
    const legacy = new Transaction({ feePayer: alice.publicKey, blockhash, lastValidBlockHeight }).add(
      SystemProgram.transfer({ fromPubkey: alice.publicKey, toPubkey: bob.publicKey, lamports: 2_000_000 }),
    );
    const before = await connection.getBalance(bob.publicKey);
    const signature = await connection.sendTransaction(legacy, [alice]);
    expect(await connection.getBalance(bob.publicKey)).toBe(before + 2_000_000);
    const found = await connection.getTransaction(signature);
    expect(found?.transaction.message.accountKeys[0]?.toBase58()).toBe(alice.publicKey.toBase58());
  });

  it('learns why a transaction is refused', async () => {
    const tooMuch = await transfer(50 * LAMPORTS_PER_SOL);
    const refused = await connection.sendTransaction(tooMuch).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SendTransactionError);
    expect(String(refused)).toContain('custom program error: 0x1');
    const { value } = await connection.simulateTransaction(tooMuch);
    expect(value.err).toEqual({ InstructionError: [0, { Custom: 1 }] });

    const late = await transfer(1_000_000);
    endpoint.clock.advance(151 * 400);
    await expect(connection.sendTransaction(late)).rejects.toThrow('Blockhash not found');
    const forged = await transfer(1_000_000);
    forged.signatures[0]?.fill(7);
    await expect(connection.sendTransaction(forged)).rejects.toThrow('signature verification failure');
    // Without preflight it lands, fails and pays.
    const other = await transfer(60 * LAMPORTS_PER_SOL);
    const signature = await connection.sendTransaction(other, { skipPreflight: true });
    const { value: status } = await connection.getSignatureStatus(signature);
    expect(status?.err).toEqual({ InstructionError: [0, { Custom: 1 }] });
  });
});
