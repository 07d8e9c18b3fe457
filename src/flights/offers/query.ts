import type { OfferQuery } from '../../airlines/index.ts';
import { PRICE_CURRENCY } from '../../kernel/domain/offers.ts';
import { parseUsdc } from '../../kernel/money.ts';
import type { Offer, SearchRequest } from '../../wire/flights/index.ts';

/** A search request in the terms of a provider. */
export const queryOf = (request: SearchRequest): OfferQuery => ({
  origin: request.origin_iata,
  destination: request.destination_iata,
  departDate: request.depart_date,
  returnDate: request.return_date,
  adults: request.adults,
  cabinClass: request.cabin_class,
});

/** Grouping is shared with the tool, which groups what arrives after the first answer. */
export { byPrice, groupByItinerary, minutesOf, type OfferSort, sortOffers } from '../../kernel/domain/offers.ts';

export type OfferFilters = Pick<SearchRequest, 'max_stops' | 'departure_after' | 'departure_before' | 'max_price'>;

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
export const filterOffers = (offers: readonly Offer[], filters: OfferFilters): Offer[] =>
  partedOffers(offers, filters).passed;

/** The same, with how many were left out for their currency alone. */
export function partedOffers(
  offers: readonly Offer[],
  filters: OfferFilters,
): { readonly passed: Offer[]; readonly otherCurrency: number } {
  const { max_stops: stops, departure_after: after, departure_before: before, max_price: price } = filters;
  const flown = offers.filter(
    (offer) =>
      (stops === undefined || offer.slices.every((slice) => slice.stops <= stops)) &&
      (after === undefined || departureTime(offer) >= after) &&
      (before === undefined || departureTime(offer) <= before),
  );
  if (price === undefined) return { passed: flown, otherCurrency: 0 };
  const comparable = flown.filter(({ total_currency: currency }) => currency === PRICE_CURRENCY);
  const most = atomicAmount(price);
  return {
    passed: comparable.filter(({ total_amount: total }) => total <= most),
    otherCurrency: flown.length - comparable.length,
  };
}

/** `HH:MM` on the clock of the airport of departure. */
const departureTime = (offer: Offer): string => offer.departing_at.slice(11, 16);

const atomicAmount = (price: number | string): number =>
  typeof price === 'string' ? Number(parseUsdc(price)) : Math.round(price * 1_000_000);
