import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDuffelProvider, type DuffelOptions } from '../../../src/airlines/duffel/index.ts';
import type { Provider } from '../../../src/airlines/provider.ts';
import { OrderRefused } from '../../../src/airlines/provider.ts';
import { HttpResponse } from '../../../src/kernel/http.ts';
import { isProblem } from '../../../src/kernel/problems.ts';
import {
  ORDER_BEHAVIOURS,
  type OrderBehaviour,
  type OrderBehaviourName,
} from '../../../src/sandbox/duffel/behaviours.ts';
import { openStore, type Store } from '../../../src/service/home.ts';
import type { Offer, Passenger } from '../../../src/wire/flights/index.ts';
import { offer as offerSchema } from '../../../src/wire/flights/offers.ts';
import { manualClock } from '../../clock.ts';
import { proofTest } from '../../proof-only.ts';
import { type ServedDuffel, serveDuffel } from '../../sandbox/duffel/served.ts';
import { migratedFile } from '../../service/migrated.ts';
import { queryOf } from '../queries.ts';
import { TRAVELLER } from './samples.ts';

/** Against the sandbox of the API, which was made from the same documentation by somebody else. */

const home = mkdtempSync(join(tmpdir(), 'farelock-duffel-'));
const clock = manualClock();
const WEBHOOK = { url: 'http://127.0.0.1:9/hook', secret: 'secret-of-the-webhook' };
let duffel: ServedDuffel;
let store: Store;
let options: DuffelOptions;
let provider: Provider;
let heard: string[] = [];
beforeAll(async () => {
  store = await openStore(await migratedFile(home));
  duffel = await serveDuffel({
    seed: 'farelock',
    clock,
    webhook: WEBHOOK,
    // The webhook goes straight to the provider.
    async deliver({ body, headers }) {
      const references = await provider.receive?.({ body: Buffer.from(body), headers });
      heard.push(...(references ?? []));
      return new HttpResponse(204, null);
    },
  });
  options = {
    url: duffel.url,
    token: 'duffel_test_of_the_tests',
    store,
    clock,
    log: () => undefined,
    webhookSecret: WEBHOOK.secret,
    timeoutMs: 30_000,
  };
});
beforeEach(async () => {
  // Limits are kept in the process, and a minute is over.
  clock.advance(61_000);
  provider = createDuffelProvider(options);
  heard = [];
  await duffel.admin('/behaviours', { order: 'normal', order_read: 'normal', cancellation: 'normal' });
});
afterAll(async () => {
  await duffel.close();
  await store.destroy();
  rmSync(home, { recursive: true });
});

const search = (origin: string, destination: string, adults = 1) =>
  provider.search(queryOf({ origin, destination, departDate: '2026-12-20', adults }));

proofTest('airports that we have no table of are searched all the same', async () => {
  const [offer] = await search('BTS', 'MRU');
  expect(provider.airport('BTS')).toBeNull();
  expect(offer).toMatchObject({ origin_iata: 'BTS', origin_time_zone: 'Europe/Bratislava' });
  // On the way back the ends change places.
  const back = { origin: 'BTS', destination: 'QQQ', departDate: '2026-12-20', returnDate: '2026-12-27' };
  await expect(provider.search(queryOf(back))).rejects.toMatchObject({
    code: 'airport_unknown',
    detail: { issues: [{ path: 'destination_iata' }] },
  });
});

/** The cheapest offer in dollars of an airline that can do everything, on a route with few of them. */
async function cheapest(origin = 'KEF', destination = 'MLA'): Promise<Offer> {
  const offers = await search(origin, destination);
  const found = offers.find((offer) => offer.total_currency === 'USD' && offer.owner_name === 'Duffel Airways');
  if (!found) throw new Error('nothing is sold in dollars');
  return found;
}

let references = 0;
/** Somebody else each time: the same traveller on the same flights is a duplicate. */
const traveller = () => ({
  ...TRAVELLER,
  given_name: [...String(references)].map((digit) => 'abcdefghij'.charAt(Number(digit))).join(''),
});
const order = (offer: Offer, reference = `int_${++references}`, expected = offer.total_amount_decimal) => ({
  reference,
  offerId: offer.offer_id,
  expectedAmountDecimal: expected,
  passengers: [traveller()],
});

