import type { FareOption, Offer } from '../../../wire/flights/index.ts';

/** A fare as a line of the screen needs it: from an ungrouped offer, or from an option of a grouped one. */
export interface Fare {
  readonly offerId: string;
  readonly brand: string | null;
  readonly bags: number | null;
  readonly refundable: boolean | null;
  readonly changeable: boolean | null;
  readonly price: string;
  readonly currency: string;
  readonly seller: string;
  /** True when an airline that flies it sells it. */
  readonly isAirlines: boolean;
}

const fareOfOption = (offer: Offer, option: FareOption): Fare => ({
  offerId: option.offer_id,
  brand: option.fare_brand_name,
  bags: option.checked_bags_included,
  refundable: option.refundable,
  changeable: option.changeable,
  price: option.total_amount_decimal,
  currency: option.total_currency,
  seller: option.owner_name,
  isAirlines: flies(offer, option.owner_name),
});

export const fareOfOffer = (offer: Offer): Fare => ({
  offerId: offer.offer_id,
  brand: offer.fare_brand_name,
  bags: offer.checked_bags_included,
  refundable: offer.conditions?.refund_allowed ?? null,
  changeable: offer.conditions?.change_allowed ?? null,
  price: offer.total_amount_decimal,
  currency: offer.total_currency,
  seller: offer.owner_name,
  isAirlines: flies(offer, offer.owner_name),
});

const flies = ({ slices }: Offer, name: string): boolean =>
  slices.some(({ segments }) => segments.some((segment) => segment.marketing_carrier_name === name));

/**
 * The fares of an itinerary, one for each family: what a traveller can tell apart (brand, bags, conditions). The
 * service's own choice comes first, then the cheapest of each other family; the same family from pricier sellers is
 * only counted, for it gives nothing more. Prices are compared within one currency alone.
 */
export function fareFamilies(offer: Offer): { fares: Fare[]; sameForMore: number } {
  const all = (offer.fare_options ?? []).map((option) => fareOfOption(offer, option));
  const first = all.find((fare) => fare.offerId === offer.offer_id);
  if (!first) return { fares: [fareOfOffer(offer)], sameForMore: 0 };
  const foreign = (fare: Fare) => (fare.currency === first.currency ? 0 : 1);
  const sorted = all
    .filter((fare) => fare !== first)
    .toSorted((a, b) => foreign(a) - foreign(b) || Number(a.price) - Number(b.price));
  const families = new Map<string, Fare>();
  for (const fare of [first, ...sorted]) {
    const family = JSON.stringify([fare.currency, fare.brand, fare.bags, fare.refundable, fare.changeable]);
    if (!families.has(family)) families.set(family, fare);
  }
  return { fares: [...families.values()], sameForMore: all.length - families.size };
}

export const yesNo = (value: boolean | null): string => (value === null ? '–' : value ? 'yes' : 'no');

/** A fare of a list, with what a person types for it: `3`, or `3.2` for the second family of an itinerary. */
export type NumberedFare = Fare & { readonly number: string };

/** An itinerary of a list, with those of its fares that are shown. */
export interface ListRow {
  readonly offer: Offer;
  readonly fares: readonly NumberedFare[];
  /** Pricier fares like those, from other sellers. */
  readonly sameForMore: number;
}

export const rowsOf = (offers: readonly Offer[], grouped: boolean): ListRow[] =>
  offers.map((offer, index) => {
    const { fares, sameForMore } = grouped ? fareFamilies(offer) : { fares: [fareOfOffer(offer)], sameForMore: 0 };
    const numbered = fares.map((fare, family) => ({
      ...fare,
      number: family === 0 ? `${index + 1}` : `${index + 1}.${family + 1}`,
    }));
    return { offer, fares: numbered, sameForMore };
  });
