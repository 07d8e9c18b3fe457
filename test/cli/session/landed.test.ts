import { getTransferInstruction } from '@solana-program/token';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasNeverLanded } from '../../../src/cli/session/landed.ts';
import type { ClientStore, SignedPayment } from '../../../src/client/journal/index.ts';
import { signPayment } from '../../../src/client/payer/transaction.ts';
import { type Fetch, HttpResponse } from '../../../src/kernel/http.ts';
import { DEVNET_USDC } from '../../../src/solana/cluster.ts';
import { parseTransaction } from '../../../src/solana/embedded/parse.ts';
import { signerFromSeed } from '../../../src/solana/signer.ts';
import { associatedTokenAddress, MEMO_PROGRAM } from '../../../src/solana/token.ts';
import { buildTransaction } from '../../../src/solana/transaction.ts';
import { openRpcEndpoint, type RpcEndpoint } from '../../interop/rpc-endpoint.ts';
import { type Lie, openLyingCluster } from '../../solana/lying-rpc.ts';

/** When the tool gives a payment up, so that another one may be signed. */

const payer = signerFromSeed(new Uint8Array(32).fill(61));
const service = signerFromSeed(new Uint8Array(32).fill(62));
const URLS = ['http://first.test/', 'http://second.test/'];
const HOUR_MS = 3_600_000;

let endpoint: RpcEndpoint;
let destination: string;
beforeAll(async () => {
  endpoint = await openRpcEndpoint();
  for (const { address } of [payer, service]) await endpoint.cluster.airdropSol(address, 1_000_000_000n);
  for (const { address } of [payer, service]) await endpoint.cluster.airdropUsdc(address, 1_000_000n);
  destination = await associatedTokenAddress(service.address, DEVNET_USDC);
  endpoint.clock.advance(HOUR_MS);
});
afterAll(() => endpoint.close());

/** Signs a payment as the tool does, and asks about it once it has expired. */
async function ask(memo: string, tell: Lie, { lands = false, fails = false, by = payer } = {}): Promise<boolean> {
  const liar = await openLyingCluster(endpoint, endpoint.clock.advance, { urls: URLS });
  const { cluster, fetch } = liar;
  const blockhash = await cluster.latestBlockhash();
  const transaction = await signPayment(
    by,
    { feePayer: service.address, payTo: service.address, asset: DEVNET_USDC, amount: 1_000n, memo },
    blockhash,
  );
  const createdAtMs = endpoint.clock.now();
  if (lands) {
    const pays = getTransferInstruction({
      source: (await associatedTokenAddress(by.address, DEVNET_USDC)) as never,
      destination: destination as never,
      authority: by,
      amount: 1_000n,
    });
    const instructions = [pays, { programAddress: MEMO_PROGRAM, data: Buffer.from(memo) }];
    await cluster.send(buildTransaction({ feePayer: by, instructions, blockhash }).wire);
  }
  if (fails) {
    // The service's signature comes first; no node tries it out before it lands.
    const wire = new Uint8Array(Buffer.from(transaction, 'base64'));
    wire.set(service.sign(parseTransaction(wire).messageBytes), 1);
    const params = [Buffer.from(wire).toString('base64'), { encoding: 'base64', skipPreflight: true }];
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'sendTransaction', params });
    expect(await (await fetch(URLS[0] ?? '', { method: 'POST', body })).json()).toHaveProperty('result');
  }
  endpoint.clock.advance(HOUR_MS);
  const payload = Buffer.from(JSON.stringify({ payload: { transaction } })).toString('base64');
  const { lastValidBlockHeight, slot: signedAtSlot } = blockhash;
  const signed = {
    record: {
      wallet: by.address,
      asset: DEVNET_USDC,
      network: cluster.network,
      amount: '0.001',
      state: 'sent',
      transaction: null,
      pay_to: service.address,
    },
    payment: { payload, lastValidBlockHeight, signedAtSlot, createdAtMs },
  } as unknown as SignedPayment;
  const door: Fetch = async ({ url, body }) => {
    const answer = await fetch(url, { method: 'POST', body: body ?? '' });
    return new HttpResponse(answer.status, await answer.text(), Object.fromEntries(answer.headers));
  };
  liar.tell = tell;
  try {
    return await hasNeverLanded(
      {
        clock: endpoint.clock,
        cluster: async () => cluster,
        store: async () => ({ signedPayment: async () => signed }) as unknown as ClientStore,
        rpc: async () => ({ url: URLS[0] ?? '', fetch: door }),
        profile: { commitment: 'confirmed', webSocketUrl: null },
      },
      'pay_1',
    );
  } finally {
    await cluster.close();
  }
}

const honest: Lie = (_call, ask) => ask();
/** The history of the wallet is lost, at some addresses or at all. */
const forgets =
  (isForgetful: (host: string | undefined) => boolean): Lie =>
  async (call, ask, host) => {
    const answer = await ask();
    if (call.method === 'getSignaturesForAddress' && isForgetful(host)) answer.result = [];
    return answer;
  };

test('a payment that did not land, and never will, is given up', async () => {
  expect(await ask('memo-a', honest)).toBe(true);
});

test('one that landed is not', async () => {
  expect(await ask('memo-b', honest, { lands: true })).toBe(false);
});

test('one that failed on chain moved nothing, and is given up', async () => {
  const poor = signerFromSeed(new Uint8Array(32).fill(65));
  await endpoint.cluster.airdropUsdc(poor.address, 1n);
  endpoint.clock.advance(800);
  expect(await ask('memo-failed', honest, { by: poor, fails: true })).toBe(true);
  expect(await ask('memo-went-well', honest, { fails: true })).toBe(false);
});

test('nor one that the preferred address has forgotten, or whose history no address has', async () => {
  const first = forgets((host) => host === 'first.test');
  const all = forgets(() => true);
  expect(await ask('memo-c', first, { lands: true })).toBe(false);
  expect(await ask('memo-d', all, { lands: true })).toBe(false);
  expect(await ask('memo-e', all)).toBe(false);
});

test('nor while its expiry can still be taken back', async () => {
  const early: Lie = async (call, ask) => {
    const answer = await ask();
    const [options] = call.params as { commitment?: string }[];
    if (call.method === 'getEpochInfo' && options?.commitment === 'finalized')
      Object.assign(answer.result as object, { blockHeight: 1 });
    return answer;
  };
  expect(await ask('memo-f', early)).toBe(false);
});

test('one of a wallet that got its first coins a moment before is given up, and is not where it landed', async () => {
  for (const [seed, lands] of [
    [63, false],
    [64, true],
  ] as const) {
    const young = signerFromSeed(new Uint8Array(32).fill(seed));
    await endpoint.cluster.airdropSol(young.address, 1_000_000_000n);
    await endpoint.cluster.airdropUsdc(young.address, 1_000_000n);
    endpoint.clock.advance(800);
    expect(await ask(`memo-${seed}`, honest, { by: young, lands })).toBe(!lands);
    // A node that has lost the coins' coming, too, proves nothing.
    expect(
      await ask(
        `lost-${seed}`,
        forgets(() => true),
        { by: young, lands },
      ),
    ).toBe(false);
  }
});
