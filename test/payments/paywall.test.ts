import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { prune } from '../../src/flights/upkeep/sweeper.ts';
import { problem } from '../../src/kernel/problems.ts';
import {
  type Challenge,
  challengeOf,
  decoded,
  encoded,
  newWallet,
  openShop,
  openWorld,
  pay,
  payHeader,
  request,
  type Shop,
  shiftedClock,
  type World,
} from './world.ts';

const clock = shiftedClock();
let world: World;
let shop: Shop;
let before: bigint;

beforeAll(async () => {
  world = await openWorld({ clock });
});
afterAll(() => world.close());
beforeEach(async () => {
  shop = openShop(world);
  before = await world.usdc(world.treasury);
});

const charged = async () => (await world.usdc(world.treasury)) - before;
const sendPaid = (payment: string, path = '/search', body: unknown = { a: 1 }) =>
  shop.fetch(request(path, body, payment));
const errorOf = async (response: Response) => ((await response.json()) as Challenge).error;

test('an unpaid call gets a challenge whose body equals its header', async () => {
  const response = await shop.fetch(request('/search', { a: 1 }));
  expect(response.status).toBe(402);
  const body = await response.json();
  expect(decoded(response.headers.get('PAYMENT-REQUIRED'))).toEqual(body);
  expect(body).toMatchObject({
    x402Version: 2,
    resource: { url: 'http://shop.test/search', mimeType: 'application/json' },
    accepts: [
      {
        scheme: 'exact',
        network: world.cluster.network,
        amount: '100000',
        payTo: world.treasury.address,
        // The unit that the amount counts in.
        extra: { feePayer: world.feePayer.address, name: 'USDC', decimals: 6 },
      },
    ],
  });
  expect(shop.performed).toEqual([]);
});

test('a paid call is answered, charged once, and says what was settled', async () => {
  const response = await sendPaid(await pay(world, shop, '/search', { a: 1 }));
  expect(response.status).toBe(200);
  expect(decoded(response.headers.get('PAYMENT-RESPONSE'))).toMatchObject({
    success: true,
    payer: world.wallet.address,
    network: world.cluster.network,
    amount: '100000',
  });
  expect(await charged()).toBe(100_000n);
});

test('what check refuses is refused paid or unpaid, and costs nothing', async () => {
  const payment = await pay(world, shop, '/search', { a: 1 });
  shop.check = async () => {
    throw problem('offer_expired');
  };
  await expect(shop.fetch(request('/search', { a: 1 }))).rejects.toMatchObject({ code: 'offer_expired' });
  await expect(sendPaid(payment)).rejects.toMatchObject({ code: 'offer_expired' });
  expect(await charged()).toBe(0n);
  // The payment was never used: it is still good once the reason is gone.
  shop.check = async () => undefined;
  expect((await sendPaid(payment)).status).toBe(200);
});

test.each([
  ['no base64', 'not base64!'],
  ['no JSON', Buffer.from('{').toString('base64')],
  ['another version', encoded({ x402Version: 1, scheme: 'exact', network: 'solana', payload: {} })],
  ['no transaction', encoded({ x402Version: 2, accepted: {}, payload: {} })],
  ['too long', 'A'.repeat(10_000)],
])('a payment that cannot be read (%s) is 400, before anything else', async (_name, header) => {
  let checked = false;
  shop.check = async () => {
    checked = true;
  };
  await expect(sendPaid(header)).rejects.toMatchObject({ code: 'invalid_payment_signature', status: 400 });
  expect(checked).toBe(false);
});

test('a transaction that is garbage is 400', async () => {
  const [accepted] = (await challengeOf(shop, '/search', { a: 1 })).accepts;
  for (const transaction of ['', '====', 'AAAA', Buffer.alloc(2000).toString('base64')]) {
    await expect(sendPaid(encoded({ x402Version: 2, accepted, payload: { transaction } }))).rejects.toMatchObject({
      code: 'invalid_payment_signature',
    });
  }
});

test('the same payment gets the same answer again, and is charged once', async () => {
  const payment = await pay(world, shop, '/search', { a: 1 });
  const first = await sendPaid(payment);
  const text = await first.text();
  shop.check = async () => {
    throw problem('intent_already_exists');
  };
  for (let i = 0; i < 3; i++) {
    const again = await sendPaid(payment);
    expect(again.status).toBe(200);
    expect(await again.text()).toBe(text);
    expect(again.headers.get('PAYMENT-RESPONSE')).toBe(first.headers.get('PAYMENT-RESPONSE'));
  }
  expect(shop.performed).toHaveLength(1);
  expect(await charged()).toBe(100_000n);
});

test('twenty copies at once are one call', async () => {
  const payment = await pay(world, shop, '/search', { a: 1 });
  const other = openShop(world);
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const response = await (i % 2 ? shop : other).fetch(request('/search', { a: 1 }, payment));
      return [response.status, await response.text()];
    }),
  );
  expect(new Set(answers.map(String)).size).toBe(1);
  expect(answers[0]?.[0]).toBe(200);
  expect(shop.performed.length + other.performed.length).toBe(1);
  expect(await charged()).toBe(100_000n);
});

