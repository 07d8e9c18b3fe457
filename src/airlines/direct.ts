import { asInteger, formatUsdc } from '../kernel/money.ts';
import type { Offer, Segment, Slice } from '../wire/flights/index.ts';

/** Offers of carriers that sell only non-stop flights, in economy, on their own sites. */

/** Identifies a flight whatever the seller: `ZA123-LIS-BER-20261220`. */
export const flightKey = (
  number: string,
  { origin_iata, destination_iata, departing_at }: Pick<Slice, 'origin_iata' | 'destination_iata' | 'departing_at'>,
): string => `${number}-${origin_iata}-${destination_iata}-${departing_at.slice(0, 10).replaceAll('-', '')}`;

export const directSlice = (
  span: Omit<Slice, 'stops' | 'technical_stops' | 'fare_brand_name' | 'segments'>,
  flight: Omit<Segment, keyof typeof span | 'fare_basis_code' | 'technical_stops' | 'technical_stop_airports'>,
  brand: string | null,
): Slice => ({
  ...span,
  stops: 0,
  technical_stops: 0,
  fare_brand_name: brand,
  segments: [{ ...span, ...flight, fare_basis_code: null, technical_stops: 0, technical_stop_airports: [] }],
});

type Sold =
  | ('offer_id' | 'owner_name' | 'fare_brand_name' | 'checked_bags_included' | 'carry_on_bags_included')
  | ('conditions' | 'total_currency');

/** @param total in millionths of its currency */
export function directOffer(
  slices: readonly Slice[],
  sold: Pick<Offer, Sold> & { readonly total: bigint; readonly expiresAtMs: number },
): Offer {
  const [first] = slices;
  if (!first) throw new RangeError('an offer without flights');
  const { segments: _segments, fare_brand_name: _brand, ...journey } = first;
  return {
    offer_id: sold.offer_id,
    comparison_key: slices.map((slice) => flightKey(slice.segments[0]?.flight_number ?? '', slice)).join('~'),
    owner_name: sold.owner_name,
    ...journey,
    slices: [...slices],
    fare_brand_name: sold.fare_brand_name,
    cabin_class: 'economy',
    cabin_class_marketing_name: null,
    checked_bags_included: sold.checked_bags_included,
    carry_on_bags_included: sold.carry_on_bags_included,
    conditions: sold.conditions,
    total_amount: asInteger(sold.total),
    total_amount_decimal: formatUsdc(sold.total),
    total_currency: sold.total_currency,
    // Such sites show one total.
    base_amount_decimal: null,
    tax_amount_decimal: null,
    total_emissions_kg: null,
    supported_loyalty_programmes: [],
    identity_documents_required: true,
    requires_instant_payment: true,
    expires_at: new Date(sold.expiresAtMs).toISOString(),
  };
}
