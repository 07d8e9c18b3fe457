import type { Bags } from '../../../kernel/domain/bags.ts';
import { counted } from '../../../terminal/index.ts';
import type { FareOption, Offer } from '../../../wire/flights/index.ts';
import { money } from '../index.ts';

/** A fare as a line of the screen needs it: from an ungrouped offer, or from an option of a grouped one. */
export interface Fare extends Omit<FareOption, `${string}_penalty_${string}`> {
  /** True if the seller is an airline that flies it. */
  readonly isAirlines: boolean;
  readonly needsPassports: boolean;
}

export const fareOfOffer = (offer: Offer): Fare => ({
  ...offer,
  refundable: offer.conditions?.refund_allowed ?? null,
  changeable: offer.conditions?.change_allowed ?? null,
  isAirlines: flies(offer, offer.owner_name),
  needsPassports: offer.identity_documents_required,
});

const flies = ({ slices }: Offer, name: string): boolean =>
  slices.some(({ segments }) => segments.some((segment) => segment.marketing_carrier_name === name));

/**
 * The fares of an itinerary, one for each family: what a traveller can tell apart (brand, bags, conditions). The
 * service's own choice comes first, then the cheapest of each other family. The same family from pricier sellers is
 * only counted. Prices are compared within one currency alone.
 */
export function fareFamilies(offer: Offer): { fares: Fare[]; sameForMore: number } {
  const options = offer.fare_options ?? [];
  const all = options.map(
    (option): Fare => ({
      ...option,
      isAirlines: flies(offer, option.owner_name),
      needsPassports: isLowcost(option) || (option.offer_id === offer.offer_id && offer.identity_documents_required),
    }),
  );
  const first = all.find((fare) => fare.offer_id === offer.offer_id);
  if (!first) return { fares: [fareOfOffer(offer)], sameForMore: 0 };
  const foreign = (fare: Fare) => (fare.total_currency === first.total_currency ? 0 : 1);
  const sorted = all
    .filter((fare) => fare !== first)
    .toSorted((a, b) => foreign(a) - foreign(b) || rankOf(a) - rankOf(b));
  const families = new Map<string, Fare>();
  for (const fare of [first, ...sorted]) {
    const { total_currency, fare_brand_name, checked_bags_included, refundable, changeable } = fare;
    const family = JSON.stringify([total_currency, fare_brand_name, checked_bags_included, refundable, changeable]);
    if (!families.has(family)) families.set(family, fare);
  }
  return { fares: [...families.values()], sameForMore: all.length - families.size };
}

const rankOf = (fare: PricedFare): number => Number(priceShown(fare) ?? Infinity);

type PricedFare = Pick<Fare, 'total_amount_decimal' | 'with_bags'>;

/** The price, with the bags of the search if it had some; null if the seller does not disclose it. */
export const priceShown = ({ total_amount_decimal, with_bags }: PricedFare): string | null =>
  with_bags ? with_bags.total_amount_decimal : total_amount_decimal;

/** The included bags of a fare or, in a search with bags, what they add to its price. */
export const bagsText = ({ checked_bags_included, with_bags }: Pick<Fare, 'checked_bags_included' | 'with_bags'>) => {
  if (!with_bags) return String(checked_bags_included ?? '–');
  if (with_bags.way === 'unknown') return '–';
  return with_bags.way === 'service' ? `+${money(with_bags.bags_amount_decimal ?? '0')}` : 'incl';
};

/** `1 bag and a cabin bag each` */
export const eachText = ({ checked, carry_on }: Bags): string =>
  `${[...(checked > 0 ? [counted(checked, 'bag')] : []), ...(carry_on > 0 ? ['a cabin bag'] : [])].join(' and ')} each`;

export const isLowcost = ({ offer_id }: Pick<Fare, 'offer_id'>): boolean => offer_id.startsWith('lowcost:');

/** `Basic`, or `low-cost†`: the mark says that the fare needs passports. */
export const brandText = (fare: Fare): string =>
  `${fare.fare_brand_name ?? (isLowcost(fare) ? 'low-cost' : '–')}${fare.needsPassports ? '†' : ''}`;

export const yesNo = (value: boolean | null): string => (value === null ? '–' : value ? 'yes' : 'no');

/** A fare of a list, with its number to type: `3`, or `3.2` for the second family of an itinerary. */
export type NumberedFare = Fare & { readonly number: string };

/** An itinerary of a list, with the fares that are shown. */
export interface ListRow {
  readonly offer: Offer;
  readonly fares: readonly NumberedFare[];
  /** Number of pricier fares of these families, from other sellers. */
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
