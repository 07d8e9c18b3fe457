import type { OfferQuery } from '../../src/airlines/provider.ts';

interface Wanted extends Partial<Pick<OfferQuery, 'adults' | 'childAges' | 'cabinClass'>> {
  readonly origin: string;
  readonly destination: string;
  readonly departDate: string;
  readonly returnDate?: string;
}

/** A query there and perhaps back. */
export function queryOf({ origin, destination, departDate, returnDate, ...more }: Wanted): OfferQuery {
  const there = { origin, destination, departDate };
  const back = returnDate === undefined ? [] : [{ origin: destination, destination: origin, departDate: returnDate }];
  return { slices: [there, ...back], adults: 1, childAges: [], cabinClass: 'economy', ...more };
}
