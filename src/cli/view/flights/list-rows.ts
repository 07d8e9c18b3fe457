import type { Offer, SearchResponse } from '../../../wire/flights/index.ts';
import { fareFamilies, fareOfOffer } from './fares.ts';
import type { NumberedFare } from './search-columns.ts';

/** An itinerary of a list, with those of its fares that are shown. */
export interface ListRow {
  readonly offer: Offer;
  readonly fares: readonly NumberedFare[];
  /** Pricier fares like those, from other sellers. */
  readonly sameForMore: number;
}

export const rowsOf = (offers: readonly Offer[], grouped: boolean): ListRow[] =>
  offers.map((offer, index) => {
    const { fares, sameForMore } = grouped
      ? fareFamilies(offer)
      : { fares: [fareOfOffer(offer)], sameForMore: 0 };
    const numbered = fares.map((fare, family) => ({
      ...fare,
      number: family === 0 ? `${index + 1}` : `${index + 1}.${family + 1}`,
    }));
    return { offer, fares: numbered, sameForMore };
  });

/** The offers that `1` and `1.2` on the screen stand for, so that nobody needs to copy an id. */
export const numberedOffers = (response: SearchResponse, grouped: boolean): Record<string, string> =>
  Object.fromEntries(
    rowsOf(response.offers, grouped).flatMap(({ fares }) =>
      fares.map(({ number, offerId }) => [number, offerId]),
    ),
  );
