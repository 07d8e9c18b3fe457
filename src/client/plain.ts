import { isRecord } from './transport.ts';

/**
 * Other deployments write numbers as text, amounts as numbers, and nothing as an empty text (CONTRACT, section 9). Reads
 * the fields whose names are known here as our own services write them; everything else stays as it is, and is not copied.
 */
export function plain<T>(value: T): T;
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) {
    const read = value.map((one) => plain(one));
    return read.some((one, index) => one !== value[index]) ? read : value;
  }
  if (!isRecord(value)) return value;
  let read: [string, unknown][] | null = null;
  for (const [index, name] of Object.keys(value).entries()) {
    const field = fieldOf(name, value[name]);
    if (field !== value[name]) read ??= Object.entries(value).slice(0, index);
    read?.push([name, field]);
  }
  return read === null ? value : Object.fromEntries(read);
}

const NUMBERS: ReadonlySet<string> = new Set([
  'stops',
  'technical_stops',
  'checked_bags_included',
  'carry_on_bags_included',
  'total_emissions_kg',
  'fare_options_count',
  'maximum_weight_kg',
  'maximum_quantity',
  'fare_index',
  'passenger_count',
  'total_offers',
  'poll_after_ms',
]);

const FLAGS: ReadonlySet<string> = new Set([
  'change_allowed',
  'refund_allowed',
  'refundable',
  'changeable',
  'identity_documents_required',
  'requires_instant_payment',
]);

/** Fields that may be undisclosed, or not there yet. */
const OPTIONAL: ReadonlySet<string> = new Set([
  'operating_flight_number',
  'aircraft_name',
  'origin_terminal',
  'destination_terminal',
  'fare_basis_code',
  'fare_brand_name',
  'cabin_class_marketing_name',
  'base_amount_decimal',
  'tax_amount_decimal',
  'change_penalty_amount',
  'change_penalty_currency',
  'refund_penalty_amount',
  'refund_penalty_currency',
  'baggage_type',
  'booking_reference',
  'order_id',
  'airline_order_id',
  'booking_requested_at',
  'ticketed_at',
  'captured_at',
  'capture_tx_hash',
  'refund_reason',
  'refunded_at',
  'refund_tx_hash',
  'refund_wallet',
]);

const isDecimal = (name: string): boolean => /(_decimal|_penalty_amount)$/.test(name);

function fieldOf(name: string, value: unknown): unknown {
  if (NUMBERS.has(name)) return numberOf(value);
  if (FLAGS.has(name)) return flagOf(value);
  if (typeof value === 'number') return isDecimal(name) ? String(value) : value;
  if (value === '' && OPTIONAL.has(name)) return null;
  return plain(value);
}

/** null where it is no number. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !/^-?\d+(\.\d+)?$/.test(value.trim())) return null;
  return Number(value);
}

/** null where it is neither. */
export function flagOf(value: unknown): boolean | null {
  if (value === true || value === 'true') return true;
  return value === false || value === 'false' ? false : null;
}
