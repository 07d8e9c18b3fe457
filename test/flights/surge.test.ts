import { afterEach, beforeEach, expect, test } from 'vitest';
import { turnSwitch } from '../../src/flights/index.ts';
import { problem } from '../../src/kernel/problems.ts';
import { openWorld, PASSENGER, TRIP, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await openWorld({ airline: 'scripted' });
});
afterEach(() => world.close());

const price = async (call = world.call) => {
  const { status, body } = await call<{ accepts: { amount: string }[] }>('/air/search', TRIP);
  expect(status).toBe(402);
  return Number(body.accepts[0]?.amount);
};

let searches = 0;
const completed = (count: number, atMs = world.clock.now()) =>
  world.store
    .insertInto('search_completions')
    .values(Array.from({ length: count }, () => ({ id: `s${++searches}`, at_ms: atMs })))
    .execute();

const slowDown = (retryAfter: number) => () => {
  throw problem('upstream_rate_limited', { retryAfter });
};

test('each ten searches of a minute make the price one step dearer, up to 50 steps and 5.00', async () => {
  const steps: [number, number][] = [
    [10, 100_000],
    [1, 200_000],
    [9, 200_000],
    [1, 300_000],
    [469, 4_900_000],
    [1, 5_000_000],
    [500, 5_000_000],
  ];
  for (const [more, expected] of steps) {
    await completed(more);
    expect([searches, await price()]).toEqual([searches, expected]);
  }
});

test('a search counts for a minute and no longer, and is then forgotten', async () => {
  await completed(11, world.clock.now() - 57_000);
  expect(await price()).toBe(200_000);
  world.clock.advance(3_100);
  expect(await price()).toBe(100_000);
  await world.search();
  const kept = await world.store.selectFrom('search_completions').selectAll().execute();
  expect(kept).toHaveLength(1);
});

test('load from a clock that was set back is not load', async () => {
  await completed(100, world.clock.now() + 3_600_000);
  await world.store
    .insertInto('meta')
    .values({ key: 'provider_rate_limited_at_ms', value: String(world.clock.now() + 3_600_000) })
    .execute();
  expect(await price()).toBe(100_000);
});

/** Signs the challenge, and pays while the airline asks us to slow down. */
async function paidMeanwhile(path: string, body: object, script: World['airline']['script']['before']) {
  const payment = await world.sign(await world.call(path, body));
  world.airline.script.before = script;
  const answer = await world.call(path, body, { headers: { 'PAYMENT-SIGNATURE': payment } });
  world.airline.script.before = {};
  return answer;
}

test('a rate limit met by any paid call is 503 with Retry-After, free, and makes searches five times dearer', async () => {
  const treasury = await world.usdc(world.treasury.address);
  const calls: [string, object][] = [
    ['/air/offer-details', { offer_id: 'off_1' }],
    ['/air/intents', { funding_wallet: world.wallet.address, offer_id: 'off_other' }],
    ['/air/search', TRIP],
  ];
  for (const [path, body] of calls) {
    world.clock.advance(5 * 60_000 + 1);
    expect(await price()).toBe(100_000);
    const answer = await paidMeanwhile(path, body, { offer: slowDown(7), search: slowDown(7) });
    expect([path, answer.status, answer.body.code]).toEqual([path, 503, 'upstream_rate_limited']);
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(await price()).toBe(500_000);
    // Another process on the same database asks the same price.
    expect(await price(world.service().call)).toBe(500_000);
  }
  expect(await world.usdc(world.treasury.address)).toBe(treasury);
});

test('a rate limit at the last check before a booking is free, and noted', async () => {
  const intent = await world.intent('off_limited');
  const booking = { intent_id: intent.intent_id, passengers: [PASSENGER] };
  const answer = await paidMeanwhile('/air/book', booking, { offer: slowDown(9) });
  expect([answer.status, answer.body.code]).toEqual([503, 'upstream_rate_limited']);
  expect(answer.headers.get('retry-after')).toBe('9');
  expect((await world.sums(intent)).vault).toBe(0n);
  expect(await price()).toBe(500_000);
});

test('a rate limit and load multiply, and the cap holds', async () => {
  world.airline.script.before = { offer: slowDown(1) };
  await world.paid('/air/offer-details', { offer_id: 'off_1' });
  await completed(90);
  expect(await price()).toBe(4_500_000);
  await completed(10);
  expect(await price()).toBe(5_000_000);
  await completed(100);
  expect(await price()).toBe(5_000_000);
});

test('a rate limit counts for five minutes', async () => {
  world.airline.script.before = { offer: slowDown(1) };
  await world.paid('/air/offer-details', { offer_id: 'off_1' });
  world.clock.advance(5 * 60_000 - 3_000);
  expect(await price()).toBe(500_000);
  world.clock.advance(3_001);
  expect(await price()).toBe(100_000);
});

test('the constants of the surge can be set', async () => {
  const own = await openWorld({
    airline: 'scripted',
    options: { searchesPerStep: 1, searchWindowMs: 5_000, mostMultiplier: 3, searchPrice: 20_000n },
  });
  for (const expected of [20_000, 20_000, 40_000, 60_000, 60_000]) {
    expect(await price(own.call)).toBe(expected);
    await own.search();
  }
  own.clock.advance(5_000);
  expect(await price(own.call)).toBe(20_000);
  await own.close();
});

test('a search costs no more than its highest price, whatever the other constants are', async () => {
  const own = await openWorld({ airline: 'scripted', options: { searchesPerStep: 1, searchPrice: 3_000_000n } });
  for (const expected of [3_000_000, 3_000_000, 5_000_000]) {
    expect(await price(own.call)).toBe(expected);
    await own.search();
  }
  await own.close();
});

test('the booking switch refuses intents and bookings free of charge, in every process, and lets go on what is under way', async () => {
  const other = world.service();
  const booked = await world.intent('off_under_way');
  await world.book(booked);
  const waiting = await world.intent('off_waiting');
  await turnSwitch(world.store, 'booking', 'off');
  const before = await world.sums();
  for (const call of [world.call, other.call]) {
    const refusals: [string, object][] = [
      ['/air/intents', { funding_wallet: world.wallet.address, offer_id: 'off_new' }],
      ['/air/book', { intent_id: waiting.intent_id, passengers: [PASSENGER] }],
    ];
    for (const [path, body] of refusals) {
      const answer = await world.paid(path, body, { call });
      expect([path, answer.status, answer.body.code]).toEqual([path, 503, 'booking_disabled']);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  }
  expect(await world.sums()).toEqual(before);
  expect((await world.call(`/air/intents/${waiting.intent_id}`)).status).toBe(200);
  expect((await world.paid('/air/search', TRIP)).status).toBe(200);
  await world.work(120_000);
  expect((await world.show(booked)).status).toBe('booked');
  await turnSwitch(world.store, 'booking', 'on');
  expect((await world.book(waiting)).status).toBe('active');
});
