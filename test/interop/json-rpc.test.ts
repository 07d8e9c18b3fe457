import { AccountRole } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEVNET_USDC } from '../../src/solana/cluster.ts';
import { programDataOf } from '../../src/solana/loader.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/token.ts';
import { buildTransaction } from '../../src/solana/transaction.ts';
import { openRpcEndpoint, type RpcEndpoint } from './rpc-endpoint.ts';

const alice = signerFromSeed(new Uint8Array(32).fill(21));
const carol = signerFromSeed(new Uint8Array(32).fill(22));

describe('the JSON-RPC on the wire', () => {
  let endpoint: RpcEndpoint;
  beforeAll(async () => {
    endpoint = await openRpcEndpoint();
  });
  afterAll(() => endpoint.close());

  const post = async (body: string) => {
    const response = await fetch(endpoint.url, { method: 'POST', body });
    const text = await response.text();
    return { status: response.status, text, json: text ? (JSON.parse(text) as unknown) : undefined };
  };
  const call = async (method: unknown, params?: unknown) =>
    (await post(JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }))).json;
  const failure = (code: number, message: unknown = expect.any(String)) =>
    expect.objectContaining({ error: expect.objectContaining({ code, message }) });

  it('answers a batch in order, and a notification not at all', async () => {
    const batch = [
      { jsonrpc: '2.0', id: 'a', method: 'getHealth' },
      { jsonrpc: '2.0', method: 'getHealth' },
      { jsonrpc: '2.0', id: null, method: 'getSlot', params: [] },
      { jsonrpc: '2.0', id: 3, method: 'getNothing' },
      5,
    ];
    expect((await post(JSON.stringify(batch))).json).toEqual([
      { jsonrpc: '2.0', result: 'ok', id: 'a' },
      { jsonrpc: '2.0', result: 0, id: null },
      { jsonrpc: '2.0', error: { code: -32601, message: 'Method not found' }, id: 3 },
      { jsonrpc: '2.0', error: { code: -32600, message: 'Invalid request' }, id: null },
    ]);
    expect((await post(JSON.stringify({ jsonrpc: '2.0', method: 'getHealth' }))).text).toBe('');
  });

  it('refuses what is no request', async () => {
    expect((await post('{"jsonrpc": "2.0"')).json).toEqual(failure(-32700));
    for (const body of ['[]', '5', 'null', '"getSlot"', '{}', '{"jsonrpc":"1.0","id":1,"method":"getSlot"}']) {
      expect((await post(body)).json).toEqual(failure(-32600));
    }
    expect((await post(`[${Array(101).fill('{}').join(',')}]`)).json).toEqual(failure(-32600));
    expect(await call(5)).toEqual(failure(-32600));
    expect((await post(`"${'x'.repeat(1024 * 1024)}"`)).status).toBe(413);
    const get = await fetch(endpoint.url);
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('refuses unknown methods, also those that every object has', async () => {
    for (const name of ['getEverything', 'constructor', 'toString', '__proto__', '']) {
      expect(await call(name)).toEqual(failure(-32601, 'Method not found'));
    }
  });

  const wrong: [string, unknown][] = [
    ['getBalance', []],
    ['getBalance', { pubkey: alice.address }],
    ['getBalance', ['not-an-address']],
    ['getBalance', [alice.address, { commitment: 'certain' }]],
    ['getBalance', [alice.address, {}, 1]],
    ['getAccountInfo', [alice.address, { encoding: 'hex' }]],
    ['getAccountInfo', [alice.address, { encoding: 'base64', dataSlice: { offset: -1, length: 1 } }]],
    ['getMultipleAccounts', [Array(101).fill(alice.address)]],
    ['getTokenAccountBalance', [alice.address]],
    ['getTokenAccountBalance', [TOKEN_PROGRAM]],
    ['getTokenSupply', [TOKEN_PROGRAM]],
    ['getTokenAccountsByOwner', [alice.address, {}]],
    ['getTokenAccountsByOwner', [alice.address, { mint: alice.address }]],
    ['getTokenAccountsByOwner', [alice.address, { programId: alice.address }]],
    ['getMinimumBalanceForRentExemption', ['165']],
    ['getMinimumBalanceForRentExemption', [-1]],
    ['getSignatureStatuses', ['x']],
    ['getSignatureStatuses', [['x']]],
    ['getSignaturesForAddress', [alice.address, { limit: 1001 }]],
    ['getSignaturesForAddress', [alice.address, { limit: 0 }]],
    ['getTransaction', [alice.address]],
    // As long as a signature, and not base58.
    ['getTransaction', ['0'.repeat(88)]],
    ['getSignatureStatuses', [[`{${'1'.repeat(63)}`]]],
    ['isBlockhashValid', ['x']],
    ['getFeeForMessage', ['AA==']],
    ['getFeeForMessage', ['not base64!']],
    ['requestAirdrop', [alice.address]],
    ['requestAirdrop', [alice.address, -5]],
    ['requestAirdrop', [alice.address, 1.5]],
    ['requestAirdrop', [alice.address, 10 ** 15]],
    ['farelock_airdropUsdc', [alice.address, '5']],
    ['farelock_airdropUsdc', ['x', 5]],
    ['sendTransaction', []],
    ['sendTransaction', ['AAAA', { encoding: 'base64' }]],
    ['sendTransaction', ['0OIl']],
    ['sendTransaction', ['A'.repeat(5000), { encoding: 'base64' }]],
    ['simulateTransaction', ['AAAA', { encoding: 'base64' }]],
    ['simulateTransaction', ['AAAA', { encoding: 'base64', sigVerify: true, replaceRecentBlockhash: true }]],
  ];
  it.each(wrong)('refuses wrong parameters of %s: %j', async (method, params) => {
    expect(await call(method, params)).toEqual(failure(-32602));
  });

  it('says when a slot that is asked for has not come yet', async () => {
    expect(await call('getBalance', [alice.address, { minContextSlot: 1000 }])).toEqual(
      failure(-32016, 'Minimum context slot has not been reached'),
    );
    expect(await call('getBlockTime', [1000])).toEqual(failure(-32004));
  });

  it('refuses base58 for an account that is too large for it', async () => {
    expect(await call('getAccountInfo', ['ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'])).toEqual(failure(-32600));
  });

  it('mints test USDC, which no real cluster does', async () => {
    expect(await call('farelock_airdropUsdc', [alice.address, 5_000_000])).toEqual({
      jsonrpc: '2.0',
      id: 7,
      result: expect.any(String),
    });
    const owned = await call('getTokenAccountsByOwner', [
      alice.address,
      { mint: DEVNET_USDC },
      { encoding: 'jsonParsed' },
    ]);
    expect(JSON.stringify(owned)).toContain('"amount":"5000000"');
  });

  it('writes 64-bit integers as numbers', async () => {
    const { text } = await post(
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getAccountInfo', params: [DEVNET_USDC] }),
    );
    expect(text).toContain('"rentEpoch":18446744073709551615');
  });

  it('takes null in place of options', async () => {
    expect(await call('getBalance', [alice.address, null])).toMatchObject({ result: { value: 0 } });
  });

  it('shows no more bytes of accounts after a simulation than an answer may have', async () => {
    await endpoint.cluster.airdropSol(carol.address, 10_000_000_000n);
    const large = await programDataOf(TOKEN_2022_PROGRAM);
    const others = Array.from({ length: 20 }, (_, n) => signerFromSeed(new Uint8Array(32).fill(100 + n)).address);
    const transfer = getTransferSolInstruction({ source: carol, destination: carol.address, amount: 1n });
    const accounts = [large, ...others].map((address) => ({ address, role: AccountRole.READONLY }));
    const { wire } = buildTransaction({
      feePayer: carol,
      instructions: [{ ...transfer, accounts: [...transfer.accounts, ...accounts] }],
      blockhash: await endpoint.cluster.latestBlockhash(),
    });
    const simulated = (addresses: readonly string[]) =>
      call('simulateTransaction', [
        Buffer.from(wire).toString('base64'),
        { encoding: 'base64', accounts: { encoding: 'base64', addresses } },
      ]);
    expect(await simulated([large])).toMatchObject({ result: { value: { err: null, accounts: [{}] } } });
    expect(await simulated(Array(20).fill(large))).toEqual(failure(-32005));
    expect(await simulated(Array(24).fill(large))).toEqual(failure(-32602, expect.stringContaining('max 23')));
  });
});
