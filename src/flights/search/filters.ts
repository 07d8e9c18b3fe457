import { PRICE_CURRENCY } from '../../domain/offer-order.ts';
import { parseUsdc } from '../../kernel/money.ts';
import type { Offer, SearchRequest } from '../wire.ts';

export { byPrice, minutesOf, type OfferSort, sortOffers } from '../../domain/offer-order.ts';

export type OfferFilters = Pick<
  SearchRequest,
  'max_stops' | 'departure_after' | 'departure_before' | 'max_price'
>;

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
      (most === undefined || (offer.total_currency === PRICE_CURRENCY && offer.total_amount <= most)),
  );
}

/** `HH:MM` on the clock of the airport of departure. */
const departureTime = (offer: Offer): string => offer.departing_at.slice(11, 16);

const atomicAmount = (price: number | string): number =>
  typeof price === 'string' ? Number(parseUsdc(price)) : Math.round(price * 1_000_000);