/** As a worker takes it: a question that is not answered leaves everything open. */
const standing = async (reference: string) =>
  provider.findOrder(reference, 'off_1').catch((error: unknown) => {
    if (isProblem(error, 'provider_failed', 'upstream_rate_limited')) return 'unknown' as const;
    throw error;
  });

/** What was really ordered under a reference, seen by the API or not. */
async function truth(reference: string): Promise<{ orders: { order_id: string }[]; tries: number }> {
  const { orders, attempts } = (await duffel.admin('/orders')) as {
    orders: { order_id: string; reference: string }[];
    attempts: { reference: string }[];
  };
  const isOf = (one: { reference: string }) => one.reference === reference;
  return { orders: orders.filter(isOf), tries: attempts.filter(isOf).length };
}

test('every offer of its world can be shown, and none is lost', async () => {
  const lines: string[] = [];
  provider = createDuffelProvider({
    ...options,
    log: (_, event, fields) => void lines.push(`${event} ${JSON.stringify(fields)}`),
  });
  const offers = await search('LIS', 'JFK', 2);
  expect(offers.length).toBeGreaterThan(20);
  for (const offer of offers) offerSchema.parse(offer);
  expect(lines).toEqual([]);
  expect(new Set(offers.map(({ owner_name: owner }) => owner)).size).toBeGreaterThan(3);
  for (const offer of offers.slice(0, 5)) {
    const live = await provider.offer(offer.offer_id);
    expect(live.passengerCount).toBe(2);
    expect(live.offer.total_amount_decimal).toBe(offer.total_amount_decimal);
  }
});

test('its test routes', async () => {
  expect(await search('PVD', 'RAI').catch((error: unknown) => error)).toEqual([]);
  await expect(search('STN', 'LHR')).rejects.toMatchObject({ code: 'provider_failed' });
  const [gone] = await search('LGW', 'LHR');
  await expect(provider.offer(gone?.offer_id ?? '')).rejects.toMatchObject({ code: 'offer_unavailable' });
  const dearer = await cheapest('LHR', 'STN');
  await expect(provider.createOrder(order(dearer))).rejects.toMatchObject({ code: 'offer_repriced' });
  await expect(provider.createOrder(order(await cheapest('LGW', 'STN')))).rejects.toMatchObject({
    reason: 'provider_balance_low',
  });
  expect((await search('JFK', 'EWR')).some((offer) => !offer.requires_instant_payment)).toBe(true);
  expect((await search('LHR', 'DXB')).every((offer) => offer.stops > 0)).toBe(true);
  expect((await search('DXB', 'AMS')).every((offer) => offer.technical_stops > 0)).toBe(true);
  expect((await search('BTS', 'MRU')).every((offer) => !offer.checked_bags_included)).toBe(true);
});

describe('whatever becomes of an order', () => {
  const behaviours: [string, OrderBehaviour][] = Object.entries(ORDER_BEHAVIOURS);
  const names = behaviours.flatMap(([name, { slow }]) => (slow ? [] : [name as OrderBehaviourName]));
  /** Refusals in the API's own form that are not true: what it lists wins. */
  const lies = ['refused_made', 'unavailable_made'];
  test.each(names)('%s: at most one, and what is said of it is true', async (behaviour) => {
    const offer = await cheapest();
    const asked = order(offer);
    await duffel.admin('/behaviours', { order: [behaviour] });
    const outcome = await provider.createOrder(asked).catch((error: unknown) => error);
    const isNone = outcome instanceof OrderRefused || isProblem(outcome, 'offer_unavailable', 'offer_repriced');
    expect(isNone || isProblem(outcome, 'provider_failed') || 'providerOrderId' in (outcome as object)).toBe(true);
    const isLie = lies.includes(behaviour);
    if (isNone) expect((await truth(asked.reference)).orders).toHaveLength(isLie ? 1 : 0);
    const soon = await standing(asked.reference);
    expect(soon === null).toBe(isNone && !isLie);
    // Nothing is sent again while nobody knows.
    if (soon === 'unknown')
      await expect(provider.createOrder(asked)).rejects.toMatchObject({ code: 'provider_failed' });
    expect((await truth(asked.reference)).tries).toBe(1);
    clock.advance(61_000);
    await duffel.runDue();
    const late = await standing(asked.reference);
    const { orders, tries } = await truth(asked.reference);
    expect(tries).toBe(1);
    expect(orders.length).toBeLessThanOrEqual(1);
    const { made } = ORDER_BEHAVIOURS[behaviour];
    if (late === null) expect(orders).toEqual([]);
    if (made === 'at_once' || made === 'later') expect(late).toMatchObject({ providerOrderId: orders[0]?.order_id });
    if (behaviour === 'accepted_failed') {
      expect(heard).toContain(asked.reference);
      expect(late).toBeNull();
    }
    if (behaviour === 'airline_unknown_stray') expect(late).toBe('unknown');
  });
});

