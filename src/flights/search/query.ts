import type { OfferQuery } from '../providers/provider.ts';
import type { SearchRequest } from '../wire.ts';

/** What a search asks of a tier. */
export const queryOf = (request: SearchRequest): OfferQuery => ({
  origin: request.origin_iata,
  destination: request.destination_iata,
  departDate: request.depart_date,
  returnDate: request.return_date,
  adults: request.adults,
  cabinClass: request.cabin_class,
});
