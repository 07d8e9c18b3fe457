import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOperatorKeys } from '../../src/flights/desk/keys.ts';
import { randomIds } from '../../src/kernel/ids.ts';
import { parseUsdc } from '../../src/kernel/money.ts';
import type { Offer, Order, Passenger, RefundCase } from '../../src/wire/flights/index.ts';
import { intent as intentSchema, searchResponse } from '../../src/wire/flights/schema.ts';
import { openWorld, PASSENGER, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ lowcostMs: 10 });
});
afterAll(() => world.close());

const CHILD: Passenger = { ...PASSENGER, given_name: 'Leo', born_on: '2018-05-01', title: 'mr', gender: 'm' };
const INFANT: Passenger = { ...PASSENGER, given_name: 'Mia', born_on: '2025-10-01', title: 'miss' };
const FAMILY = [PASSENGER, CHILD, INFANT];

/** The cheapest fare in dollars whose seller tells all of it. */
const cheapest = (offers: readonly Offer[]): Offer => {
  const found = offers.find((offer) => offer.total_currency === 'USD' && offer.tax_amount_decimal !== null);
  if (!found) throw new Error('nothing is sold in dollars');
  return found;
};
const sumOf = (amounts: readonly (string | null | undefined)[]) =>
  amounts.reduce((sum, amount) => sum + parseUsdc(amount ?? ''), 0n);

test('a child pays 75 % of the fare and an infant 10 % and no taxes, to the unit; the total is for all', async () => {
  const alone = (await world.search()).offers;
  const answer = await world.search({ child_ages: [8, 1] });
  expect(searchResponse.parse(answer)).toEqual(answer);
  const offer = cheapest(answer.offers);
  const adult = alone.find(
    (one) =>
      one.comparison_key === offer.comparison_key &&
      one.owner_name === offer.owner_name &&
      one.fare_brand_name === offer.fare_brand_name,
  );
  const [base, tax] = [parseUsdc(adult?.base_amount_decimal ?? ''), parseUsdc(adult?.tax_amount_decimal ?? '')];
  const cents = (share: bigint) => ((base * share + 500_000n) / 1_000_000n) * 10_000n;
  const each = [base + tax, cents(75n) + tax, cents(10n)];
  expect(offer.passengers?.map(({ type, age }) => [type, age])).toEqual([
    ['adult', null],
    ['child', 8],
    ['infant', 1],
  ]);
  expect(offer.passengers?.map((one) => parseUsdc(one.total_amount_decimal ?? ''))).toEqual(each);
  expect(sumOf(offer.passengers?.map((one) => one.total_amount_decimal) ?? [])).toBe(BigInt(offer.total_amount));
  expect(parseUsdc(offer.tax_amount_decimal ?? '')).toBe(2n * tax);
  // An infant has no seat, and burns nothing by this count.
  if (adult?.total_emissions_kg) expect(offer.total_emissions_kg).toBeLessThanOrEqual(2 * adult.total_emissions_kg + 1);
});

test('each of three is ticketed, and the passengers are those that were searched, before anything is charged', async () => {
  const offer = cheapest((await world.search({ child_ages: [8, 1] })).offers);
  const made = await world.intent(offer.offer_id);
  expect(made).toMatchObject({ passenger_count: 3, passenger_ages: { on: '2026-12-20', ages: [null, 8, 1] } });
  const { customer_support_code: _code, ...record } = made;
  expect(intentSchema.parse(record)).toEqual(record);
  const before = await world.usdc(world.wallet.address);
  const refusal = async (passengers: readonly Passenger[]) => {
    const { status, body } = await world.call<{ code: string; detail: { issues: { path: string }[] } }>('/air/book', {
      intent_id: made.intent_id,
      passengers,
    });
    return [status, body.code, body.detail?.issues.map(({ path }) => path).join()];
  };
  const mismatch = 'passenger_age_mismatch';
  // Twelve on the very day of the flight, and two on it.
  const twelve = { ...CHILD, born_on: '2014-12-20' };
  const two = { ...INFANT, born_on: '2024-12-20' };
  expect(await refusal([PASSENGER, twelve, INFANT])).toEqual([400, mismatch, 'passengers.1.born_on']);
  expect(await refusal([PASSENGER, CHILD, two])).toEqual([400, mismatch, 'passengers.2.born_on']);
  expect(await refusal([CHILD, PASSENGER, INFANT])).toEqual([400, mismatch, 'passengers.0']);
  // Thirteen flies as an adult, but nobody of age would be there.
  const youth = { ...PASSENGER, born_on: '2013-05-01' };
  expect(await refusal([youth, CHILD, INFANT])).toEqual([400, mismatch, 'passengers']);
  expect(await refusal([PASSENGER, CHILD])).toEqual([400, 'passenger_count_mismatch', 'passengers']);
  expect(await world.usdc(world.wallet.address)).toBe(before);
  await world.book(made, FAMILY);
  expect(before - (await world.usdc(world.wallet.address))).toBe(BigInt(offer.total_amount));
  await world.work();
  const { order_id } = await world.show(made);
  const order = await world.paid<Order>(`/air/orders/${order_id}`, undefined, {
    method: 'GET',
    headers: { 'X-Customer-Support-Code': made.customer_support_code },
  });
  expect(order.body).toMatchObject({ status: 'ticketed', passenger_count: 3 });
  expect(new Set(order.body.documents.map(({ number }) => number)).size).toBe(3);
});

