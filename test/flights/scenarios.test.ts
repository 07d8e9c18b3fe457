import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CreatedIntent } from '../../src/wire/flights/index.ts';
import { openWorld, PASSENGER, type World } from './world.ts';

/** Each misbehaviour of the sandbox airline, end to end: how the journey ends, and where the money is then. */

const FEE = 100_000n;

let world: World;
beforeAll(async () => {
  world = await openWorld({ ticketingMs: 2000 });
});
afterAll(() => world.close());

async function locked(origin: string, destination: string): Promise<CreatedIntent> {
  const found = await world.search({ origin_iata: origin, destination_iata: destination, limit: 20 });
  const offer = found.offers.find((one) => one.total_currency === 'USD' && !one.identity_documents_required);
  if (!offer) throw new Error('nothing to lock');
  return world.intent(offer.offer_id);
}

async function journey(origin: string, destination: string) {
  const made = await locked(origin, destination);
  const before = await world.sums();
  const supply = await world.supply();
  const answer = await world.paid('/air/book', { intent_id: made.intent_id, passengers: [PASSENGER] });
  await world.work();
  const shown = await world.show(made);
  const after = await world.sums(made);
  expect(after.total).toBe(before.total);
  expect(await world.supply()).toBe(supply);
  const moved = {
    wallet: after.wallet - before.wallet,
    treasury: after.treasury - before.treasury,
    refund: after.refund - before.refund,
    vault: after.vault,
  };
  return { answer, shown, moved, amount: BigInt(made.escrow.amount) };
}

const nothing = { wallet: 0n, treasury: 0n, refund: 0n, vault: 0n };

test.each([
  ['no scenario', 'LIS', 'BER'],
  ['ticketing_slow', 'LGW', 'STN'],
  ['outcome_unknown', 'STN', 'LHR'],
])('%s: booked and captured', async (_name, origin, destination) => {
  const { answer, shown, moved, amount } = await journey(origin, destination);
  expect(answer.status).toBe(200);
  expect(shown).toMatchObject({ status: 'booked', order_id: expect.any(String), refund_reason: null });
  expect(moved).toEqual({ ...nothing, wallet: -amount, treasury: amount });
});

test.each([
  ['ticketing_fails', 'LGW', 'LHR', 'ticketing_failed'],
  ['sold_out', 'LTN', 'LHR', 'offer_unavailable'],
])('%s: refunded to the wallet frozen at creation', async (_name, origin, destination, reason) => {
  const { answer, shown, moved, amount } = await journey(origin, destination);
  expect(answer.status).toBe(200);
  expect(shown).toMatchObject({ status: 'refunded', refund_reason: reason, order_id: null });
  expect(moved).toEqual({ ...nothing, wallet: -amount, refund: amount });
});

test.each([
  ['repriced', 'LHR', 'LGW', 'offer_repriced'],
  ['offer_expired', 'LHR', 'STN', 'offer_expired'],
])('%s: refused before anything is charged', async (_name, origin, destination, code) => {
  const { answer, shown, moved } = await journey(origin, destination);
  expect([answer.status, answer.body.code]).toEqual([409, code]);
  expect(shown.status).toBe('active');
  expect(moved).toEqual(nothing);
});

test('rate_limited: the search is free, and searches are dearer for five minutes', async () => {
  const before = await world.sums();
  const refused = await world.paid('/air/search', {
    origin_iata: 'STN',
    destination_iata: 'LGW',
    depart_date: '2026-12-20',
  });
  expect([refused.status, refused.body.code]).toEqual([503, 'upstream_rate_limited']);
  expect(await world.sums()).toEqual(before);
  const price = async () => {
    const asked = await world.call('/air/search', {
      origin_iata: 'LIS',
      destination_iata: 'BER',
      depart_date: '2026-12-20',
    });
    return Number((asked.body.accepts as { amount: string }[])[0]?.amount);
  };
  world.clock.advance(61_000);
  expect(await price()).toBe(5 * Number(FEE));
  world.clock.advance(5 * 60_000);
  expect(await price()).toBe(Number(FEE));
});
