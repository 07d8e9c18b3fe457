import { afterAll, describe, expect, test } from 'vitest';
import { AIRPORT_TABLE } from '../../../src/kernel/domain/airport-table.ts';
import { minutesOf } from '../../../src/kernel/domain/offers.ts';
import { SCENARIO_ROUTES } from '../../../src/sandbox/airline/scenarios.ts';
import { airportByCode, distanceKm } from '../../../src/sandbox/airline/world.ts';
import type { Offer } from '../../../src/wire/flights/index.ts';
import { offer as offerSchema } from '../../../src/wire/flights/offers.ts';
import { rounds } from '../../rounds.ts';
import { instantOf, openSandbox, query } from './world.ts';

const sandbox = openSandbox();
afterAll(() => sandbox.close());
const { provider } = sandbox;

const between = (origin: string, destination: string): number => {
  const [a, b] = [airportByCode(origin), airportByCode(destination)];
  if (!a || !b) throw new Error('not an airport');
  return distanceKm(a, b);
};

const itineraries = (offers: readonly Offer[]) => new Set(offers.map((offer) => offer.comparison_key)).size;

/** What holds for every offer of the sandbox. Returns what is wrong. */
function faults(offer: Offer): string[] {
  const found: string[] = [];
  const parsed = offerSchema.safeParse(offer);
  if (!parsed.success) found.push(`schema: ${parsed.error.message}`);
  if (!/^[A-Za-z0-9_][A-Za-z0-9_-]*$/.test(offer.offer_id) || offer.offer_id.length >= 200) found.push('offer id');
  if (offer.total_amount !== Math.round(Number(offer.total_amount_decimal) * 1_000_000)) found.push('total');
  if (offer.base_amount_decimal !== null && offer.tax_amount_decimal !== null) {
    const cents = (decimal: string) => Math.round(Number(decimal) * 100);
    if (cents(offer.base_amount_decimal) + cents(offer.tax_amount_decimal) !== cents(offer.total_amount_decimal)) {
      found.push('base + tax');
    }
  }
  const [outbound] = offer.slices;
  for (const field of ['departing_at', 'arriving_at', 'duration', 'stops', 'technical_stops'] as const) {
    if (outbound?.[field] !== offer[field]) found.push(`outbound ${field}`);
  }
  const conditions = offer.conditions;
  for (const side of ['change', 'refund'] as const) {
    const amount = conditions?.[`${side}_penalty_amount`] ?? null;
    if (conditions && (amount === null) !== (conditions[`${side}_penalty_currency`] === null)) found.push(side);
    if (amount !== null && !conditions?.[`${side}_allowed`]) found.push(`${side} penalty without permission`);
    if (amount !== null && Number(amount) > Number(offer.total_amount_decimal)) found.push(`${side} penalty`);
  }
  for (const slice of offer.slices) {
    if (slice.stops !== slice.segments.length - 1) found.push('stops');
    let before: { to: string; arrivalMs: number } | null = null;
    for (const segment of slice.segments) {
      const departureMs = instantOf(segment.departing_at, segment.origin_time_zone);
      const flownMs = minutesOf(segment.duration) * 60_000;
      const arrivalMs = departureMs + flownMs;
      const arrivals = [true, false].map((earlier) =>
        instantOf(segment.arriving_at, segment.destination_time_zone, earlier),
      );
      if (!arrivals.includes(arrivalMs)) found.push(`${segment.flight_number} arrives at another time`);
      if (before && before.to !== segment.origin_iata) found.push('the chain is broken');
      const wait = before ? (departureMs - before.arrivalMs) / 60_000 : 60;
      if (wait < 40 || wait > 17 * 60) found.push(`a connection of ${wait} minutes`);
      const km = between(segment.origin_iata, segment.destination_iata);
      const speed = km / (flownMs / 3_600_000);
      if (km > 2000 && segment.technical_stops === 0 && (speed < 350 || speed > 1000)) {
        found.push(`${segment.flight_number} at ${Math.round(speed)} km/h`);
      }
      if (segment.technical_stops !== segment.technical_stop_airports.length) found.push('technical stops');
      before = { to: segment.destination_iata, arrivalMs };
    }
    const first = slice.segments[0];
    const startMs = instantOf(slice.departing_at, slice.origin_time_zone);
    const endMs = before?.arrivalMs ?? 0;
    if (endMs - startMs !== minutesOf(slice.duration) * 60_000) found.push('duration');
    if (first?.origin_iata !== slice.origin_iata || before?.to !== slice.destination_iata) found.push('ends');
  }
  return found;
}

