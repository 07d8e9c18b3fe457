import { DAY_MS } from '../../kernel/clock.ts';
import { travellerType } from '../../kernel/domain/travel-ages.ts';
import { decimalOf as decimalText, unitsOf } from '../../kernel/money.ts';
import type { CabinClass } from '../../wire/flights/index.ts';
import type { Itinerary } from './itineraries.ts';
import { type Journey, journeyBits, lengthKm } from './journey.ts';
import { type Airline, TOPIC, type World } from './world.ts';

/** An invented seller; seller 0 is the airline itself. Offer ids name sellers by position. */
export interface Seller {
  /** Null for the marketing airline. */
  readonly name: string | null;
  readonly currency: 'USD' | 'EUR';
  /** Sells only journeys from this airport, if set. */
  readonly only?: string;
  /** The share of journeys that it sells. */
  readonly reach: number;
  /** The range of its markup, as a share of the fare. */
  readonly markup: readonly [least: number, most: number];
  /** Undisclosed fields. */
  readonly silent: readonly ('conditions' | 'fare_basis' | 'brand' | 'bags' | 'tax' | 'refund')[];
}

export const DIRECT = 0;

export const SELLERS: readonly Seller[] = [
  { name: null, currency: 'USD', reach: 1, markup: [0, 0], silent: [] },
  { name: 'Farefinch', currency: 'USD', reach: 0.55, markup: [-0.015, 0.035], silent: [] },
  {
    name: 'Wayloft',
    currency: 'USD',
    reach: 0.42,
    markup: [-0.035, 0.05],
    silent: ['conditions', 'fare_basis', 'brand', 'bags'],
  },
  // Sells in euros from one city: such offers cannot be escrowed (409 offer_unsupported).
  { name: 'Kompaso', currency: 'EUR', only: 'VIE', reach: 0.5, markup: [-0.02, 0.03], silent: ['tax', 'refund'] },
];

export const EUR_PER_USD = 0.92;

/** The content of an offer id. */
export interface Selection {
  /** Minutes since 1970, which fix the price. */
  readonly issuedMinute: number;
  readonly journey: Journey;
  readonly plating: Airline;
  readonly tier: number;
  readonly sellerIndex: number;
  readonly cabin: CabinClass;
  readonly adults: number;
  /** The ages of the travellers under 18 when the last direction departs. */
  readonly childAges: readonly number[];
}

/** Counts travellers with their own seat: infants sit on a lap. */
export const seatsOf = ({ adults, childAges }: Pick<Selection, 'adults' | 'childAges'>): number =>
  adults + childAges.filter((age) => travellerType(age) !== 'infant').length;

/** Each type's share of an adult's fare, before taxes. */
const SHARES = { adult: 1, youth: 1, child: 0.75, infant: 0.1 } as const;

export type BaseFare = ReturnType<typeof baseFare>;

const CABIN_FACTOR: Record<CabinClass, number> = { economy: 1, premium_economy: 1.75, business: 3.5, first: 6.2 };
const BRAND_STEP = [1, 1.21, 1.52, 1.86];
/** Prices change every four hours, at a time that differs by journey. */
const STEP_MINUTES = 240;

/** Prices the cheapest brand for one adult, US cents. */
export function baseFare(world: World, journey: Journey, plating: Airline, cabin: CabinClass, atMinute: number) {
  const bits = journeyBits(world, journey);
  const step = Math.floor((atMinute + (bits % STEP_MINUTES)) / STEP_MINUTES);
  let fare = 0;
  let tax = 0;
  for (const itinerary of journey) {
    const one = directionFare(world, itinerary, plating, atMinute) * CABIN_FACTOR[cabin];
    fare += journey.length > 1 ? one * 0.9 : one;
    tax += taxOf(world, itinerary);
  }
  fare *= 0.97 + 0.06 * world.dice.unit(TOPIC.step, bits, step);
  fare = Math.max(fare, 9);
  return { fareCents: Math.round(fare * 100), taxCents: Math.round((tax + fare * 0.06) * 100), bits };
}

