import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDuffelProvider } from '../../../src/airlines/duffel/index.ts';
import { airlineByCode } from '../../../src/kernel/domain/airline-table.ts';
import { minutesOf } from '../../../src/kernel/domain/offers.ts';
import { readAirlines } from '../../../src/sandbox/airline/world.ts';
import { CARRIERS } from '../../../src/sandbox/lowcost/flights.ts';
import type { Offer, SearchResponse, SearchUpdatesResponse } from '../../../src/wire/flights/index.ts';
import { searchResponse } from '../../../src/wire/flights/schema.ts';
import { type ServedDuffel, serveDuffel } from '../../sandbox/duffel/served.ts';
import { openWorld, type Ports, TRIP, type World } from '../world.ts';

/** The filters of POST /air/search, over HTTP: on the embedded airline, its low-cost carriers, and Duffel's double. */

let world: World;
let duffel: ServedDuffel;
beforeAll(async () => {
  world = await openWorld({ lowcostMs: 1 });
  duffel = await serveDuffel({ clock: world.clock, seed: 'farelock' });
});
afterAll(async () => {
  await duffel.close();
  await world.close();
});

const ALL = {
  max_stops: 1,
  departure_after: '05:00',
  departure_before: '20:00',
  arrival_after: '06:00',
  arrival_before: '22:00+1',
  max_duration: 'PT8H',
  not_airlines: ['Q1'],
  no_basic: true,
  refundable: true,
  with_bag: true,
  max_price: '500',
};

const codes = (offer: Offer) =>
  offer.slices.flatMap((slice) => slice.segments.map((one) => one.flight_number.slice(0, 2)));
const hiddenIn = ({ hidden = [] }: Pick<SearchResponse, 'hidden'>) =>
  hidden.reduce((sum, { count, unknown }) => sum + count + unknown, 0);

async function searched(body: object, call?: World['call']) {
  // Each search raises the price of the next ones.
  world.clock.advance(61_000);
  const answer = await world.paid<SearchResponse>('/air/search', { ...TRIP, ...body }, call ? { call } : {});
  expect(answer.status).toBe(200);
  expect(searchResponse.parse(answer.body)).toEqual(answer.body);
  return answer.body;
}

test('offers that suit every filter are left, before limit, and each other one counts with one filter', async () => {
  const all = await searched({});
  const some = await searched({ ...ALL, limit: 2 });
  expect(some.offers).toHaveLength(2);
  expect(some.total_offers).toBeGreaterThan(2);
  expect(some.total_offers + hiddenIn(some)).toBe(all.total_offers);
  for (const offer of some.offers) {
    expect(codes(offer)).not.toContain('Q1');
    expect(minutesOf(offer.duration)).toBeLessThanOrEqual(480);
    expect(offer.conditions?.refund_allowed).toBe(true);
    expect(offer.checked_bags_included).toBeGreaterThan(0);
  }
  const star = await searched({ alliance: 'star' });
  expect(new Set(star.offers.flatMap(codes).map((code) => airlineByCode(code)?.alliance))).toEqual(new Set(['star']));
  expect(star.hidden).toEqual([{ filter: 'alliance', count: all.total_offers - star.total_offers, unknown: 0 }]);
});

test('low-cost offers that land later pass the same filters', async () => {
  const first = await searched({ not_airlines: ['Q2'] });
  await expect
    .poll(async () => {
      const { body } = await world.call<SearchUpdatesResponse>('/air/search-updates', { search_id: first.search_id });
      const flown = new Set(body.offers.flatMap(codes));
      return { status: body.status, flown: [...flown].sort(), hidden: body.hidden?.[0]?.filter };
    })
    .toEqual({ status: 'complete', flown: ['P2'], hidden: 'not_airlines' });
});

test('a code that our table lacks may be an airline where the airlines are real', async () => {
  const real = world.service(({ provider, ...ports }) => ({
    ...ports,
    provider: provider && { ...provider, isSandbox: false },
  }));
  const asked = async (code: string) => (await real.call('/air/search', { ...TRIP, airlines: [code] })).status;
  expect([
    await asked('0Q'),
    await asked('0QQ'),
    (await world.call('/air/search', { ...TRIP, airlines: ['0Q'] })).status,
  ]).toEqual([402, 400, 400]);
});

test('an unknown airline is refused before the charge, with the likely one; so are times that exclude each other', async () => {
  const refused = async (body: object) =>
    (await world.call('/air/search', { ...TRIP, ...body })) as {
      status: number;
      body: { detail?: { issues: { path: string; message: string }[] } };
    };
  const wrong = await refused({ airlines: ['E0', 'LUSAVIO'], not_airlines: ['??'] });
  expect(wrong.status).toBe(400);
  expect(wrong.body.detail?.issues).toEqual([
    { path: 'airlines', message: 'names an unknown airline: LUSAVIO. Did you mean E0 (Lusavia)?' },
    { path: 'not_airlines', message: 'names an unknown airline: ??. Give its two-letter code, as in a flight number.' },
  ]);
  const never = await refused({ arrival_after: '09:00+1', arrival_before: '18:00' });
  expect(never.body.detail?.issues[0]?.path).toBe('arrival_before');
});

test("the offers of Duffel's double pass the same filters", async () => {
  const selling = (ports: Ports): Ports => ({
    ...ports,
    lowcost: null,
    provider: createDuffelProvider({
      url: duffel.url,
      token: 'duffel_test_filters',
      store: ports.store,
      clock: ports.clock,
      log: () => undefined,
      webhookSecret: 'QKfUULLQh+8SegYmIsF6kA==',
      timeoutMs: 20_000,
    }),
  });
  const { call } = world.service(selling);
  const all = await searched({}, call);
  const own = await searched({ airlines: ['ZZ'], no_basic: true }, call);
  expect(new Set(own.offers.map((offer) => offer.fare_brand_name))).toEqual(new Set(['Flexible']));
  expect(own.total_offers + hiddenIn(own)).toBe(all.total_offers);
  const some = await searched(ALL, call);
  expect(some.total_offers + hiddenIn(some)).toBe(all.total_offers);
  expect(some.offers.every((offer) => offer.conditions?.refund_allowed === true)).toBe(true);
});

test('the table of airlines has those of the sandbox, with their most restricted brand', () => {
  const table = [...readAirlines(), ...CARRIERS.map((one) => ({ ...one, alliance: null, brands: ['Bare'] }))];
  const alliances = { 'Windrose Network': 'star', 'Meridian Circle': 'oneworld', 'Compass Concord': 'skyteam' };
  for (const { code, name, alliance, brands } of table) {
    const expected = alliance === null ? null : alliances[alliance as keyof typeof alliances];
    expect(airlineByCode(code)).toEqual({ name, alliance: expected, basicBrand: brands[0] });
  }
});
