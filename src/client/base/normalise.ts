import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import type * as flights from '../../wire/flights/index.ts';
import fields from './answer-fields.json' with { type: 'json' };
import { isRecord } from './transport.ts';
import type { KnownOrder } from './types.ts';

/**
 * Reads answers of our services and of other deployments (CONTRACT, section 9): envelopes, `id`, flat escrow fields,
 * `airline_order_id`. Checks only the required fields, since a whole schema would cost more than the call.
 */
type Wire = Record<string, unknown>;

/** The one cast at the wire, after the used fields were checked. */
const as = <T>(wire: Wire): T => wire as T;

/** Adds missing fields at the end: the tool prints a record in the order of its fields. */
const completed = (wire: Wire, defaults: Wire): Wire => ({
  ...wire,
  ...Object.fromEntries(Object.entries(defaults).filter(([name]) => wire[name] === undefined)),
});

/** Unwraps a record into our services' form. */
function opened(body: unknown, envelope: string): Wire {
  if (!isRecord(body)) throw unexpected('an object');
  const inner = body[envelope];
  return plain(isRecord(inner) ? { ...body, ...inner } : body);
}

export function searchOf(body: unknown): flights.SearchResponse {
  const search = offersOf(body);
  return as(completed(search, { request_id: '', status: 'complete', total_offers: search.offers.length }));
}

export function searchUpdatesOf(body: unknown, searchId: string, cursor: string): flights.SearchUpdatesResponse {
  const search = completed(offersOf(body), { search_id: searchId, cursor });
  return as({ ...search, status: text(search.status, 'status') });
}

function offersOf(body: unknown) {
  const search = opened(body, 'search');
  if (!Array.isArray(search.offers)) throw unexpected('offers');
  return { ...search, offers: search.offers.map(offerOf) };
}

export function offerDetailsOf(body: unknown): flights.OfferDetailsResponse {
  const wire = opened(body, 'offer_details');
  return as({ available_services: [], ...wire, offer: offerOf(wire.offer ?? wire) });
}

function offerOf(value: unknown): Wire {
  if (!isRecord(value)) throw unexpected('an offer');
  const id = value.offer_id ?? value.id;
  if (typeof id !== 'string') throw unexpected('offer_id');
  return value.offer_id === id ? value : { ...value, offer_id: id };
}

export function intentOf(body: unknown): flights.Intent {
  const wire = opened(body, 'intent');
  const status = text(wire.status, 'status');
  const { id: _, intent: __, ...rest } = wire;
  return as({
    ...completed(rest, NOT_YET),
    intent_id: text(intentIdIn(body), 'intent_id'),
    status,
    refund_wallet: wire.refund_wallet ?? wire.funding_wallet,
    escrow: escrowOf(wire),
    order_id: wire.order_id ?? wire.airline_order_id ?? null,
  });
}

/** The id of the answer's intent. */
export function intentIdIn(body: unknown): string | null {
  if (!isRecord(body)) return null;
  const inner = isRecord(body.intent) ? body.intent : {};
  const id = inner.intent_id ?? inner.id ?? body.intent_id ?? body.id;
  return typeof id === 'string' && id !== '' ? id : null;
}

const NOT_YET = {
  passenger_count: 1,
  fee_amount: 0,
  booking_requested_at: null,
  ticketed_at: null,
  captured_at: null,
  capture_tx_hash: null,
  refund_reason: null,
  refunded_at: null,
  refund_tx_hash: null,
  refund_request: null,
  operator_review_since: null,
  booking_held_up_by: null,
};

/** Empty texts mean unknown, and are compared with nothing. */
function escrowOf(wire: Wire): Wire {
  const nested = isRecord(wire.escrow) ? wire.escrow : {};
  const mint = nested.mint ?? wire.expected_escrow_mint;
  return {
    ...nested,
    address: text(nested.address ?? wire.escrow_address, 'escrow.address'),
    vault_address: nested.vault_address ?? wire.vault_address ?? '',
    mint: text(mint, 'escrow.mint'),
    amount: atomicOf(nested.amount ?? wire.expected_escrow_amount),
    program_id: nested.program_id ?? wire.escrow_program_id ?? '',
    refund_after: String(nested.refund_after ?? wire.refund_after ?? ''),
    observed_amount: numberOf(nested.observed_amount ?? wire.observed_escrow_amount),
  };
}

/** Reads atomic units: a number, digits, or a decimal string with a point. */
function atomicOf(value: unknown): number {
  if (typeof value === 'string' && /^\d+\.\d{1,6}$/.test(value)) return Number(parseUsdc(value));
  const amount = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount < 0) throw unexpected('escrow.amount');
  return amount;
}

export function createdIntentOf(body: unknown): flights.CreatedIntent {
  const code = supportCodeIn(body);
  if (code === null) throw unexpected('customer_support_code');
  return { ...intentOf(body), customer_support_code: code };
}

/** Finds the support code, also beside the envelope. */
export function supportCodeIn(body: unknown): string | null {
  if (!isRecord(body)) return null;
  const inner = isRecord(body.intent) ? body.intent : {};
  const code = inner.customer_support_code ?? body.customer_support_code;
  return typeof code === 'string' && code !== '' ? code : null;
}

export function bookOf(body: unknown, intentId: string): flights.BookResponse {
  const wire = opened(body, 'intent');
  const booking = isRecord(wire.booking) ? wire.booking : {};
  return as({
    intent_id: intentId,
    status: 'active',
    poll_after_ms: 2_000,
    ...pick(wire, ['status', 'poll_after_ms']),
    booking: {
      state: 'queued',
      requested_at: booking.requested_at ?? wire.booking_requested_at ?? wire.updated_at ?? '',
    },
  });
}