function directionFare(world: World, itinerary: Itinerary, plating: Airline, atMinute: number): number {
  const [first] = itinerary;
  if (!first) return 0;
  const { dice } = world;
  const level = { full_service: 1, leisure: 0.6, regional: 1.15 }[plating.kind];
  const airline = 0.9 + 0.25 * dice.unit(TOPIC.fare, plating.index);
  const stops = [1.12, 0.96, 0.92][itinerary.length - 1] ?? 0.9;
  // Popularity depends on the flight and the weekday.
  let popularity = 0;
  for (const { airline: one, slot, day } of itinerary) {
    popularity += dice.unit(TOPIC.fare, one.index, slot.flightNumber, (day + 4) % 7);
  }
  const demand = 0.8 + (0.55 * popularity) / itinerary.length;
  const daysAhead = Math.max(0, first.departureMs / DAY_MS - atMinute / 1440);
  return (20 + 0.125 * lengthKm(itinerary) ** 0.9) * level * airline * stops * demand * horizon(daysAhead);
}

/** Prices are highest on the last days, lowest two months ahead, a little higher before. */
const horizon = (daysAhead: number): number =>
  0.92 + 0.85 * Math.exp(-daysAhead / 9) + 0.12 * (1 - Math.exp(-Math.max(0, daysAhead - 60) / 120));

/** One direction's charges and taxes for one adult, US dollars. */
function taxOf(world: World, itinerary: Itinerary): number {
  let tax = 0;
  for (const { from } of itinerary) {
    const country = from.country.charCodeAt(0) * 32 + from.country.charCodeAt(1);
    tax += 5 + world.dice.pick(22, TOPIC.fare, country) + from.size;
  }
  const first = itinerary[0]?.from.country;
  return tax + (first === 'GB' ? (lengthKm(itinerary) > 3200 ? 96 : 16) : 0);
}

/** Prices all travellers in cents of the seller's currency; with children among them, also each one alone. */
export function priceOf(world: World, base: BaseFare, selection: Selection, seller: Seller) {
  const { plating, tier, sellerIndex, adults, childAges } = selection;
  const spread = 0.94 + 0.12 * world.dice.unit(TOPIC.brands, plating.index, tier);
  const brand = 1 + ((BRAND_STEP[tier] ?? 2) - 1) * spread;
  const [least, most] = seller.markup;
  const markup = least + (most - least) * world.dice.unit(TOPIC.seller, base.bits, sellerIndex, tier, 1);
  const rate = seller.currency === 'EUR' ? EUR_PER_USD : 1;
  const oneBase = Math.round(base.fareCents * brand * (1 + markup) * rate);
  const oneTax = Math.round(base.taxCents * rate);
  if (childAges.length === 0) {
    return { baseCents: oneBase * adults, taxCents: oneTax * adults, totalCents: (oneBase + oneTax) * adults };
  }
  const ages = [...Array.from({ length: adults }, () => null), ...childAges];
  const each = ages.map((age) => {
    const type = travellerType(age);
    // Airports charge by the seat, so an infant pays no tax.
    return { type, age, baseCents: Math.round(oneBase * SHARES[type]), taxCents: type === 'infant' ? 0 : oneTax };
  });
  const baseCents = each.reduce((sum, one) => sum + one.baseCents, 0);
  const taxCents = each.reduce((sum, one) => sum + one.taxCents, 0);
  return { baseCents, taxCents, totalCents: baseCents + taxCents, each };
}

export const decimalOf = (cents: number): string => decimalText(BigInt(cents), 2, 2);

/** Null for anything but digits with at most two decimals. */
export function centsOf(text: unknown): number | null {
  if (typeof text !== 'string' || !/^\d{1,10}(\.\d{1,2})?$/.test(text)) return null;
  return Number(unitsOf(text, 2));
}