test('a payment for one call pays no other: neither another path nor another body', async () => {
  const payment = await pay(world, shop, '/search', { a: 1 });
  for (const [path, body] of [
    ['/search', { a: 2 }],
    ['/book', { a: 1 }],
  ] as const) {
    const response = await sendPaid(payment, path, body);
    expect(response.status).toBe(402);
    expect(await errorOf(response)).toMatch(/another request/);
  }
  expect(await charged()).toBe(0n);
  expect((await sendPaid(payment)).status).toBe(200);
  // Also once it is paid: nobody is given the answer of another request.
  for (const [path, body] of [
    ['/search', { a: 2 }],
    ['/book', { a: 1 }],
  ] as const) {
    expect((await sendPaid(payment, path, body)).status).toBe(402);
  }
  expect(await charged()).toBe(100_000n);
  expect(shop.performed).toHaveLength(1);
});

test('who reads a payment off the chain cannot fetch its answer', async () => {
  const payment = await pay(world, shop, '/search', { a: 1 });
  expect((await sendPaid(payment)).status).toBe(200);
  // The chain shows the transaction, memo and all, but not the quote that the payer was given.
  const seen = decoded<{ accepted: { extra: { quote: string } } }>(payment);
  seen.accepted.extra.quote = 'quo_guessed';
  const response = await sendPaid(encoded(seen));
  expect(response.status).toBe(402);
  expect(await charged()).toBe(100_000n);
});

test('a challenge is paid once, also by two payers', async () => {
  const challenge = await challengeOf(shop, '/search', { a: 1 });
  const second = newWallet();
  await world.cluster.airdropUsdc(second.address, 1_000_000n);
  expect((await sendPaid(await payHeader(world.cluster, world.wallet, challenge))).status).toBe(200);
  const response = await sendPaid(await payHeader(world.cluster, second, challenge));
  expect(response.status).toBe(402);
  expect(await errorOf(response)).toMatch(/paid already/);
  expect(await charged()).toBe(100_000n);
});

test('an unexpired challenge is honoured when the price has moved since', async () => {
  const payment = await pay(world, shop, '/search', { a: 1 });
  shop.terms = { ...shop.terms, amount: 500_000n };
  expect((await sendPaid(payment)).status).toBe(200);
  expect(await charged()).toBe(100_000n);
});

test('a challenge for a payee that has changed since is out of date, and charges nothing', async () => {
  const payment = await pay(world, shop, '/search', { a: 1 });
  const other = newWallet();
  await world.cluster.airdropUsdc(other.address, 0n);
  shop.terms = { ...shop.terms, payTo: other.address };
  const response = await sendPaid(payment);
  expect(response.status).toBe(402);
  const fresh = (await response.json()) as Challenge;
  expect(fresh.error).toMatch(/out of date/);
  expect(fresh.accepts[0]?.payTo).toBe(other.address);
  expect(await charged()).toBe(0n);
  expect(shop.performed).toEqual([]);
});

test('a kept answer opens in the row of its own payment alone', async () => {
  const [mine, theirs] = [await pay(world, shop, '/search', { a: 1 }), await pay(world, shop, '/search', { b: 2 })];
  await sendPaid(mine);
  await sendPaid(theirs, '/search', { b: 2 });
  const [first, second] = await world.store
    .selectFrom('paid_answers')
    .select(['payment_key', 'body_sealed'])
    .where('payment_key', 'in', shop.performed)
    .execute();
  await world.store
    .updateTable('paid_answers')
    .set({ body_sealed: Buffer.from(second?.body_sealed ?? []) })
    .where('payment_key', '=', first?.payment_key ?? '')
    .execute();
  const [own, other] = shop.performed[0] === first?.payment_key ? [mine, { a: 1 }] : [theirs, { b: 2 }];
  await expect(sendPaid(own, '/search', other)).rejects.toThrow();
});

test('an expired challenge gets a fresh one, and charges nothing', async () => {
  const challenge = await challengeOf(shop, '/search', { a: 1 });
  clock.shift(121_000);
  const response = await sendPaid(await payHeader(world.cluster, world.wallet, challenge));
  expect(response.status).toBe(402);
  const fresh = (await response.json()) as Challenge;
  expect(fresh.error).toMatch(/expired/);
  expect(fresh.accepts[0]?.extra.quote).not.toBe(challenge.accepts[0]?.extra.quote);
  expect(await charged()).toBe(0n);
  expect((await sendPaid(await payHeader(world.cluster, world.wallet, fresh))).status).toBe(200);
});

test('a payment whose blockhash has expired is refused before any work', async () => {
  const payment = await pay(world, shop, '/search', { a: 1 });
  clock.shift(70_000);
  const response = await sendPaid(payment);
  expect(response.status).toBe(402);
  expect(await errorOf(response)).toMatch(/BlockhashNotFound/);
  expect(shop.performed).toEqual([]);
  expect(await charged()).toBe(0n);
});