test('a ticket that comes later, and an airline that issues none', async () => {
  await duffel.admin('/behaviours', { order: ['ticket_later', 'ticketless'] });
  const slow = await provider.createOrder(order(await cheapest()));
  const never = await provider.createOrder(order(await cheapest()));
  expect([slow.status, never.status]).not.toContain('pending');
  clock.advance(3_000);
  expect((await provider.order(slow.providerOrderId)).status).toBe('ticketed');
  clock.advance(30 * 60_000);
  expect(await provider.order(never.providerOrderId)).toMatchObject({ status: 'ticketed', documents: [] });
});

proofTest('the same traveller on the same flights: their word is not enough', async () => {
  const sold = async () =>
    (await search('LIS', 'BER')).filter(
      (offer) => offer.total_currency === 'USD' && offer.owner_name !== 'Duffel Airways',
    );
  const [offer] = await sold();
  if (!offer) throw new Error('nothing is sold');
  const first = order(offer);
  await provider.createOrder(first);
  const again = (await sold()).find((one) => one.comparison_key === offer.comparison_key);
  if (!again) throw new Error('sold out');
  const twice = { ...order(again), passengers: first.passengers };
  await expect(provider.createOrder(twice)).rejects.toMatchObject({
    code: 'provider_failed',
    detail: { airline_code: 'duplicate_booking' },
  });
  expect((await truth(twice.reference)).orders).toEqual([]);
});

test('a second order on the same search is refused, by us and by them', async () => {
  const [one, two] = (await search('LIS', 'BER')).filter(({ total_currency: of }) => of === 'USD');
  if (!one || !two) throw new Error('too few offers');
  await provider.createOrder(order(one));
  await expect(provider.createOrder(order(two))).rejects.toMatchObject({ code: 'offer_unavailable' });
  // Another process knows it by the record; without that, Duffel refuses, and nobody may call it certain.
  const other = createDuffelProvider(options);
  await expect(other.createOrder(order(two))).rejects.toMatchObject({ code: 'offer_unavailable' });
  await store.updateTable('duffel_attempts').set({ search_key: 'forgotten', live_key: null }).execute();
  const asked = order(two);
  await expect(other.createOrder(asked)).rejects.toMatchObject({ code: 'provider_failed' });
  expect((await truth(asked.reference)).orders).toEqual([]);
  expect(await other.findOrder(asked.reference, 'off_1')).toBe('unknown');
});

describe('a cancellation', () => {
  test('quoted, confirmed, and read', async () => {
    const made = await provider.createOrder(order(await cheapest()));
    const quote = await provider.cancellationQuote?.(made.providerOrderId);
    expect(quote).toMatchObject({ quoteId: expect.any(String), refundTo: expect.any(String) });
    expect((await provider.order(made.providerOrderId)).status).toBe('ticketed');
    const newer = await provider.cancellationQuote?.(made.providerOrderId);
    await expect(provider.cancel(made.providerOrderId, quote?.quoteId)).rejects.toMatchObject({ code: 'plan_changed' });
    expect((await provider.cancel(made.providerOrderId, newer?.quoteId)).status).toBe('cancelled');
    expect((await provider.cancel(made.providerOrderId, newer?.quoteId)).status).toBe('cancelled');
    expect(await provider.cancellationQuote?.(made.providerOrderId)).toBeNull();
  });

  test.each([
    ['confirm_cut_before', false],
    ['confirm_cut_after', true],
    ['confirm_timeout_done', true],
    ['confirm_airline_unknown', false],
  ])('%s: the order tells', async (behaviour, isDone) => {
    const made = await provider.createOrder(order(await cheapest()));
    await duffel.admin('/behaviours', { cancellation: behaviour });
    const outcome = await provider.cancel(made.providerOrderId).catch((error: unknown) => error);
    if (isDone) expect(outcome).toMatchObject({ status: 'cancelled' });
    else expect(outcome).toMatchObject({ code: 'provider_failed' });
    await duffel.admin('/behaviours', { cancellation: 'normal' });
    expect((await provider.cancel(made.providerOrderId)).status).toBe('cancelled');
  });

  test.each([
    ['amount_unknown', { refundAmountDecimal: null }],
    ['voucher', { refundTo: 'voucher' }],
    ['other_currency', { refundCurrency: expect.not.stringMatching('USD') }],
  ])('%s', async (behaviour, expected) => {
    const made = await provider.createOrder(order(await cheapest()));
    await duffel.admin('/behaviours', { cancellation: behaviour });
    expect(await provider.cancellationQuote?.(made.providerOrderId)).toMatchObject(expected);
  });
});

