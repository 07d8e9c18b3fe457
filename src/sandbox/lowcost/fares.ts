import type { FareContent } from '../../airlines/fulfiller.ts';
import { DAY_MS } from '../../kernel/clock.ts';
import type { Conditions } from '../../wire/flights/index.ts';
import { distanceKm } from '../airline/geography.ts';
import { decimalOf } from '../airline/prices.ts';
import type { World } from '../airline/world.ts';
import { type Leg, THROW, type Trip } from './flights.ts';

/** A fare on a carrier's page, all adults. */
export interface PageFare extends FareContent {
  readonly totalCents: number;
}

const conditions = (change: string | null, refund: string | null): Conditions => ({
  change_allowed: change !== null,
  change_penalty_amount: change,
  change_penalty_currency: change === null ? null : 'USD',
  refund_allowed: refund !== null,
  refund_penalty_amount: refund,
  refund_penalty_currency: refund === null ? null : 'USD',
});

/** US cents for one adult in the barest fare, taxes in it. A price holds for the minute at which it was quoted. */
function bareCents(world: World, leg: Leg, quotedMinute: number): number {
  const km = distanceKm(leg.from, leg.to);
  const weekday = (leg.day + 4) % 7;
  const demand =
    0.75 + 0.7 * world.dice.unit(THROW.fare, leg.carrier.index, leg.from.index, leg.to.index, weekday);
  const daysAhead = Math.max(0, leg.departureMs / DAY_MS - quotedMinute / 1440);
  const horizon = 0.8 + 1.1 * Math.exp(-daysAhead / 8);
  const step = world.dice.unit(THROW.fare, leg.number, leg.day, Math.floor(quotedMinute / 240));
  const usd = (9 + 0.035 * km ** 0.95) * demand * horizon * (0.96 + 0.08 * step);
  const tax = 5 + world.dice.pick(9, THROW.tax, leg.from.index);
  return Math.round((usd + tax) * 100);
}

/** A carrier's fares for a trip, cheapest first. Penalties are for the whole booking. */
export function fareMenu(world: World, trip: Trip): PageFare[] {
  const { adults, legs } = trip;
  const bare = legs.reduce((sum, leg) => sum + bareCents(world, leg, trip.quotedMinute), 0);
  const penalty = (usd: number) => decimalOf(usd * 100 * adults * legs.length);
  const fare = (
    brand: string,
    extraCents: number,
    checkedBags: number,
    carryOnBags: number | null,
    terms: Conditions,
  ): PageFare => ({
    brand,
    checkedBags,
    carryOnBags,
    conditions: terms,
    totalCents: (bare + extraCents * legs.length) * adults,
  });
  return [
    fare('Bare', 0, 0, 0, conditions(null, null)),
    fare('Cabin', 1400, 0, 1, conditions(penalty(45), null)),
    fare('Hold', 3100, 1, 1, conditions(penalty(35), null)),
    fare('Free', 6900, 1, 1, conditions('0', penalty(30))),
  ];
}
