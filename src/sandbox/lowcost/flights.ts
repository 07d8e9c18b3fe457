import type { FareContent, RoundTrip } from '../../airlines/index.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/clock.ts';
import {
  type Airport,
  airportByCode,
  conditionsOf,
  dayOf,
  decimalOf,
  distanceKm,
  scenarioRoute,
  type World,
} from '../airline/index.ts';
import TABLE from './carriers.json' with { type: 'json' };

/** Invented carriers that sell only on their own sites. `areas`: IANA zone prefixes; empty for test routes only. */
export const CARRIERS = TABLE.map((carrier, index) => ({ index, ...carrier }));

type Carrier = (typeof CARRIERS)[number];

const LEAST_KM = 250;
const MOST_KM = 3800;

/** Carriers fly short and medium haul within their part of the world. */
export function carriersBetween(from: Airport, to: Airport): readonly Carrier[] {
  if (scenarioRoute(from.iata, to.iata)) return CARRIERS.filter(({ areas }) => areas.length === 0);
  const km = distanceKm(from, to);
  if (km < LEAST_KM || km > MOST_KM || Math.min(from.size, to.size) < 2) return [];
  const at = (carrier: Carrier, airport: Airport) => carrier.areas.some((area) => airport.timeZone.startsWith(area));
  return CARRIERS.filter((carrier) => at(carrier, from) && at(carrier, to));
}

/** Does not need a world. */
export function isServed(origin: string, destination: string): boolean {
  const from = airportByCode(origin);
  const to = airportByCode(destination);
  return from !== null && to !== null && from.iata !== to.iata && carriersBetween(from, to).length > 0;
}

/** A page's fare for all adults. */
export interface PageFare extends FareContent {
  readonly totalCents: number;
}

/** The barest fare of one adult with taxes, US cents, at the quote's minute. */
function bareCents(world: World, leg: Leg, quotedMinute: number): number {
  const km = distanceKm(leg.from, leg.to);
  const weekday = (leg.day + 4) % 7;
  const demand = 0.75 + 0.7 * world.dice.unit(THROW.fare, leg.carrier.index, leg.from.index, leg.to.index, weekday);
  const daysAhead = Math.max(0, leg.departureMs / DAY_MS - quotedMinute / 1440);
  const horizon = 0.8 + 1.1 * Math.exp(-daysAhead / 8);
  const step = world.dice.unit(THROW.fare, leg.number, leg.day, Math.floor(quotedMinute / 240));
  const usd = (9 + 0.035 * km ** 0.95) * demand * horizon * (0.96 + 0.08 * step);
  const tax = 5 + world.dice.pick(9, THROW.tax, leg.from.index);
  return Math.round((usd + tax) * 100);
}

/** Cheapest first; penalties are for the whole booking. */
export function fareMenu(world: World, trip: Trip): PageFare[] {
  const { adults, legs } = trip;
  const bare = legs.reduce((sum, leg) => sum + bareCents(world, leg, trip.quotedMinute), 0);
  const penalty = (usd: number) => decimalOf(usd * 100 * adults * legs.length);
  const fare = (
    ...[brand, extraCents, checkedBags, carryOnBags, change, refund]: [
      string,
      number,
      number,
      number,
      string | null,
      string | null,
    ]
  ): PageFare => ({
    brand,
    checkedBags,
    carryOnBags,
    conditions: conditionsOf([change !== null, change], [refund !== null, refund], 'USD'),
    totalCents: (bare + extraCents * legs.length) * adults,
  });
  return [
    fare('Bare', 0, 0, 0, null, null),
    fare('Cabin', 1400, 0, 1, penalty(45), null),
    fare('Hold', 3100, 1, 1, penalty(35), null),
    fare('Free', 6900, 1, 1, '0', penalty(30)),
  ];
}

/** Minutes after midnight: mornings and evenings, because no connections are awaited. */
const WAVES: readonly (readonly [from: number, to: number])[] = [
  [370, 600],
  [1010, 1270],
];

export const SALES_CLOSE_MS = 2 * HOUR_MS;

/** Topics that only this tier throws. */
export const THROW = { departure: 101, fare: 102, landing: 103, menu: 104, tax: 105 } as const;

export type Leg = ReturnType<typeof legOf>;

/** One or two directions with a carrier, for adults, quoted at one minute. */
export interface Trip {
  readonly legs: readonly Leg[];
  readonly adults: number;
  /** Minutes since 1970. */
  readonly quotedMinute: number;
}

export const waves = WAVES.map((_, wave) => wave);

export function legOf(world: World, carrier: Carrier, from: Airport, to: Airport, day: number, wave: number) {
  const [earliest, latest] = WAVES[wave] ?? [600, 700];
  const about = [carrier.index, from.index, to.index, wave] as const;
  const minute = earliest + 5 * world.dice.pick((latest - earliest) / 5, THROW.departure, ...about);
  const departureLocalMs = day * DAY_MS + minute * MINUTE_MS;
  const departureMs = world.zones.toUtc(from.timeZone, departureLocalMs);
  const blockMinutes = Math.ceil(((distanceKm(from, to) * 1.03) / 790) * 12 + 6.4) * 5;
  const arrivalMs = departureMs + blockMinutes * MINUTE_MS;
  return {
    carrier,
    from,
    to,
    /** Days since 1970 at the departure. */
    day,
    wave,
    // The thousands of a flight number show its wave.
    number: 1000 * (wave + 1) + world.dice.pick(1000, THROW.departure, from.index, to.index, carrier.index),
    departureMs,
    departureLocalMs,
    arrivalLocalMs: arrivalMs + world.zones.offsetMinutes(to.timeZone, arrivalMs) * MINUTE_MS,
    blockMinutes,
  };
}

/** Unordered. */
export function tripsFor(world: World, query: RoundTrip, nowMs: number): Trip[] {
  const from = world.byCode(query.origin);
  const to = world.byCode(query.destination);
  if (!from || !to || query.cabinClass !== 'economy') return [];
  const quotedMinute = Math.floor(nowMs / MINUTE_MS);
  return carriersBetween(from, to).flatMap((carrier) => {
    const out = waves
      .map((wave) => legOf(world, carrier, from, to, dayOf(query.departDate), wave))
      .filter((leg) => leg.departureMs >= nowMs + SALES_CLOSE_MS);
    const { returnDate } = query;
    if (returnDate === undefined) {
      return out.map((leg) => ({ legs: [leg], adults: query.adults, quotedMinute }));
    }
    const back = waves.map((wave) => legOf(world, carrier, to, from, dayOf(returnDate), wave));
    return out.flatMap((there) =>
      back
        .filter((leg) => leg.departureMs > there.departureMs + (there.blockMinutes + 60) * MINUTE_MS)
        .map((leg) => ({ legs: [there, leg], adults: query.adults, quotedMinute })),
    );
  });
}

/** Equal visit numbers give equal results. */
export function shuffled<T>(world: World, list: readonly T[], visitNumber: number): T[] {
  const left = [...list];
  return list.flatMap((_, i) => left.splice(world.dice.pick(left.length, THROW.menu, visitNumber, i), 1));
}