describe('a search', () => {
  test('of any pair of airports on any date has sound offers', async () => {
    const codes = AIRPORT_TABLE.map((row) => row[0]);
    let seed = 7;
    const pick = (count: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
      return seed % count;
    };
    for (let i = 0; i < rounds(12, 1_000); i++) {
      const origin = codes[pick(codes.length)] ?? 'LIS';
      const destination = codes[pick(codes.length)] ?? 'BER';
      const limited = SCENARIO_ROUTES.some((one) => one.origin === origin && one.destination === destination);
      if (origin === destination || limited) continue;
      const depart = Date.UTC(2026, 10, 23 + pick(355));
      const departDate = new Date(depart).toISOString().slice(0, 10);
      const adults = 1 + pick(4);
      const offers = await provider.search(query(origin, destination, departDate, { adults }));
      expect(offers.length, `${origin}-${destination} ${departDate}`).toBeGreaterThan(0);
      for (const offer of offers) {
        expect(faults(offer), `${origin}-${destination} ${departDate} ${offer.comparison_key}`).toEqual([]);
        expect(offer.departing_at.slice(0, 10)).toBe(departDate);
        expect([offer.origin_iata, offer.destination_iata]).toEqual([origin, destination]);
      }
      expect(new Set(offers.map((offer) => offer.offer_id)).size).toBe(offers.length);
    }
  });

  test.each(['LIS-BER', 'LHR-JFK', 'MAD-BCN', 'FRA-JFK', 'SYD-MEL', 'LAX-JFK', 'HND-CTS', 'DXB-LHR'])(
    'of the trunk route %s has 100 offers over two dozen itineraries',
    async (route) => {
      const [origin = '', destination = ''] = route.split('-');
      for (const date of ['2026-12-21', '2027-03-20']) {
        const offers = await provider.search(query(origin, destination, date));
        expect(offers.length).toBeGreaterThanOrEqual(100);
        expect(itineraries(offers)).toBeGreaterThanOrEqual(24);
      }
    },
  );

  test.each(['FAE-GPS', 'LYR-IPC', 'PBH-USH', 'GOH-APW', 'CNS-EDI', 'RVN-GPS', 'JFK-EWR'])(
    'of the thin pair %s still has a way there',
    async (route) => {
      const [origin = '', destination = ''] = route.split('-');
      const offers = await provider.search(query(origin, destination));
      expect(offers.length).toBeGreaterThan(0);
      expect(offers.length).toBeLessThan(100);
    },
  );

  test('shows no flight that leaves before sales close', async () => {
    const offers = await provider.search(query('LIS', 'BER', '2026-11-21'));
    const soonest = Math.min(...offers.map((offer) => instantOf(offer.departing_at, offer.origin_time_zone)));
    expect(offers.length).toBeGreaterThan(0);
    expect(soonest).toBeGreaterThan(sandbox.clock.now() + 60 * 60_000);
    expect(await provider.search(query('LIS', 'BER', '2026-11-20'))).toEqual([]);
  });

  test('of a round trip joins an outbound and a later inbound direction, and prices both', async () => {
    const oneWay = await provider.search(query('LIS', 'JFK', '2026-12-21'));
    const offers = await provider.search(query('LIS', 'JFK', '2026-12-21', { returnDate: '2026-12-28' }));
    expect(offers.length).toBeGreaterThan(50);
    for (const offer of offers) {
      expect(faults(offer)).toEqual([]);
      const [out, back] = offer.slices;
      expect([out?.origin_iata, back?.origin_iata, back?.destination_iata]).toEqual(['LIS', 'JFK', 'LIS']);
      expect(back?.departing_at.slice(0, 10)).toBe('2026-12-28');
      expect(offer.comparison_key.split('~')).toHaveLength(2);
    }
    expect(offers[0]?.total_amount).toBeGreaterThan(oneWay[0]?.total_amount ?? 0);
  });

  test('of a round trip on one day never leaves again before it has arrived', async () => {
    const offers = await provider.search(query('LHR', 'EDI', '2026-12-21', { returnDate: '2026-12-21' }));
    expect(offers.length).toBeGreaterThan(0);
    for (const { slices } of offers) {
      const [out, back] = slices;
      if (!out || !back) throw new Error('not a round trip');
      expect(instantOf(back.departing_at, back.origin_time_zone)).toBeGreaterThan(
        instantOf(out.arriving_at, out.destination_time_zone),
      );
    }
  });

  test('prices every cabin above the one below it', async () => {
    const cheapest: number[] = [];
    for (const cabinClass of ['economy', 'premium_economy', 'business', 'first'] as const) {
      const offers = await provider.search(query('LHR', 'JFK', '2026-12-21', { cabinClass }));
      expect(offers.length).toBeGreaterThan(0);
      expect(offers.every((offer) => offer.cabin_class === cabinClass && faults(offer).length === 0)).toBe(true);
      cheapest.push(offers[0]?.total_amount ?? 0);
    }
    expect(cheapest).toEqual([...cheapest].sort((a, b) => a - b));
  });

  test('costs and emits per adult', async () => {
    const one = await provider.search(query('LIS', 'BER'));
    const three = await provider.search(query('LIS', 'BER', '2026-12-21', { adults: 3 }));
    const same = (offer: Offer) =>
      one.find(
        (other) =>
          other.comparison_key === offer.comparison_key &&
          other.owner_name === offer.owner_name &&
          other.fare_brand_name === offer.fare_brand_name &&
          other.slices[0]?.segments[0]?.flight_number === offer.slices[0]?.segments[0]?.flight_number,
      );
    for (const offer of three.slice(0, 60)) {
      const single = same(offer);
      expect(offer.total_amount).toBe((single?.total_amount ?? 0) * 3);
      if (offer.total_emissions_kg === null) expect(single?.total_emissions_kg).toBeNull();
      else expect(Math.abs(offer.total_emissions_kg - 3 * (single?.total_emissions_kg ?? 0))).toBeLessThanOrEqual(2);
    }
  });
});