test('what one of three paid is shown to an operator, and paid back to the unit', async () => {
  const keys = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
  const { key } = await keys.issue({ keyId: 'key_0', name: 'first' }, 'ana', 'req_1');
  const ask = <T>(path: string, body?: object) =>
    world.call<T>(`/operator/refund-requests/${path}`, body, { headers: { Authorization: `Bearer ${key}` } });
  await world.cluster.airdropUsdc(world.treasury.address, 10_000_000_000n);
  const offer = cheapest((await world.search({ child_ages: [8, 1] })).offers.reverse());
  const made = await world.intent(offer.offer_id);
  await world.book(made, FAMILY);
  await world.work();
  const asked = await world.paid(
    '/air/refund-requests',
    { intent_id: made.intent_id, reason: 'Leo is ill.' },
    { headers: { 'X-Customer-Support-Code': made.customer_support_code, 'X-Passenger-Family-Name': 'Lovelace' } },
  );
  expect(asked.status).toBe(202);
  const { body } = await ask<RefundCase>(made.intent_id);
  expect(body.fare.passengers).toEqual(offer.passengers);
  const share = parseUsdc(body.fare.passengers?.[1]?.total_amount_decimal ?? '');
  const before = await world.usdc(world.refundWallet.address);
  const decision = { payout_amount: Number(share), note: 'the child alone' };
  expect((await ask<RefundCase>(`${made.intent_id}/approve`, decision)).status).toBe(200);
  await world.work();
  expect((await world.usdc(world.refundWallet.address)) - before).toBe(share);
});

test('the age that counts is the one when the last direction departs', async () => {
  const offer = cheapest((await world.search({ return_date: '2026-12-27', child_ages: [11] })).offers);
  const made = await world.intent(offer.offer_id);
  expect(made.passenger_ages).toEqual({ on: '2026-12-27', ages: [null, 11] });
  const child = { ...CHILD, born_on: '2014-12-24' };
  const { body } = await world.call('/air/book', { intent_id: made.intent_id, passengers: [PASSENGER, child] });
  expect(body).toMatchObject({
    code: 'passenger_age_mismatch',
    detail: { issues: [{ message: expect.stringContaining('12 on 2026-12-27') }] },
  });
});

test.each([
  [{ child_ages: [1, 0] }, 'child_ages'],
  [{ adults: 8, child_ages: [8, 8] }, 'child_ages'],
  [{ child_ages: [18] }, 'child_ages.0'],
])('%j is refused, free of charge', async (asked, path) => {
  const trip = { origin_iata: 'LIS', destination_iata: 'BER', depart_date: '2026-12-20' };
  const { status, body } = await world.call('/air/search', { ...trip, ...asked });
  expect([status, body]).toEqual([
    400,
    expect.objectContaining({ detail: { issues: [expect.objectContaining({ path })] } }),
  ]);
});

const SLICES = [
  { origin: 'LIS', destination: 'BER', departure_date: '2026-12-20' },
  { origin: 'BER', destination: 'FCO', departure_date: '2026-12-24' },
  { origin: 'FCO', destination: 'VIE', departure_date: '2026-12-27' },
  { origin: 'VIE', destination: 'LIS', departure_date: '2026-12-30' },
];
const searched = async (body: object) => {
  const answer = await world.paid<{ offers: Offer[]; sellers_left_out?: object[] }>('/air/search', body);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

test.each([2, 3, 4])('%i directions are searched, locked and ticketed as one journey', async (count) => {
  const slices = SLICES.slice(0, count);
  const { offers, sellers_left_out } = await searched({ slices, child_ages: [8] });
  const offer = cheapest(offers);
  expect(offer.slices.map((one) => [one.origin_iata, one.destination_iata, one.departing_at.slice(0, 10)])).toEqual(
    slices.map((one) => [one.origin, one.destination, one.departure_date]),
  );
  expect(offer.comparison_key.split('~')).toHaveLength(count);
  expect(sellers_left_out).toEqual([{ sellers: 'lowcost', because: 'child_ages' }]);
  const made = await world.intent(offer.offer_id);
  expect(made.passenger_ages?.on).toBe(slices.at(-1)?.departure_date);
  await world.book(made, [PASSENGER, CHILD]);
  await world.work();
  expect(await world.show(made)).toMatchObject({ status: 'booked', escrow: { amount: offer.total_amount } });
});

test('sellers of adults alone, there and back, are left out with the reason, and others are not', async () => {
  const there = SLICES.slice(0, 1);
  expect((await searched({ slices: SLICES.slice(0, 2) })).sellers_left_out).toEqual([
    { sellers: 'lowcost', because: 'slices' },
  ]);
  const back = { origin: 'BER', destination: 'LIS', departure_date: '2026-12-24' };
  const trip = await searched({ slices: [...there, back] });
  expect(trip).toMatchObject({ status: 'enriching' });
  expect(trip.sellers_left_out).toBeUndefined();
  // No low-cost carrier flies that far.
  const far = { origin: 'LIS', destination: 'SYD', departure_date: '2026-12-24' };
  expect((await searched({ slices: [far], child_ages: [8] })).sellers_left_out).toBeUndefined();
});

test.each([
  [{ slices: SLICES, origin_iata: 'LIS' }, 'origin_iata'],
  [{ slices: [...SLICES].reverse() }, 'slices.1.departure_date'],
  [{ slices: [{ ...SLICES[0], origin: 'QQQ' }, SLICES[1]] }, 'slices.0.origin'],
  [{ slices: [SLICES[0], { ...SLICES[1], destination: 'BER' }] }, 'slices.1.destination'],
  [{ slices: [...SLICES, SLICES[3]] }, 'slices'],
  [{ origin_iata: 'LIS' }, 'destination_iata'],
])('%# of wrong directions is refused at the field that is wrong', async (body, path) => {
  const answer = await world.call<{ detail: { issues: { path: string }[] } }>('/air/search', body);
  expect([answer.status, answer.body.detail.issues[0]?.path]).toEqual([400, path]);
});
