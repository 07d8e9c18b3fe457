import type { Updateable } from 'kysely';
import { instant } from '../../kernel/clock.ts';
import type { Bags } from '../../kernel/domain/bags.ts';
import type { Part } from '../../kernel/domain/part-refunds.ts';
import type { WantedSeat } from '../../kernel/domain/seats.ts';
import { agesOf } from '../../kernel/domain/travel-ages.ts';
import { atomic, formatUsdc } from '../../kernel/money.ts';
import { isProblemCode, problem } from '../../kernel/problems.ts';
import type { Intent, Offer, Order } from '../../wire/flights/index.ts';
import type { FlightsPorts } from './ports.ts';
import type { BookingRow, IntentRow, IntentTable, RefundRequestRow, Store } from './tables.ts';

export const instantOrNull = (ms: number | null): string | null => (ms === null ? null : instant(ms));

export const intentOf = (on: Store, intentId: string): Promise<IntentRow> =>
  on.selectFrom('intents').selectAll().where('intent_id', '=', intentId).executeTakeFirstOrThrow();

export const bookingOf = (on: Store, intentId: string): Promise<BookingRow | undefined> =>
  on.selectFrom('bookings').selectAll().where('intent_id', '=', intentId).executeTakeFirst();

export const changeIntent = (on: Store, intentId: string, change: Updateable<IntentTable>) =>
  on.updateTable('intents').set(change).where('intent_id', '=', intentId).execute();

export const requestOf = (on: Store, requestId: string): Promise<RefundRequestRow> =>
  on.selectFrom('refund_requests').selectAll().where('request_id', '=', requestId).executeTakeFirstOrThrow();

export type KeptOrder = NonNullable<Awaited<ReturnType<typeof orderOf>>>;

export const orderOf = (on: Store, intentId: string) =>
  orders(on).where('orders.intent_id', '=', intentId).executeTakeFirst();

/** Finds an order by its own id, once its intent is booked or refunded. */
export const shownOrder = (on: Store, orderId: string) =>
  orders(on)
    .where('orders.order_id', '=', orderId)
    .where('intents.status', 'in', ['booked', 'refunded'])
    .executeTakeFirst();

const orders = (on: Store) =>
  on
    .selectFrom('orders')
    .innerJoin('intents', 'intents.intent_id', 'orders.intent_id')
    .selectAll('orders')
    .select(['intents.status', 'intents.passenger_count', 'intents.support_code_hmac']);

/** The airline's booking reference in an order's document, or null. */
export const referenceIn = (document: string | null | undefined): string | null =>
  document ? (JSON.parse(document) as Order).booking_reference : null;

export const lockedOffer = (row: Pick<IntentRow, 'offer'>): Offer => JSON.parse(row.offer) as Offer;

/** Bags for each traveller, and the price of the bought ones (atomic units, all travellers). */
export interface LockedBags extends Bags {
  readonly amount: number;
}

export const lockedBags = ({ bags }: Pick<IntentRow, 'bags'>): LockedBags | null =>
  bags == null ? null : (JSON.parse(bags) as LockedBags);

/** Chosen seats, each with its price and terms, and their total (atomic units). */
export interface LockedSeats {
  readonly amount: number;
  readonly chosen: readonly (WantedSeat & { readonly amount: number; readonly disclosures: readonly string[] })[];
}

export const lockedSeats = ({ seats }: Pick<IntentRow, 'seats'>): LockedSeats | null =>
  seats == null ? null : (JSON.parse(seats) as LockedSeats);

/** Returns a request's travellers, or null for all travellers of a booking without refunds. */
export const partOf = ({ passengers }: Pick<RefundRequestRow, 'passengers'>): Part | null =>
  passengers === null ? null : (JSON.parse(passengers) as Part);

/** Numbers of a request's travellers; empty where `partOf` is null. */
export const passengersIn = (row: Pick<RefundRequestRow, 'passengers'>): number[] =>
  partOf(row)?.of.map(({ passenger }) => passenger) ?? [];

/** True if the booking goes on for other travellers after the refund. */
export const leavesOthers = (row: Pick<RefundRequestRow, 'passengers'>): boolean => partOf(row)?.ends === false;