test('a call that fails before settlement is not charged, and is refused the same way again', async () => {
  const payment = await pay(world, shop, '/search', { a: 1 });
  const works = shop.perform;
  shop.perform = async () => {
    throw problem('provider_failed');
  };
  await expect(sendPaid(payment)).rejects.toMatchObject({ code: 'provider_failed' });
  shop.perform = works;
  const again = await sendPaid(payment);
  expect(again.status).toBe(502);
  expect(await again.json()).toMatchObject({ code: 'provider_failed' });
  expect(again.headers.get('PAYMENT-RESPONSE')).toBeNull();
  expect(await charged()).toBe(0n);
  expect(shop.undone.length).toBeGreaterThan(0);
  expect((await sendPaid(await pay(world, shop, '/search', { a: 1 }))).status).toBe(200);
});

test('what an airline refuses for a moment, before settlement, is asked again by the same payment', async () => {
  const payment = await pay(world, shop, '/search', { a: 1 });
  const works = shop.perform;
  shop.perform = async () => {
    throw problem('upstream_rate_limited', { retryAfter: 2 });
  };
  for (let time = 0; time < 2; time++) {
    const later = await sendPaid(payment);
    expect([later.status, later.headers.get('Retry-After')]).toEqual([503, '2']);
    expect(await later.json()).toMatchObject({ code: 'upstream_rate_limited' });
    expect(await charged()).toBe(0n);
  }
  shop.perform = works;
  expect((await sendPaid(payment)).status).toBe(200);
  expect((await sendPaid(payment)).status).toBe(200);
  expect(await charged()).toBe(100_000n);
});

test('an unexpected failure before settlement is not charged either, and a new payment is asked for', async () => {
  const payment = await pay(world, shop, '/search', { a: 1 });
  const works = shop.perform;
  shop.perform = async () => {
    throw new TypeError('a fault of ours');
  };
  await expect(sendPaid(payment)).rejects.toThrow('a fault of ours');
  shop.perform = works;
  expect((await sendPaid(payment)).status).toBe(402);
  expect(await charged()).toBe(0n);
});

test('what fails after settlement stays paid: the same payment goes on, unpaid and unchecked', async () => {
  const payment = await pay(world, shop, '/book', { a: 1 });
  const works = shop.perform;
  shop.perform = async () => {
    throw problem('escrow_funding_mismatch', { detail: { expected: 1 } });
  };
  const failed = await sendPaid(payment, '/book');
  expect(failed.status).toBe(409);
  expect(await failed.json()).toMatchObject({ code: 'escrow_funding_mismatch', detail: { expected: 1 } });
  expect(decoded(failed.headers.get('PAYMENT-RESPONSE'))).toMatchObject({ success: true });
  expect(await charged()).toBe(100_000n);
  shop.perform = works;
  shop.check = async () => {
    throw problem('booking_already_requested');
  };
  const done = await sendPaid(payment, '/book');
  expect(done.status).toBe(200);
  expect(decoded(done.headers.get('PAYMENT-RESPONSE'))).toMatchObject({ success: true });
  expect(await charged()).toBe(100_000n);
  expect(shop.undone).toEqual([]);
});

test('what prepare refuses is refused before the money moves', async () => {
  const payment = await pay(world, shop, '/book', { a: 1 });
  shop.prepare = async () => {
    throw problem('booking_already_requested');
  };
  await expect(sendPaid(payment, '/book')).rejects.toMatchObject({ code: 'booking_already_requested' });
  expect(await charged()).toBe(0n);
  expect(shop.performed).toEqual([]);
});

test('a wallet without the money is refused before any work', async () => {
  const poor = newWallet();
  await world.cluster.airdropUsdc(poor.address, 99_999n);
  const payment = await payHeader(world.cluster, poor, await challengeOf(shop, '/search', { a: 1 }));
  const response = await sendPaid(payment);
  expect(response.status).toBe(402);
  expect(await errorOf(response)).toBe('payment_verification_failed: the payer does not hold enough');
  expect(shop.performed).toEqual([]);
  expect(await world.usdc(poor)).toBe(99_999n);
});

test('old challenges are forgotten, but for one whose payment is under way', async () => {
  const quotes = async () =>
    (await world.store.selectFrom('quotes').select('quote_id').execute()).map((row) => row.quote_id);
  await challengeOf(shop, '/search', { a: 1 });
  const [paid = ''] = (await quotes()).slice(-1);
  const like = await world.store.selectFrom('settlements').selectAll().limit(1).executeTakeFirstOrThrow();
  await world.store
    .insertInto('settlements')
    .values({ ...like, payment_key: 'under way', quote_id: paid, state: 'settling' })
    .execute();
  clock.shift(2 * 3_600_000);
  await prune({ store: world.store, clock });
  expect(await quotes()).toEqual([paid]);
});
