import { type OfferSort, sortOffers } from '../../../kernel/domain/offer-order.ts';
import type { StepKey } from '../../../terminal/index.ts';
import { airlineText, type ListRow, type NumberedFare, stopsText } from '../../view/flights/index.ts';

/** How a person has arranged the list of flights. It stays so when they come back to it. */
export interface Arrangement {
  sort: OfferSort;
  isDirect: boolean;
  hasBag: boolean;
  isRefundable: boolean;
  text: string;
}

export const asFound = (): Arrangement => ({
  sort: 'price',
  isDirect: false,
  hasBag: false,
  isRefundable: false,
  text: '',
});

/** In the order that the key goes through. */
const SORTS: readonly (readonly [OfferSort, string])[] = [
  ['price', 'price'],
  ['duration', 'duration'],
  ['departure', 'departure'],
  ['emissions', 'CO2'],
];

/** The itineraries that suit, sorted, each with the first of its fares that does. */
export function arranged(rows: readonly ListRow[], arrangement: Arrangement): ListRow[] {
  const suiting = rows.flatMap((row) => {
    const fare = row.fares.find((one) => suits(row, one, arrangement));
    return fare ? [{ offer: row.offer, fares: [fare], sameForMore: 0, ...orderOf(row, fare) }] : [];
  });
  return sortOffers(suiting, arrangement.sort);
}

function suits({ offer }: ListRow, fare: NumberedFare, asked: Arrangement): boolean {
  if (asked.isDirect && offer.slices.some((slice) => slice.stops > 0)) return false;
  if (asked.hasBag && !fare.bags) return false;
  if (asked.isRefundable && fare.refundable !== true) return false;
  const flights = offer.slices.flatMap((slice) => [
    airlineText(slice),
    stopsText(slice),
    ...slice.segments.flatMap((one) => [one.marketing_carrier_name, one.carrier_name, one.flight_number]),
  ]);
  const text = plain([...flights, fare.brand, fare.seller].join(' '));
  return plain(asked.text)
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Without case and accents. */
const plain = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trim();

/** What a list is sorted by: of the fare that is shown, which may not be the cheapest. */
const orderOf = ({ offer }: ListRow, fare: NumberedFare) => ({
  offer_id: fare.offerId,
  departing_at: offer.departing_at,
  slices: offer.slices,
  total_amount: Number(fare.price),
  total_currency: fare.currency,
  total_emissions_kg: offer.total_emissions_kg,
});

/** The keys that arrange a list. */
export function arrangementKeys(arrangement: Arrangement): StepKey[] {
  const filter = (key: string, name: string, field: 'isDirect' | 'hasBag' | 'isRefundable'): StepKey => ({
    key,
    label: () => (arrangement[field] ? `${name}: on` : name),
    press() {
      arrangement[field] = !arrangement[field];
    },
  });
  const at = () => SORTS.findIndex(([sort]) => sort === arrangement.sort);
  return [
    {
      key: 's',
      label: () => `sort: ${SORTS[at()]?.[1]}`,
      press() {
        arrangement.sort = SORTS[(at() + 1) % SORTS.length]?.[0] ?? 'price';
      },
    },
    filter('d', 'direct only', 'isDirect'),
    filter('b', 'with a bag', 'hasBag'),
    filter('r', 'refundable', 'isRefundable'),
  ];
}