/** Subject of a request's cancellation and pay-out in the effect log and on chain, formed as by `partSubject`. */
export const subjectOf = (row: Pick<RefundRequestRow, 'intent_id' | 'passengers'>): string =>
  leavesOthers(row) ? `${row.intent_id}:${passengersIn(row).join(',')}` : row.intent_id;

/** Paid refunds after which the booking went on for other travellers, oldest first. */
export async function partsRefunded(on: Store, intentId: string): Promise<RefundRequestRow[]> {
  const paid = await on
    .selectFrom('refund_requests')
    .selectAll()
    .where('intent_id', '=', intentId)
    .where('state', '=', 'refunded')
    .where('passengers', 'is not', null)
    .orderBy('requested_at_ms')
    .execute();
  return paid.filter(leavesOthers);
}

/** Finds an intent whose creation was paid, so that its customer knows it. @throws Problem `intent_not_found` */
export async function shownIntent(store: Store, intentId: string): Promise<IntentRow> {
  const row = await store
    .selectFrom('intents')
    .selectAll()
    .where('intent_id', '=', intentId)
    .where('opened_at_ms', 'is not', null)
    .where('abandoned', '=', 0)
    .executeTakeFirst();
  if (!row) throw problem('intent_not_found');
  return row;
}

/** Like `shownIntent`, with the state of its booking, if any, in one query. @throws Problem `intent_not_found` */
export async function intentToBook(store: Store, intentId: string) {
  const row = await store
    .selectFrom('intents')
    .leftJoin('bookings', 'bookings.intent_id', 'intents.intent_id')
    .selectAll('intents')
    .select(['bookings.state as booking_state', 'bookings.refund_reason as booking_reason'])
    .where('intents.intent_id', '=', intentId)
    .where('opened_at_ms', 'is not', null)
    .where('abandoned', '=', 0)
    .executeTakeFirst();
  if (!row) throw problem('intent_not_found');
  const { booking_state: state, booking_reason, ...intent } = row;
  return { intent, booking: state === null ? undefined : { state, refund_reason: booking_reason } };
}

interface IntentFacts {
  readonly request?: RefundRequestRow | undefined;
  /** Refunds of some of its travellers. */
  readonly parts?: readonly RefundRequestRow[] | undefined;
  /** Undefined if the caller has not proved the support code, or the booking is for one traveller. */
  readonly travellers?: Intent['passengers'];
  /** Undefined if the caller has not proved the support code. */
  readonly rejectionReason?: string | null | undefined;
  readonly bookingReference?: string | null | undefined;
  readonly booking?: Pick<BookingRow, 'state' | 'updated_at_ms' | 'last_error'> | undefined;
  readonly order?: Pick<KeptOrder, 'changed_at_ms' | 'cancelled_by'> | undefined;
}

