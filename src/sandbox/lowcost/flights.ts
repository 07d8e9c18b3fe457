import type { OfferQuery } from '../../airlines/provider.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/clock.ts';
import type { Airport } from '../airline/airports.ts';
import { distanceKm } from '../airline/geography.ts';
import type { World } from '../airline/world.ts';
import { type Carrier, carriersBetween } from './carriers.ts';

/** A morning and an evening flight, as minutes of the day: lowcost aircraft don't wait for connections. */
const WAVES: readonly (readonly [from: number, to: number])[] = [
  [370, 600],
  [1010, 1270],
];
/** Sales close this long before departure. */
export const SALES_CLOSE_MS = 2 * HOUR_MS;
/** Topics of the dice that no other part of the sandbox throws. */
export const THROW = { departure: 101, fare: 102, landing: 103, menu: 104, tax: 105 } as const;

/** One flight on one day. They fly straight there and sell no connections. */
export interface Leg {
  readonly carrier: Carrier;
  readonly from: Airport;
  readonly to: Airport;
  /** Days since 1970, local to the departure. */
  readonly day: number;
  readonly wave: number;
  readonly number: number;
  readonly departureMs: number;
  readonly departureLocalMs: number;
  readonly arrivalLocalMs: number;
  readonly blockMinutes: number;
}

/** One or two directions with one carrier, for so many adults, quoted at a minute. */
export interface Trip {
  readonly legs: readonly Leg[];
  readonly adults: number;
  /** Minutes since 1970. */
  readonly quotedMinute: number;
}

export const waves = WAVES.map((_, wave) => wave);

export function legOf(
  world: World,
  carrier: Carrier,
  from: Airport,
  to: Airport,
  day: number,
  wave: number,
): Leg {
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
    day,
    wave,
    // Evening numbers are a thousand higher, so that the number shows the wave.
    number: 1000 * (wave + 1) + world.dice.pick(1000, THROW.departure, from.index, to.index, carrier.index),
    departureMs,
    departureLocalMs,
    arrivalLocalMs: arrivalMs + world.zones.offsetMinutes(to.timeZone, arrivalMs) * MINUTE_MS,
    blockMinutes,
  };
}

/** Every trip that can be sold for a query, in no order that matters. */
export function tripsFor(world: World, query: OfferQuery, nowMs: number): Trip[] {
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

/** Days since 1970 of a YYYY-MM-DD. */
const dayOf = (date: string): number => Math.floor(Date.parse(`${date}T00:00:00Z`) / DAY_MS);