/** Checks an answer of POST /air/book. @throws Problem `unexpected_answer` */
export function queuedOf(body: unknown): void {
  const wire = opened(body, 'intent');
  const isOne = isRecord(wire.booking) || wire.booking_requested_at != null || intentIdIn(body) !== null;
  if (!isOne) throw unexpected('booking');
}

/** Reads an order, with missing fields and status as unknown (OrderStatus). */
export function orderOf(body: unknown): KnownOrder {
  const wire = opened(body, 'order');
  const { order: _, id, ...rest } = wire;
  const { documents, slices } = wire;
  return as({
    ...completed(rest, { booking_reference: null, passenger_count: null }),
    documents: Array.isArray(documents) ? documents.filter(isRecord) : [],
    slices: Array.isArray(slices) ? slices.filter(isSlice) : [],
    order_id: text(wire.order_id ?? wire.airline_order_id ?? id, 'order_id'),
    status: orderStatusOf(wire),
    total_amount_decimal: decimalOf(wire.total_amount_decimal ?? wire.total_amount),
    total_currency: wire.total_currency ?? wire.currency ?? null,
  });
}

const isSlice = (slice: unknown): boolean =>
  isRecord(slice) && typeof slice.departing_at === 'string' && Array.isArray(slice.segments);

/** Other deployments give document counts and an awaited payment instead of a status. */
function orderStatusOf({ status, documents, documents_issued: issued, awaiting_payment }: Wire): string {
  if (typeof status === 'string' && status !== '') return status;
  const isIssued = Array.isArray(issued) ? issued.length > 0 : flagOf(issued) || (numberOf(issued) ?? 0) > 0;
  if (isIssued || (Array.isArray(documents) && documents.length > 0)) return 'ticketed';
  return flagOf(awaiting_payment) ? 'pending' : 'unknown';
}

/** Reads a decimal amount; null if it is none. As no ticket costs a million, larger numbers are atomic units. */
function decimalOf(value: unknown): string | null {
  const amount = numberOf(value);
  if (amount === null || amount < 0) return null;
  return Number.isInteger(amount) && amount >= 1_000_000 ? formatUsdc(BigInt(amount)) : String(value);
}

/** Checks an answer of POST /air/refund-requests. */
export function receivedOf(body: unknown): void {
  const wire = opened(body, 'refund_request');
  const isOne = wire.status === 'received' || wire.requested_at != null || wire.intent_id != null;
  if (!isOne) throw unexpected('requested_at');
}

export function refundRequestOf(body: unknown, intentId: string): flights.RefundRequestResponse {
  const wire = opened(body, 'refund_request');
  return as({ intent_id: intentId, status: 'received', requested_at: wire.requested_at ?? wire.created_at ?? '' });
}

export function healthOf(body: unknown): flights.Health {
  if (!isRecord(body)) throw unexpected('an object');
  return as({ service: '', version: '', time: '', ...body, status: text(body.status, 'status') });
}

export function affiliateOf(body: unknown): flights.Affiliate {
  const wire = opened(body, 'affiliate');
  return as({ ...wire, code: text(wire.code, 'code'), wallet: text(wire.wallet, 'wallet') });
}

export function affiliateCreditOf(body: unknown): flights.AffiliateCredit {
  const wire = opened(body, 'affiliate');
  return as({
    ...completed(wire, { bookings_count: 0, owed_amount: 0, owed_amount_decimal: '0.00' }),
    code: text(wire.code, 'code'),
    pending_amount_decimal: text(wire.pending_amount_decimal, 'pending_amount_decimal'),
    paid_amount_decimal: text(wire.paid_amount_decimal, 'paid_amount_decimal'),
  });
}

const pick = (wire: Wire, names: readonly string[]): Wire =>
  Object.fromEntries(names.filter((name) => wire[name] !== undefined).map((name) => [name, wire[name]]));

function text(value: unknown, name: string): string {
  if (typeof value !== 'string' || value === '') throw unexpected(name);
  return value;
}

const unexpected = (what: string) =>
  problem('unexpected_answer', { message: `The service answered without ${what}.`, detail: { missing: what } });

/**
 * Converts known fields of other deployments to our form (CONTRACT, section 9): their numbers may be texts, their
 * amounts numbers, and an empty text means nothing. Other fields stay, uncopied.
 */
function plain<T>(value: T): T;

function plain(value: unknown): unknown {
  if (Array.isArray(value)) {
    const read = value.map((one) => plain(one));
    return read.some((one, index) => one !== value[index]) ? read : value;
  }
  if (!isRecord(value)) return value;
  let read: Record<string, unknown> | null = null;
  for (const name in value) {
    const field = fieldOf(name, value[name]);
    // JSON may have this name, but assigning it would set the prototype.
    if (field === value[name] || name === '__proto__') continue;
    read ??= { ...value };
    read[name] = field;
  }
  return read ?? value;
}

const NUMBERS: ReadonlySet<string> = new Set(fields.numbers);
const FLAGS: ReadonlySet<string> = new Set(fields.flags);
/** Fields that may be undisclosed or missing. */
const OPTIONAL: ReadonlySet<string> = new Set(fields.optional);

const isDecimal = (name: string): boolean => /(_decimal|_penalty_amount)$/.test(name);

function fieldOf(name: string, value: unknown): unknown {
  if (NUMBERS.has(name)) return numberOf(value);
  if (FLAGS.has(name)) return flagOf(value);
  if (typeof value === 'number') return isDecimal(name) ? String(value) : value;
  if (value === '' && OPTIONAL.has(name)) return null;
  return plain(value);
}

function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !/^-?\d+(\.\d+)?$/.test(value.trim())) return null;
  return Number(value);
}

function flagOf(value: unknown): boolean | null {
  if (value === true || value === 'true') return true;
  return value === false || value === 'false' ? false : null;
}
