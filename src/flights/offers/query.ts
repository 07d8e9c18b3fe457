import type { OfferQuery } from '../../airlines/provider.ts';
import type { SearchRequest } from '../../wire/flights/index.ts';

/** A search request in the terms of a provider. */
export const queryOf = (request: SearchRequest): OfferQuery => ({
  origin: request.origin_iata,
  destination: request.destination_iata,
  departDate: request.depart_date,
  returnDate: request.return_date,
  adults: request.adults,
  cabinClass: request.cabin_class,
});
