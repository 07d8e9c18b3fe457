import { afterEach, beforeEach, expect, test } from 'vitest';
import { OrderRefused } from '../../../src/airlines/provider.ts';
import { problem } from '../../../src/kernel/problems.ts';
import type { Health } from '../../../src/wire/flights/index.ts';
import { proofTest } from '../../proof-only.ts';
import { openWorld, PASSENGER, type World } from '../world.ts';

/** What tickets are paid from at the airline: too little for what is open refuses what is new, and pages once. */

let world: World;
let offers = 0;
const nextOffer = () => `off_${++offers}`;
const holds = (amountDecimal: string, currency = 'USD') => {
  world.airline.script.balance = { amountDecimal, currency };
  world.clock.advance(61_000);
};
const asked = () => world.call('/air/intents', { offer_id: nextOffer(), funding_wallet: world.wallet.address });
const pages = async () =>
  (
    await world.store
      .selectFrom('outbox')
      .select('dedup_key')
      .where('dedup_key', 'like', 'page:operator_funds_low:airline:%')
      .execute()
  ).length;
beforeEach(async () => {
  world = await openWorld({ airline: 'quoting' });
  await world.cluster.airdropUsdc(world.wallet.address, 0n);
});
afterEach(() => world.close());

test('a ticket counts with those that are paid for and not ordered; a lock that nobody paid for takes nothing', async () => {
  const [first, second] = [await world.intent(nextOffer()), await world.intent(nextOffer())];
  holds('151.20');
  expect((await asked()).status).toBe(402);
  await world.book(first);
  const before = await world.usdc(world.wallet.address);
  const body = { intent_id: second.intent_id, passengers: [PASSENGER] };
  for (const refused of [await asked(), await world.paid('/air/book', body)]) {
    expect([refused.status, refused.body.code]).toEqual([503, 'operator_funds_low']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect(await world.usdc(world.wallet.address)).toBe(before);
  // Ordered, and so paid: what is left is free for the next one.
  await world.work();
  expect((await world.show(first)).status).toBe('booked');
  expect((await world.paid('/air/book', body)).status).toBe(200);
});

test('what only asks pages nobody: an offer that nobody pays for is no shortage', async () => {
  holds('151.19');
  expect((await asked()).status).toBe(503);
  expect(await pages()).toBe(0);
});

test('a ticket that the balance can not pay for waits alone: cheaper ones are locked and booked', async () => {
  const dear = await world.intent(nextOffer());
  await world.book(dear);
  world.airline.script.before.createOrder = () => {
    throw new OrderRefused('provider_balance_low', false);
  };
  holds('150.00');
  world.airline.script.price = '99.00';
  const cheap = await world.intent(nextOffer());
  expect(await pages()).toBe(1);
  expect((await world.call<Health>('/ready')).status).toBe(200);
  await world.book(cheap);
  // Together they would be more than there is.
  expect((await asked()).body.code).toBe('operator_funds_low');
});

test('what is open and not covered pages an operator once, is said by /ready, and again only after a refill', async () => {
  await world.intent(nextOffer());
  for (const expected of [1, 2]) {
    holds('9.00');
    for (let round = 0; round < 3; round++) {
      world.clock.advance(61_000);
      await Promise.all([world.worker.runDue(), world.service().worker.runDue(), asked()]);
    }
    expect(await pages()).toBe(expected);
    const ready = await world.call<Health>('/ready');
    expect(ready.status).toBe(503);
    expect(ready.body.airline_balance).toEqual({
      provider: 'scripted',
      holds: '9.00',
      // The cheapest ticket that is sold: no other can be had either.
      needs: '10.00',
      currency: 'USD',
    });
    holds('5000.00');
    await world.worker.runDue();
    expect((await world.call<Health>('/ready')).status).toBe(200);
  }
});

test('a balance that can not be read, or is in another currency, keeps nobody from a booking', async () => {
  world.airline.script.before.balance = () => {
    throw problem('provider_failed');
  };
  world.clock.advance(61_000);
  expect((await asked()).status).toBe(402);
  world.airline.script.before = {};
  holds('1.00', 'EUR');
  expect((await asked()).status).toBe(402);
});

proofTest('where the airline does not tell it, an order that it did not cover is what is known of it', async () => {
  const silent = await openWorld({ airline: 'scripted' });
  try {
    expect(silent.airline.provider.balance).toBeUndefined();
    const isLow = { now: false };
    silent.airline.script.before.createOrder = () => {
      if (isLow.now) throw new OrderRefused('provider_balance_low', false);
    };
    silent.airline.script.lifeMs = 48 * 3_600_000;
    const ask = () => silent.call('/air/intents', { offer_id: nextOffer(), funding_wallet: silent.wallet.address });
    const told = async () =>
      (await silent.store.selectFrom('outbox').select('payload_sealed').where('dedup_key', 'like', 'page:%').execute())
        .length;
    expect((await ask()).status).toBe(402);
    for (const round of [1, 2]) {
      const made = await silent.intent(`off_${round}`);
      isLow.now = true;
      await silent.book(made);
      await silent.work(20 * 60_000);
      const refused = await ask();
      expect([refused.status, refused.body.code]).toEqual([503, 'operator_funds_low']);
      // Only what is not cheaper than the order which was refused.
      silent.airline.script.price = '151.19';
      expect((await ask()).status).toBe(402);
      silent.airline.script.price = '151.20';
      expect(await told()).toBe(round);
      expect((await silent.call<Health>('/ready')).status).toBe(200);
      isLow.now = false;
      await silent.work(20 * 60_000);
      expect((await silent.show(made)).status).toBe('booked');
      expect((await silent.call<Health>('/ready')).status).toBe(200);
      expect((await ask()).status).toBe(402);
    }
  } finally {
    await silent.close();
  }
});

test('it is asked for once a minute, however many ask for intents', async () => {
  let reads = 0;
  world.airline.script.before.balance = () => {
    reads++;
  };
  world.clock.advance(61_000);
  for (let time = 0; time < 5; time++) await asked();
  expect(reads).toBe(1);
});
