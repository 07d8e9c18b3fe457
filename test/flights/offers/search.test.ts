import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultOptions } from '../../../src/flights/base/ports.ts';
import { searchMultiplier } from '../../../src/flights/offers/pricing.ts';
import { problem } from '../../../src/kernel/problems.ts';
import type { Offer, OfferDetailsResponse, SearchResponse } from '../../../src/wire/flights/index.ts';
import { offerDetailsResponse, searchResponse } from '../../../src/wire/flights/schema.ts';
import { openWorld, TRIP, type World } from '../world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const priceNow = async () => {
  const asked = await world.call('/air/search', TRIP);
  return (asked.body.accepts as { amount: string }[])[0]?.amount;
};
/** Leaves the minute that is counted. */
const calmDown = () => world.clock.advance(61_000);
const fares = (offers: readonly Offer[]) =>
  offers.flatMap((offer) => offer.fare_options ?? []).map((fare) => fare.offer_id);

test('a search is answered in the documented form, cheapest first, for 0.10', async () => {
  const before = await world.usdc(world.wallet.address);
  const answer = await world.paid<SearchResponse>('/air/search', TRIP);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('payment-response')).not.toBeNull();
  expect(searchResponse.parse(answer.body)).toEqual(answer.body);
  expect(answer.body).toMatchObject({ status: 'complete', total_offers: answer.body.offers.length });
  const prices = answer.body.offers
    .filter((offer) => offer.total_currency === 'USD')
    .map((offer) => offer.total_amount);
  expect(prices.length).toBeGreaterThan(5);
  expect(prices).toEqual([...prices].sort((a, b) => a - b));
  expect(before - (await world.usdc(world.wallet.address))).toBe(100_000n);
});

test('filters come before sort, grouping and limit', async () => {
  calmDown();
  const all = (await world.search({ sort: 'duration' })).offers;
  const direct = all.filter((offer) => offer.stops === 0);
  const few = await world.search({ sort: 'duration', max_stops: 0, limit: 3 });
  expect(few.offers.map((offer) => offer.offer_id)).toEqual(direct.slice(0, 3).map((offer) => offer.offer_id));
  expect(few.total_offers).toBe(direct.length);
});

test('grouping loses no fare, and the limit counts itineraries', async () => {
  calmDown();
  const all = await world.search();
  const grouped = await world.search({ cheapest_per_itinerary: true });
  expect(fares(grouped.offers).sort()).toEqual(all.offers.map((offer) => offer.offer_id).sort());
  const keys = grouped.offers.map((offer) => offer.comparison_key);
  expect(new Set(keys).size).toBe(keys.length);
  const two = await world.search({ cheapest_per_itinerary: true, limit: 2 });
  expect(two.offers).toEqual(grouped.offers.slice(0, 2));
  expect(two.total_offers).toBe(grouped.offers.length);
});

test('a round trip has two directions', async () => {
  calmDown();
  const { offers } = await world.search({ return_date: '2026-12-27', limit: 3 });
  for (const offer of offers) {
    expect(offer.slices.map((slice) => slice.origin_iata)).toEqual(['LIS', 'BER']);
  }
});

test('the price follows the searches of the last minute', async () => {
  calmDown();
  expect(await priceNow()).toBe('100000');
  const rows = Array.from({ length: 11 }, (_, index) => ({ id: `load-${index}`, at_ms: world.clock.now() }));
  await world.store.insertInto('search_completions').values(rows.slice(0, 10)).execute();
  expect(await priceNow()).toBe('100000');
  await world.store.insertInto('search_completions').values(rows.slice(10)).execute();
  expect(await priceNow()).toBe('200000');
  calmDown();
  expect(await priceNow()).toBe('100000');
});

test('a replayed search counts once, and is not charged again', async () => {
  calmDown();
  const payment = await world.sign(await world.call('/air/search', TRIP));
  const headers = { 'PAYMENT-SIGNATURE': payment };
  const first = await world.call('/air/search', TRIP, { headers });
  const before = await world.usdc(world.wallet.address);
  const second = await world.service().call('/air/search', TRIP, { headers });
  expect(second.body).toEqual(first.body);
  expect(await world.usdc(world.wallet.address)).toBe(before);
  const counted = await world.store
    .selectFrom('search_completions')
    .select((column) => column.fn.countAll().as('n'))
    .executeTakeFirstOrThrow();
  expect(Number(counted.n)).toBe(1);
});

test.each([
  [0, false, 1],
  [10, false, 1],
  [11, false, 2],
  [100, false, 10],
  [0, true, 5],
  [11, true, 10],
  [500, false, 50],
  [5000, true, 50],
])('%i searches in a minute, rate limited %s: times %i', (completed, rateLimited, multiplier) => {
  expect(searchMultiplier({ completed, rateLimited }, defaultOptions)).toBe(multiplier);
});

test('offer details give the offer of a search again, with extras, for 0.01', async () => {
  calmDown();
  const [offer] = (await world.search({ limit: 1 })).offers;
  const before = await world.usdc(world.wallet.address);
  const answer = await world.paid<OfferDetailsResponse>('/air/offer-details', { offer_id: offer?.offer_id });
  expect(offerDetailsResponse.parse(answer.body)).toEqual(answer.body);
  expect(answer.body.offer.offer_id).toBe(offer?.offer_id);
  expect(before - (await world.usdc(world.wallet.address))).toBe(10_000n);
});

test('of a provider that takes any airport a code is its own to judge, and costs nothing where there is none', async () => {
  const away = problem('airport_unknown', { detail: { issues: [{ path: 'origin_iata', message: 'is none.' }] } });
  const { call } = world.service((ports) => ({
    ...ports,
    lowcost: null,
    provider: ports.provider && {
      ...ports.provider,
      takesAnyAirport: true,
      search: (query) =>
        query.slices[0]?.origin === 'QQQ'
          ? Promise.reject(away)
          : (ports.provider?.search({
              ...query,
              slices: query.slices.map((slice) => ({ ...slice, origin: TRIP.origin_iata })),
            }) ?? Promise.resolve([])),
    },
  }));
  const ask = async (origin: string) => {
    const body = { ...TRIP, origin_iata: origin };
    const challenge = await call<{ code?: string; detail?: { issues?: { path: string }[] } }>('/air/search', body);
    if (challenge.status !== 402) return [challenge.status, challenge.body.code];
    const headers = { 'PAYMENT-SIGNATURE': await world.sign(challenge) };
    const answer = await call<{ code?: string; offers?: unknown[] }>('/air/search', body, { headers });
    return [answer.status, answer.body.code ?? (answer.body.offers?.length ?? 0) > 0];
  };
  const before = await world.usdc(world.wallet.address);
  expect(await ask('QQQ')).toEqual([400, 'airport_unknown']);
  // The code of a city is no airport anywhere.
  expect(await ask('LON')).toEqual([400, 'invalid_request']);
  expect(await world.usdc(world.wallet.address)).toBe(before);
  expect(await ask('BTS')).toEqual([200, true]);
});

test('a day that has begun at the origin is not past, and one that has ended there is', async () => {
  const asked = (origin: string, date: string) =>
    world.call('/air/search', { ...TRIP, origin_iata: origin, depart_date: date });
  // It is past 09:00 UTC on 21 November: in Honolulu the last hour of the 20th has begun.
  expect((await asked('HNL', '2026-11-20')).status).toBe(402);
  expect((await asked('LIS', '2026-11-20')).status).toBe(400);
  world.clock.advance(3_600_000);
  expect((await asked('HNL', '2026-11-20')).status).toBe(400);
});
