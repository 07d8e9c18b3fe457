import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { forgetting, type Lie, openLyingCluster, said, sentSignature, told, troubled } from '../solana/lying-rpc.ts';
import {
  type Challenge,
  challengeOf,
  openShop,
  openWorld,
  pay,
  request,
  type Shop,
  shiftedClock,
  type World,
} from './world.ts';

/** What becomes of a payment is asked over JSON-RPC, of a node that lies. */

const clock = shiftedClock();
let world: World;
let liar: Awaited<ReturnType<typeof openLyingCluster>>;
let before: bigint;
beforeAll(async () => {
  world = await openWorld({ clock });
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.cluster.airdropUsdc(world.wallet.address, 100_000n);
  before = await world.usdc(world.treasury);
  clock.shift(60_000);
  liar = await openLyingCluster(world, clock.shift);
});

const charged = async () => (await world.usdc(world.treasury)) - before;
const openLied = (lie: Lie): Shop => {
  liar.tell = lie;
  return openShop(world, { cluster: liar.cluster, patienceMs: 0 });
};
const pending = { code: 'payment_pending', status: 503, retryAfter: expect.any(Number) };

/** The node takes the bytes and tells of a block that is dropped: `status` is what it says while its fork lives. */
const onDroppedFork =
  (isDropped: () => boolean, err: unknown, confirmationStatus = 'processed'): Lie =>
  async (call, honest) => {
    if (isDropped()) return honest();
    if (call.method === 'sendTransaction') return said(call, sentSignature(call));
    const answer = await honest();
    if (call.method === 'getSignatureStatuses') {
      const { slot } = told(answer).context;
      const status = { slot, confirmations: 0, err, confirmationStatus };
      told(answer).value = [{ ...status, status: err === null ? { Ok: null } : { Err: err } }];
    }
    return answer;
  };

test.each(['/search', '/book'])(
  'a payment for %s on a fork that is dropped is not served as paid, and fails once it can land no more',
  async (path) => {
    let dropped = false;
    const shop = openLied(onDroppedFork(() => dropped, null));
    const payment = await pay(world, shop, path, { fork: 1 });
    await expect(shop.fetch(request(path, { fork: 1 }, payment))).rejects.toMatchObject(pending);
    expect(shop.undone).toEqual([]);
    expect(await charged()).toBe(0n);
    dropped = true;
    clock.shift(10 * 60_000);
    expect((await shop.fetch(request(path, { fork: 1 }, payment))).status).toBe(402);
    expect(await charged()).toBe(0n);
  },
);

const FAILED = { InstructionError: [2, { Custom: 1 }] };

test('bytes that failed on a fork that is dropped can still land: the payment is not given up', async () => {
  let dropped = false;
  const lie = onDroppedFork(() => dropped, FAILED);
  let polls = 0;
  const shop = openLied((call, honest) => {
    if (call.method === 'getSignatureStatuses') polls++;
    dropped = polls > 3;
    return lie(call, honest);
  });
  const payment = await pay(world, shop, '/book', { fork: 2 });
  expect((await shop.fetch(request('/book', { fork: 2 }, payment))).status).toBe(200);
  expect(await charged()).toBe(100_000n);
});

test('a failure in a block that is confirmed, and not final, ends nothing', async () => {
  let dropped = false;
  const shop = openLied(onDroppedFork(() => dropped, FAILED, 'confirmed'));
  const payment = await pay(world, shop, '/book', { fork: 3 });
  await expect(shop.fetch(request('/book', { fork: 3 }, payment))).rejects.toMatchObject(pending);
  expect(shop.undone).toEqual([]);
  dropped = true;
  expect((await shop.fetch(request('/book', { fork: 3 }, payment))).status).toBe(200);
  expect(await charged()).toBe(100_000n);
});

test.each([false, true])(
  'a payment that the node forgets for 110 s is not taken for unpaid (histories forgotten too: %s)',
  async (alsoHistory) => {
    let gone: string | null = null;
    const shop = openLied((_call, honest) => honest());
    const amnesia = forgetting(() => gone, alsoHistory);
    liar.tell = async (call, honest) => {
      if (call.method !== 'sendTransaction' || gone !== null) return amnesia(call, honest);
      gone = sentSignature(call);
      await honest();
      return new Response('<html>bad gateway</html>');
    };
    const body = { forgotten: alsoHistory };
    const payment = await pay(world, openShop(world), '/book', body);
    const ask = () => shop.fetch(request('/book', body, payment));
    const startedMs = clock.now();
    await expect(ask()).rejects.toMatchObject(pending);
    while (clock.now() - startedMs < 110_000) {
      clock.shift(7_000);
      await expect(ask()).rejects.toMatchObject(pending);
      await shop.paywall.recover();
    }
    expect(shop.undone).toEqual([]);
    gone = null;
    expect((await ask()).status).toBe(200);
    expect(await charged()).toBe(100_000n);
  },
);

