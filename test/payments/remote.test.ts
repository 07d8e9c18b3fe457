import type { AddressInfo } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  type Challenge,
  challengeOf,
  credentialOf,
  newWallet,
  openShop,
  openWorld,
  pay,
  payHeader,
  request,
  type World,
} from './world.ts';

/** A facilitator service in a few lines: it takes our wire form, adds its signature and sends. */
let world: World;
let server: ServerType;
let url: string;
let settle: (transaction: string) => Promise<object>;
let asked: string[];

beforeAll(async () => {
  world = await openWorld();
  server = serve({
    port: 0,
    async fetch(incoming) {
      const { pathname } = new URL(incoming.url);
      asked.push(pathname);
      const network = world.cluster.network;
      if (pathname === '/supported') {
        const extra = { feePayer: world.feePayer.address };
        return Response.json({
          kinds: [{ x402Version: 2, scheme: 'exact', network, extra }],
          extensions: [],
          signers: {},
        });
      }
      const { paymentPayload } = (await incoming.json()) as { paymentPayload: { payload: { transaction: string } } };
      if (pathname === '/verify') return Response.json({ isValid: true, payer: world.wallet.address });
      return Response.json({ network, ...(await settle(paymentPayload.payload.transaction)) });
    },
  });
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await world.close();
});
beforeEach(() => {
  asked = [];
  settle = async (transaction) => ({ success: true, transaction: await send(transaction) });
});

async function send(transaction: string): Promise<string> {
  const wire = Buffer.from(transaction, 'base64');
  // Two signatures of 64 bytes after their number; the fee payer's is the first.
  wire.set(world.feePayer.sign(new Uint8Array(wire.subarray(129))), 1);
  return world.cluster.send(new Uint8Array(wire));
}

const openRemoteShop = () => openShop(world, { facilitatorUrl: url, feePayer: newWallet(), patienceMs: 0 });

test('a remote facilitator knows payments of x402 alone: MPP is not offered, and its credential is no payment', async () => {
  const shop = openRemoteShop();
  const ours = openShop(world);
  const credential = credentialOf(await ours.fetch(request('/search', {})), 'AAAA');
  for (const headers of [{}, { Authorization: credential }]) {
    const sent = request('/search', {});
    for (const [name, value] of Object.entries(headers)) sent.headers.set(name, value);
    const answer = await shop.fetch(sent);
    expect(answer.status).toBe(402);
    expect(answer.headers.has('www-authenticate')).toBe(false);
    expect(((await answer.json()) as Challenge).error).toMatch(/^payment_required/);
  }
});

test('a remote facilitator verifies and settles, under its own fee payer', async () => {
  const shop = openRemoteShop();
  const before = await world.usdc(world.treasury);
  const payment = await pay(world, shop, '/search', {});
  const response = await shop.fetch(request('/search', {}, payment));
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(await (await shop.fetch(request('/search', {}, payment))).text()).toBe(text);
  expect(asked.filter((path) => path === '/settle')).toHaveLength(1);
  expect(await world.usdc(world.treasury)).toBe(before + 100_000n);
});

test('our own checks come before the word of a remote facilitator', async () => {
  const shop = openRemoteShop();
  const challenge = await challengeOf(shop, '/search', {});
  const payment = await payHeader(world.cluster, world.wallet, challenge, { payTo: world.wallet.address });
  const response = await shop.fetch(request('/search', {}, payment));
  expect(response.status).toBe(402);
  expect(((await response.json()) as Challenge).error).toMatch(/another account/);
  expect(asked).not.toContain('/verify');
});

test('a lost answer of a remote facilitator leaves the payment pending until it tells', async () => {
  const shop = openRemoteShop();
  const payment = await pay(world, shop, '/search', { lost: 1 });
  const landed: Record<string, string> = {};
  settle = async (transaction) => {
    landed[transaction] ??= await send(transaction);
    return Object.keys(landed).length === 1 && asked.filter((path) => path === '/settle').length === 1
      ? { success: false, errorReason: 'settlement_pending', transaction: '' }
      : { success: true, transaction: landed[transaction] };
  };
  const ask = () => shop.fetch(request('/search', { lost: 1 }, payment));
  await expect(ask()).rejects.toMatchObject({ code: 'payment_pending' });
  expect((await ask()).status).toBe(200);
  expect(shop.performed).toHaveLength(1);
});

test('settlement_pending with a transaction: the chain is asked by that signature, and believed for our bytes alone', async () => {
  let histories = 0;
  const cluster = {
    ...world.cluster,
    signaturesWithMemo: async (...asking: Parameters<typeof world.cluster.signaturesWithMemo>) => {
      histories++;
      return world.cluster.signaturesWithMemo(...asking);
    },
  };
  const shop = openShop(world, { cluster, facilitatorUrl: url, feePayer: newWallet(), patienceMs: 0 });
  const pending = (transaction: string) => ({ success: false, errorReason: 'settlement_pending', transaction });
  const payment = await pay(world, shop, '/search', { pending: 1 });
  let landed = '';
  settle = async (transaction) => {
    landed = await send(transaction);
    return pending(landed);
  };
  expect((await shop.fetch(request('/search', { pending: 1 }, payment))).status).toBe(200);
  expect(histories).toBe(0);
  expect(shop.performed).toHaveLength(1);

  // Another payment's transaction, one that nobody knows, and no signature at all.
  for (const named of [landed, '1'.repeat(64), 'none']) {
    settle = async () => pending(named);
    const unpaid = await pay(world, shop, '/book', { named });
    await expect(shop.fetch(request('/book', { named }, unpaid))).rejects.toMatchObject({
      code: 'payment_pending',
      status: 503,
      retryAfter: 2,
    });
  }
  expect(shop.performed).toHaveLength(1);
});

test('a refusal before sending is final, one afterwards is not', async () => {
  const shop = openRemoteShop();
  const payment = await pay(world, shop, '/search', { refused: 1 });
  settle = async () => ({ success: false, errorReason: 'invalid_exact_svm_payload_amount_mismatch', transaction: '' });
  const response = await shop.fetch(request('/search', { refused: 1 }, payment));
  expect(((await response.json()) as Challenge).error).toMatch(/^payment_settlement_failed: /);
  expect(shop.undone).toHaveLength(1);

  const unsure = await pay(world, shop, '/search', { unsure: 1 });
  settle = async () => ({ success: false, errorReason: 'invalid_exact_svm_transaction_failed', transaction: '' });
  await expect(shop.fetch(request('/search', { unsure: 1 }, unsure))).rejects.toMatchObject({
    code: 'payment_pending',
  });
  expect(shop.undone).toHaveLength(1);
});

test('a facilitator that is not there makes the call unavailable, and nothing is promised', async () => {
  const shop = openShop(world, { facilitatorUrl: 'http://127.0.0.1:9' });
  await expect(shop.fetch(request('/search', {}))).rejects.toMatchObject({ code: 'payment_pending' });
});
