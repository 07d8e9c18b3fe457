import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { charge } from '@solana/mpp/client';
import { Connection, Keypair, PublicKey } from '@solana/web3.js';
import { execa } from 'execa';
import { Credential, Receipt } from 'mppx';
import { Mppx } from 'mppx/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { CreatedIntent, Intent, Order, SearchResponse } from '../../../src/wire/flights/index.ts';
import { worldClock } from '../../clock.ts';
import { farelockIn, PASSENGER, type Runner, type Served, serveIn } from '../../e2e/farelock.ts';

/**
 * The whole journey paid by the stock client of MPP, against `farelock serve`. Some answers are lost on their way. The
 * client refuses challenges that its own clock calls expired, so its Date is the one of the world.
 */

const ROOT = resolve(import.meta.dirname, '../../..');
const USDC = new PublicKey('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU');
const depart = new Date(worldClock.now() + 30 * 86_400_000).toISOString().slice(0, 10);

const closing: (() => unknown)[] = [];
let home: Runner;
let served: Served;
let chain: Connection;
let me: Keypair;
let mppx: { fetch: typeof fetch };
/** Credentials that the client has sent, and how many of its answers to lose. */
const sent: string[] = [];
let losing = 0;

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: worldClock.now() });
  closing.push(() => vi.useRealTimers());
  home = farelockIn();
  closing.push(home.close);
  served = await serveIn(home);
  closing.push(() => served.stop());
  chain = new Connection(served.rpcUrl, 'confirmed');
  me = Keypair.generate();
  const rpc = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const params = [me.publicKey.toBase58(), 3_000_000_000];
  await fetch(served.rpcUrl, {
    ...rpc,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'farelock_airdropUsdc', params }),
  });
  mppx = Mppx.create({
    methods: [charge({ signer: await createKeyPairSignerFromBytes(me.secretKey) })],
    polyfill: false,
    fetch: between as typeof fetch,
  });
}, 120_000);
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** Carries paid calls out, and may answer with a gateway's own error. */
async function between(input: string, init?: RequestInit): Promise<Response> {
  const credential = new Headers(init?.headers).get('authorization');
  const answer = await fetch(input, init);
  if (credential === null) return answer;
  sent.push(credential);
  if (losing-- <= 0) return answer;
  await answer.text();
  return new Response('<html>upstream</html>', { status: 503, headers: { 'retry-after': '2' } });
}

const holds = async (): Promise<number> => {
  const { value } = await chain.getParsedTokenAccountsByOwner(me.publicKey, { mint: USDC });
  return value.reduce((sum, one) => sum + Number(one.account.data.parsed.info.tokenAmount.amount), 0);
};

/** A call paid by the stock client; after a lost answer, with the very same credential. */
async function paid<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  // A new object each time: the client writes into the one that it is given.
  const call = (extra: Record<string, string> = {}): RequestInit => ({
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers, ...extra },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const url = served.flightsUrl + path;
  const again = () => fetch(url, call({ Authorization: sent.at(-1) ?? '' }));
  let answer = await mppx.fetch(url, call());
  for (let times = 0; answer.status === 503 && times < 5; times++) answer = await again();
  return {
    status: answer.status,
    receipt: answer.ok ? Receipt.fromResponse(answer) : null,
    body: (await answer.json()) as T,
    again,
  };
}

