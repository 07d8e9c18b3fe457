import { parseUsdc } from '../kernel/money.ts';
import type { Offer, SearchRequest } from './wire.ts';

export type OfferFilters = Pick<
  SearchRequest,
  'max_stops' | 'departure_after' | 'departure_before' | 'max_price'
>;
export type OfferSort = SearchRequest['sort'];

/** The currency that prices are compared in: escrows are in US dollars (CONTRACT, section 1). */
const CURRENCY = 'USD';

/**
 * The offers that pass every filter, in the order given (spec/flight-service.md, POST /air/search: filters come before
 * sort, grouping and limit).
 *
 * - `max_stops` holds for each direction; technical stops are not stops.
 * - `departure_after` and `departure_before` are inclusive and local to the airport where the journey begins: they are
 *   about the outbound direction, the inbound one may leave at any time.
 * - `max_price` is in US dollars, for all passengers; an offer in another currency has no price to compare and is
 *   left out by it.
 */
export function filterOffers(offers: readonly Offer[], filters: OfferFilters): Offer[] {
  const { max_stops: stops, departure_after: after, departure_before: before, max_price: price } = filters;
  const most = price === undefined ? undefined : atomicAmount(price);
  return offers.filter(
    (offer) =>
      (stops === undefined || offer.slices.every((slice) => slice.stops <= stops)) &&
      (after === undefined || departureTime(offer) >= after) &&
      (before === undefined || departureTime(offer) <= before) &&
      (most === undefined || (offer.total_currency === CURRENCY && offer.total_amount <= most)),
  );
}

/** `HH:MM` on the clock of the airport of departure. */
const departureTime = (offer: Offer): string => offer.departing_at.slice(11, 16);

const atomicAmount = (price: number | string): number =>
  typeof price === 'string' ? Number(parseUsdc(price)) : Math.round(price * 1_000_000);

/**
 * A sorted copy, ascending: by total price, by time under way (all directions together), by departure, or by
 * emissions. What is unknown comes last, as do prices in another currency than US dollars; ties go by price, then by
 * offer id, so that the order is total.
 */
export function sortOffers(offers: readonly Offer[], sort: OfferSort): Offer[] {
  const rank = RANKS[sort];
  return offers
    .map((offer) => ({ offer, rank: rank(offer) }))
    .sort((a, b) => compare(a.rank, b.rank) || byPrice(a.offer, b.offer))
    .map(({ offer }) => offer);
}

const RANKS: Record<OfferSort, (offer: Offer) => number | string> = {
  price: () => 0,
  duration: (offer) => offer.slices.reduce((sum, slice) => sum + minutesOf(slice.duration), 0),
  // All offers of a search leave from one airport, so local times compare.
  departure: (offer) => offer.departing_at,
  emissions: (offer) => offer.total_emissions_kg ?? Number.POSITIVE_INFINITY,
};

/** Cheapest first; a total order. */
export const byPrice = (a: Offer, b: Offer): number =>
  compare(Number(a.total_currency !== CURRENCY), Number(b.total_currency !== CURRENCY)) ||
  compare(a.total_amount, b.total_amount) ||
  compare(a.offer_id, b.offer_id);

const compare = <T extends number | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** Minutes of an ISO 8601 duration such as `P1DT2H5M`. */
export function minutesOf(duration: string): number {
  const [, days, hours, minutes] = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?$/.exec(duration) ?? [];
  return Number(days ?? 0) * 1440 + Number(hours ?? 0) * 60 + Number(minutes ?? 0);
}