/** The intent as the wire shows it (CONTRACT, section 5): no personal data, no support code. */
export function intentRecord(
  row: IntentRow,
  observedAmount: number | null,
  { request, parts = [], travellers, rejectionReason, bookingReference, booking, order }: IntentFacts = {},
): Intent {
  const offer = lockedOffer(row);
  const ages = agesOf(offer);
  return {
    intent_id: row.intent_id,
    status: row.status,
    offer_id: row.offer_id,
    passenger_count: row.passenger_count,
    ...(ages && { passenger_ages: { on: ages.on, ages: [...ages.seats] } }),
    funding_wallet: row.funding_wallet,
    refund_wallet: row.refund_wallet,
    ...(row.referrer === null ? {} : { referrer: row.referrer }),
    escrow: {
      address: row.escrow_address,
      vault_address: row.vault_address,
      mint: row.mint,
      amount: row.amount,
      program_id: row.program_id,
      refund_after: instant(row.refund_after_ms),
      observed_amount: observedAmount,
      ...(row.escrow_kind === 'authorized' && { kind: row.escrow_kind }),
    },
    expected_ticket_amount: row.amount,
    expected_ticket_amount_decimal: formatUsdc(atomic(row.amount)),
    expected_ticket_currency: offer.total_currency,
    fee_amount: row.fee_amount,
    ...shownBags(lockedBags(row)),
    ...shownSeats(lockedSeats(row)),
    order_id: row.order_id,
    booking_requested_at: instantOrNull(row.booking_requested_at_ms),
    ticketed_at: instantOrNull(row.ticketed_at_ms),
    captured_at: instantOrNull(row.captured_at_ms),
    capture_tx_hash: row.capture_tx_hash,
    refund_reason: row.refund_reason,
    refunded_at: instantOrNull(row.refunded_at_ms),
    refund_tx_hash: row.refund_tx_hash,
    refund_request: request
      ? {
          state: requestState(request),
          requested_at: instant(request.requested_at_ms),
          decided_at: instantOrNull(request.decided_at_ms),
          payout_amount: request.payout_amount,
          payout_tx_hash: request.payout_tx_hash,
          cancelled_by: order?.cancelled_by ?? null,
          ...(request.passengers !== null && { passengers: passengersIn(request) }),
        }
      : null,
    ...(parts.length > 0 && { passenger_refunds: parts.map(partRefund) }),
    ...(travellers && { passengers: travellers }),
    ...(rejectionReason === undefined ? {} : { refund_rejection_reason: rejectionReason }),
    ...(bookingReference === undefined ? {} : { booking_reference: bookingReference }),
    ...(order?.changed_at_ms == null ? {} : { order_changed_at: instant(order.changed_at_ms) }),
    ...(order?.cancelled_by == null ? {} : { cancelled_by: order.cancelled_by }),
    operator_review_since: booking?.state === 'stuck' ? instant(booking.updated_at_ms) : null,
    booking_held_up_by: heldUpBy(booking),
    expires_at: instant(row.expires_at_ms),
    created_at: instant(row.created_at_ms),
    updated_at: instant(row.updated_at_ms),
  };
}

const partRefund = (row: RefundRequestRow): NonNullable<Intent['passenger_refunds']>[number] => ({
  passengers: passengersIn(row),
  decided_at: instantOrNull(row.decided_at_ms),
  payout_amount: row.payout_amount ?? 0,
  payout_tx_hash: row.payout_tx_hash,
});

function shownBags(bags: LockedBags | null): Pick<Intent, 'bags'> {
  if (!bags) return {};
  const { checked, carry_on, amount } = bags;
  return { bags: { checked, carry_on, total_amount: amount, total_amount_decimal: formatUsdc(atomic(amount)) } };
}

function shownSeats(seats: LockedSeats | null): Pick<Intent, 'seats'> {
  if (!seats) return {};
  const chosen = seats.chosen.map(({ amount, disclosures, ...seat }) => ({
    ...seat,
    total_amount_decimal: formatUsdc(atomic(amount)),
    ...(disclosures.length > 0 && { disclosures: [...disclosures] }),
  }));
  return { seats: { total_amount: seats.amount, total_amount_decimal: formatUsdc(atomic(seats.amount)), chosen } };
}

/** Code of the failure after which a booking is retried. The name of an error without a code is only for the log. */
function heldUpBy(booking: IntentFacts['booking']): string | null {
  const code = booking?.last_error ?? null;
  if (code === null || booking?.state === 'stuck') return null;
  return isProblemCode(code) ? code : 'internal_error';
}

function requestState({ state, claimed_by }: RefundRequestRow): NonNullable<Intent['refund_request']>['state'] {
  if (state === 'refunded') return 'paid';
  if (state === 'rejected') return 'rejected';
  if (state === 'received') return claimed_by === null ? 'received' : 'claimed';
  // A stuck request was approved, and is still to be paid.
  return 'approved';
}

export const latestRequest = (store: Store, intentId: string): Promise<RefundRequestRow | undefined> =>
  store
    .selectFrom('refund_requests')
    .selectAll()
    .where('intent_id', '=', intentId)
    .where('state', '<>', 'settling')
    .orderBy('requested_at_ms', 'desc')
    .limit(1)
    .executeTakeFirst();

/** Place that binds an operator's sealed words to the row of their request. */
export const decisionPlace = (requestId: string): string => `refund_requests.decision_sealed.${requestId}`;

/** The reason in the mail that rejected a request; null without a rejection, or once purged. */
export function rejectionReason(secrets: FlightsPorts['secrets'], row: RefundRequestRow | undefined): string | null {
  if (row?.state !== 'rejected' || !row.decision_sealed) return null;
  return secrets.decrypt(decisionPlace(row.request_id), row.decision_sealed);
}