test('search, intent, book, poll, order: every call paid by the stock client of MPP, every unit accounted for', {
  timeout: 120_000,
}, async () => {
  const supply = (await chain.getTokenSupply(USDC)).value.amount;
  const before = await holds();
  const search = await paid<SearchResponse>('POST', '/air/search', {
    origin_iata: 'LIS',
    destination_iata: 'BER',
    depart_date: depart,
  });
  expect(search.status).toBe(200);
  expect(search.receipt).toMatchObject({ method: 'solana', status: 'success' });
  expect(Credential.deserialize(sent[0] ?? '').challenge.request.externalId).toBe(search.receipt?.externalId);

  const offer = search.body.offers.find((one) => one.total_currency === 'USD');
  losing = 2;
  const created = await paid<CreatedIntent>('POST', '/air/intents', {
    funding_wallet: me.publicKey.toBase58(),
    offer_id: offer?.offer_id,
  });
  expect(created.status).toBe(201);
  const intent = created.body;

  losing = 1;
  const booked = await paid('POST', '/air/book', { intent_id: intent.intent_id, passengers: [PASSENGER] });
  expect(booked.status).toBe(200);
  const replay = await booked.again();
  expect(replay.status).toBe(200);
  expect(Receipt.fromResponse(replay)).toEqual(booked.receipt);
  expect(await replay.json()).toEqual(booked.body);

  const polled = async (): Promise<Intent> => {
    for (let i = 0; i < 100; i++) {
      const now = (await (await fetch(`${served.flightsUrl}/air/intents/${intent.intent_id}`)).json()) as Intent;
      if (now.status !== 'active') return now;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('the intent stayed active');
  };
  const done = await polled();
  expect(done.status).toBe('booked');

  const order = await paid<Order>('GET', `/air/orders/${done.order_id}`, undefined, {
    'X-Customer-Support-Code': intent.customer_support_code,
  });
  expect(order.body.booking_reference).toMatch(/^[A-Z0-9]{6}$/);

  // One signature for each call, however often its answer was lost.
  expect(new Set(sent).size).toBe(4);
  expect(before - (await holds())).toBe(100_000 + 100_000 + intent.escrow.amount + 10_000);
  expect(await chain.getAccountInfo(new PublicKey(intent.escrow.vault_address))).toBeNull();
  expect((await chain.getTokenSupply(USDC)).value.amount).toBe(supply);
  for (const { reference } of [search.receipt, created.receipt, booked.receipt, order.receipt].flatMap(
    (one) => one ?? [],
  )) {
    const landed = await chain.getTransaction(reference, { maxSupportedTransactionVersion: 0 });
    expect(landed?.meta?.err).toBeNull();
  }
});

test('killed once it had settled: after the restart the same credential is answered, and charged once', {
  timeout: 120_000,
}, async () => {
  const before = await holds();
  const body = JSON.stringify({ origin_iata: 'LIS', destination_iata: 'MAD', depart_date: depart });
  const call = (extra: Record<string, string> = {}): RequestInit => ({
    ...{ method: 'POST', body },
    headers: { 'content-type': 'application/json', ...extra },
  });
  losing = 1;
  expect((await mppx.fetch(`${served.flightsUrl}/air/search`, call())).status).toBe(503);
  served.kill();
  await served.ended;
  served = await serveIn(home);
  chain = new Connection(served.rpcUrl, 'confirmed');
  const answer = await fetch(`${served.flightsUrl}/air/search`, call({ Authorization: sent.at(-1) ?? '' }));
  expect(answer.status).toBe(200);
  expect(Receipt.fromResponse(answer).status).toBe('success');
  expect(before - (await holds())).toBe(100_000);
});

test('the lines of docs/paying.md pay a search by MPP', async () => {
  const lines = /^## MPP\n[\s\S]*?^```js\n([\s\S]*?)^```/m.exec(
    readFileSync(join(ROOT, 'docs/paying.md'), 'utf8'),
  )?.[1];
  const before = await holds();
  writeFileSync(join(home.home, 'me.json'), JSON.stringify([...me.secretKey]));
  const ran = await execa(process.execPath, ['--input-type=module'], {
    cwd: import.meta.dirname,
    input: lines ?? '',
    env: {
      ...home.env,
      ...{ KEYPAIR: join(home.home, 'me.json'), DEPART: depart },
      ...{ FLIGHTS_URL: served.flightsUrl, RPC_URL: served.rpcUrl },
    },
  });
  expect(ran.stdout).toMatch(/^200 ey/);
  expect(before - (await holds())).toBe(100_000);
});
