import { isRecord } from '../../terminal/index.ts';
import type { FareOption, MenuFare, Offer } from '../../wire/flights/index.ts';

const FIELDS = [
  'slices',
  'owner_name',
  'fare_brand_name',
  'cabin_class',
  'cabin_class_marketing_name',
  'checked_bags_included',
  'carry_on_bags_included',
  'conditions',
  'total_amount_decimal',
  'total_currency',
  'base_amount_decimal',
  'tax_amount_decimal',
  'identity_documents_required',
  'with_bags',
] as const satisfies readonly (keyof Offer)[];

/** A fare as a search or an offer showed it: enough to show again what is bought, before it is paid. */
export type KnownFare = Pick<Offer, (typeof FIELDS)[number]>;

export const fareOf = (offer: Offer): KnownFare =>
  Object.fromEntries(FIELDS.map((name) => [name, offer[name]])) as unknown as KnownFare;

/** Another fare of the same flights; what a list leaves out counts as undisclosed. */
export const fareOfOption = (offer: Offer, option: FareOption): KnownFare => ({
  ...otherFare(offer, option),
  owner_name: option.owner_name,
  cabin_class_marketing_name: null,
  carry_on_bags_included: null,
  conditions: {
    refund_allowed: option.refundable,
    refund_penalty_amount: option.refund_penalty_amount,
    refund_penalty_currency: option.refund_penalty_currency,
    change_allowed: option.changeable,
    change_penalty_amount: option.change_penalty_amount,
    change_penalty_currency: option.change_penalty_currency,
  },
});

/** A fare of a lowcost carrier's menu. */
export const fareOfMenu = (offer: Offer, fare: MenuFare): KnownFare => ({
  ...otherFare(offer, fare),
  carry_on_bags_included: fare.carry_on_bags_included,
  conditions: fare.conditions,
});

const otherFare = (offer: Offer, fare: FareOption | MenuFare): KnownFare => ({
  ...fareOf(offer),
  fare_brand_name: fare.fare_brand_name,
  checked_bags_included: fare.checked_bags_included,
  total_amount_decimal: fare.total_amount_decimal,
  total_currency: fare.total_currency,
  base_amount_decimal: null,
  tax_amount_decimal: null,
  with_bags: fare.with_bags,
});

/** A saved fare; null if an older version wrote it, or somebody edited it. */
export const keptFare = (value: unknown): KnownFare | null => (isKept(value) ? value : null);

const isKept = (value: unknown): value is KnownFare =>
  isRecord(value) &&
  Array.isArray(value.slices) &&
  value.slices.every((slice) => isRecord(slice) && Array.isArray(slice.segments) && slice.segments.every(isRecord)) &&
  (value.conditions === null || isRecord(value.conditions)) &&
  ['owner_name', 'cabin_class', 'total_amount_decimal', 'total_currency'].every(
    (name) => typeof value[name] === 'string',
  );