test('a change by the airline names the order to look at, and its slices show it', async () => {
  const made = await provider.createOrder(order(await cheapest()));
  await duffel.admin(`/orders/${made.providerOrderId}/schedule_change`, { minutes: 90 });
  await duffel.runDue();
  expect(heard).toContain(made.reference);
  const moved = await provider.order(made.providerOrderId);
  expect(moved.slices[0]?.departing_at).not.toBe(made.slices[0]?.departing_at);
});

test('an offer that its airline would hold unpaid says until when', async () => {
  const [held] = await search('JFK', 'EWR');
  expect(held).toMatchObject({ requires_instant_payment: false, payment_required_by: expect.stringMatching(/T.*Z$/) });
  const paid = (await search('LIS', 'BER')).find((offer) => offer.requires_instant_payment);
  expect(paid?.payment_required_by).toBeUndefined();
});

test('children and an infant are ordered by their ages, whatever their order, on up to four flights', async () => {
  const places = ['LIS', 'BER', 'FCO', 'VIE', 'LIS'];
  const slices = places
    .slice(1)
    .map((destination, at) => ({ origin: places[at] ?? '', destination, departDate: `2026-12-${20 + 2 * at}` }));
  const offers = await provider.search({ slices, adults: 2, childAges: [8, 1], cabinClass: 'economy' });
  const [offer] = offers.filter((one) => one.total_currency === 'USD' && one.owner_name === 'Duffel Airways');
  if (!offer) throw new Error('nothing is sold in dollars');
  for (const one of offers) offerSchema.parse(one);
  expect(offer.slices.map(({ destination_iata }) => destination_iata)).toEqual(places.slice(1));
  // Duffel prices all of them together, and an infant on a lap has no bags of its own.
  expect(offer.passengers).toEqual(
    [null, null, 8, 1].map((age) => ({
      type: age === null ? 'adult' : age === 1 ? 'infant' : 'child',
      age,
      total_amount_decimal: null,
    })),
  );
  expect(offer.checked_bags_included).toBe(1);
  const child = { ...traveller(), given_name: 'Leo', born_on: '2018-12-25' };
  const infant = { ...traveller(), given_name: 'Mia', born_on: '2025-06-01' };
  const other = { ...traveller(), given_name: 'Bob' };
  const wanted = order(offer);
  const first = traveller();
  const issues = (list: readonly Passenger[]) =>
    provider.passengerIssues?.(list, offer).map(({ path, code }) => [path, code]);
  expect(issues([first, infant, other, child])).toEqual([]);
  // Seven on the first flight is eight on the last; nine is not.
  const nine = { ...child, born_on: '2017-12-01' };
  expect(issues([first, infant, other, nine])).toEqual([['passengers.3.born_on', 'passenger_age_mismatch']]);
  await expect(provider.createOrder({ ...wanted, passengers: [first, infant, other, nine] })).rejects.toMatchObject({
    reason: 'form_rejected',
  });
  const made = await provider.createOrder({ ...wanted, passengers: [first, infant, other, child] });
  expect(made).toMatchObject({ status: 'ticketed', totalAmountDecimal: offer.total_amount_decimal });
  expect(made.documents).toHaveLength(4);
  const twoLaps = await provider.search({
    slices: slices.slice(0, 1),
    adults: 2,
    childAges: [0, 1],
    cabinClass: 'economy',
  });
  const [pair] = twoLaps.filter((one) => one.total_currency === 'USD' && one.owner_name === 'Duffel Airways');
  if (!pair) throw new Error('nothing is sold in dollars');
  const baby = { ...infant, given_name: 'Kai', born_on: '2026-06-01' };
  const toddler = { ...infant, born_on: '2025-06-01' };
  await provider.createOrder({ ...order(pair), passengers: [first, other, toddler, baby] });
});