describe('the offers of a trunk route', () => {
  test('share a comparison key across sellers, brands and codeshares, and only then', async () => {
    const offers = await provider.search(query('LHR', 'JFK'));
    const flown = new Map<string, string>();
    for (const offer of offers) {
      const flights = offer.slices
        .flatMap((slice) => slice.segments)
        .map((one) => `${one.operating_flight_number} ${one.origin_iata} ${one.departing_at}`)
        .join();
      expect(flown.get(offer.comparison_key) ?? flights).toBe(flights);
      flown.set(offer.comparison_key, flights);
    }
    expect(new Set(flown.values()).size).toBe(flown.size);
    const [key] = flown.keys();
    const fares = offers.filter((offer) => offer.comparison_key === key);
    expect(new Set(fares.map((offer) => offer.fare_brand_name)).size).toBeGreaterThanOrEqual(3);
    const codeshares = offers.filter((offer) =>
      offer.slices[0]?.segments.some((one) => one.flight_number !== one.operating_flight_number),
    );
    expect(codeshares.length).toBeGreaterThan(0);
    for (const { slices } of codeshares) {
      for (const one of slices[0]?.segments ?? []) {
        const own = one.flight_number === one.operating_flight_number;
        expect(one.carrier_name === one.marketing_carrier_name).toBe(own);
      }
    }
  });

  test('come from several sellers, some with the same conditions at another price', async () => {
    const offers = await provider.search(query('LHR', 'JFK'));
    expect(new Set(offers.map((offer) => offer.owner_name)).size).toBeGreaterThanOrEqual(4);
    const twin = (a: Offer, b: Offer) =>
      a.comparison_key === b.comparison_key &&
      a.owner_name !== b.owner_name &&
      a.fare_brand_name === b.fare_brand_name &&
      a.checked_bags_included === b.checked_bags_included &&
      a.conditions !== null &&
      JSON.stringify(a.conditions) === JSON.stringify(b.conditions) &&
      a.total_amount !== b.total_amount;
    expect(offers.some((a) => offers.some((b) => twin(a, b)))).toBe(true);
  });

  test('leave some things undisclosed, as null', async () => {
    const routes = [
      ['LHR', 'JFK'],
      ['LIS', 'BER'],
      ['MAD', 'BCN'],
      ['BKK', 'HKT'],
    ] as const;
    const offers = (await Promise.all(routes.map(([a, b]) => provider.search(query(a, b))))).flat();
    const segments = offers.flatMap((offer) => offer.slices.flatMap((slice) => slice.segments));
    const some = (values: readonly unknown[]) => {
      expect(values).toContain(null);
      expect(values.some((value) => value !== null)).toBe(true);
    };
    some(offers.map((offer) => offer.conditions));
    some(offers.map((offer) => offer.total_emissions_kg));
    some(offers.map((offer) => offer.checked_bags_included));
    some(offers.map((offer) => offer.fare_brand_name));
    some(segments.map((one) => one.aircraft_name));
    some(segments.map((one) => one.origin_terminal));
    some(segments.map((one) => one.fare_basis_code));
    expect(offers.some((offer) => offer.conditions?.change_penalty_amount === '0')).toBe(true);
    expect(new Set(offers.map((offer) => offer.total_currency))).toEqual(new Set(['USD']));
    const fromVienna = await provider.search(query('VIE', 'LHR'));
    expect(fromVienna.some((offer) => offer.total_currency === 'EUR')).toBe(true);
    expect(fromVienna[0]?.total_currency).toBe('USD');
    some(fromVienna.map((offer) => offer.base_amount_decimal));
  });
});

test('emissions of a known flight lie where published calculators put them', async () => {
  const kgOf = async (origin: string, destination: string, cabinClass: 'economy' | 'business') =>
    (await provider.search(query(origin, destination, '2026-12-21', { cabinClass })))
      .filter((offer) => offer.stops === 0)
      .flatMap((offer) => offer.total_emissions_kg ?? []);
  for (const kg of await kgOf('LHR', 'JFK', 'economy')) {
    expect(kg).toBeGreaterThan(220);
    expect(kg).toBeLessThan(520);
  }
  const economy = Math.min(...(await kgOf('LHR', 'JFK', 'economy')));
  expect(Math.min(...(await kgOf('LHR', 'JFK', 'business')))).toBeCloseTo(economy * 2, -1);
});