test('a refusal after an answer that was lost is not final: another node may have the bytes', async () => {
  const shop = openLied((_call, honest) => honest());
  let taken: (() => Promise<unknown>) | null = null;
  liar.tell = async (call, honest) => {
    if (call.method !== 'sendTransaction') return honest();
    if (!taken) {
      // The first node forwards them, slowly, and its answer is lost; the second one sees too little money.
      taken = honest;
      return new Response('{"jsonrpc":"2.0","id":');
    }
    const err = { InstructionError: [2, { Custom: 1 }] };
    return { ...troubled(call, -32002), error: { code: -32002, message: 'failed', data: { err, logs: [] } } };
  };
  const payment = await pay(world, openShop(world), '/book', { two: 1 });
  await expect(shop.fetch(request('/book', { two: 1 }, payment))).rejects.toMatchObject(pending);
  expect(shop.undone).toEqual([]);
});

test('a refusal of the only node that was asked is final at once', async () => {
  const shop = openLied((call, honest) => {
    if (call.method !== 'sendTransaction') return honest();
    const err = { InstructionError: [2, { Custom: 1 }] };
    return { ...troubled(call, -32002), error: { code: -32002, message: 'failed', data: { err, logs: [] } } };
  });
  const payment = await pay(world, openShop(world), '/book', { one: 1 });
  const answer = await shop.fetch(request('/book', { one: 1 }, payment));
  expect(answer.status).toBe(402);
  expect(((await answer.json()) as Challenge).error).toMatch(/^payment_settlement_failed: /);
  expect(liar.asked.filter((method) => method === 'sendTransaction')).toHaveLength(1);
});

test('a payment that never arrived fails once the history of the fee payer proves it, and not before', async () => {
  const shop = openLied((call, honest) =>
    call.method === 'sendTransaction' ? new Response('', { status: 503 }) : honest(),
  );
  const payment = await pay(world, openShop(world), '/book', { never: 1 });
  const ask = () => shop.fetch(request('/book', { never: 1 }, payment));
  await expect(ask()).rejects.toMatchObject(pending);
  clock.shift(10 * 60_000);
  // A node that keeps too little proves nothing.
  const { tell } = liar;
  liar.tell = async (call, honest) => {
    const answer = await tell(call, honest);
    if (call.method === 'getSignaturesForAddress' && !(answer instanceof Response)) answer.result = [];
    return answer;
  };
  await expect(ask()).rejects.toMatchObject(pending);
  expect(shop.undone).toEqual([]);
  liar.tell = tell;
  expect((await ask()).status).toBe(402);
  expect(shop.undone).toHaveLength(1);
  expect(await charged()).toBe(0n);
});

test.each([-32005, -32016, -32004, -32014, -32603, -32429])(
  'a node in trouble (%i) makes a payment pending, not invalid',
  async (code) => {
    const shop = openLied((call, honest) => (call.method === 'simulateTransaction' ? troubled(call, code) : honest()));
    const body = { trouble: code };
    const payment = await pay(world, openShop(world), '/book', body);
    await expect(shop.fetch(request('/book', body, payment))).rejects.toMatchObject(pending);
    liar.tell = (_call, honest) => honest();
    expect((await shop.fetch(request('/book', body, payment))).status).toBe(200);
    expect(await charged()).toBe(100_000n);
  },
);

test('a node that does not know a valid blockhash yet makes a payment pending, not invalid', async () => {
  const shop = openLied(async (call, honest) => {
    const answer = await honest();
    if (call.method === 'simulateTransaction') told<{ err: unknown }>(answer).value.err = 'BlockhashNotFound';
    return answer;
  });
  const payment = await pay(world, openShop(world), '/book', { young: 1 });
  await expect(shop.fetch(request('/book', { young: 1 }, payment))).rejects.toMatchObject(pending);
  liar.tell = (_call, honest) => honest();
  expect((await shop.fetch(request('/book', { young: 1 }, payment))).status).toBe(200);
});

test('a call whose own look at the cluster fails is pending when it was paid for, and the same payment goes on', async () => {
  const shop = openLied((_call, honest) => honest());
  const challenge = await challengeOf(shop, '/book', { check: 1 });
  expect(challenge.accepts).toHaveLength(1);
  const payment = await pay(world, openShop(world), '/book', { check: 1 });
  shop.check = async () => void (await liar.cluster.blockHeight());
  shop.prepare = async () => void (await liar.cluster.blockHeight());
  let away = true;
  liar.tell = (_call, honest) => (away ? Response.error() : honest());
  await expect(shop.fetch(request('/book', { check: 1 }, payment))).rejects.toMatchObject(pending);
  shop.check = async () => undefined;
  liar.tell = (call, honest) => (away && call.method === 'getEpochInfo' ? new Response('', { status: 429 }) : honest());
  await expect(shop.fetch(request('/book', { check: 1 }, payment))).rejects.toMatchObject(pending);
  away = false;
  expect((await shop.fetch(request('/book', { check: 1 }, payment))).status).toBe(200);
  expect(await charged()).toBe(100_000n);
});
