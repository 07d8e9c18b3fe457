import type { Selectable } from 'kysely';
import { instant } from '../../kernel/clock.ts';
import { atomic, formatUsdc } from '../../kernel/money.ts';
import { isProblemCode, problem } from '../../kernel/problems.ts';
import type { Intent, Offer } from '../../wire/flights/index.ts';
import type { FlightsPorts } from './ports.ts';
import type { IntentRow, OrderTable, RefundRequestRow, Store } from './tables.ts';

const orNull = (ms: number | null): string | null => (ms === null ? null : instant(ms));

/** The intent as the wire shows it (CONTRACT, section 5): no personal data, no support code. */
export function intentRecord(
  row: IntentRow,
  observedAmount: number | null,
  {
    refundRequest = null,
    rejectionReason,
    booking = GOES_ON,
    orderChange,
  }: {
    refundRequest?: ReturnType<typeof refundRequestOf>;
    /** undefined: whoever asks has not proved the support code. */
    rejectionReason?: string | null | undefined;
    booking?: BookingWait;
    orderChange?: OrderChange | undefined;
  } = {},
): Intent {
  return {
    intent_id: row.intent_id,
    status: row.status,
    offer_id: row.offer_id,
    passenger_count: row.passenger_count,
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
    },
    expected_ticket_amount: row.amount,
    expected_ticket_amount_decimal: formatUsdc(atomic(row.amount)),
    expected_ticket_currency: lockedOffer(row).total_currency,
    fee_amount: row.fee_amount,
    order_id: row.order_id,
    booking_requested_at: orNull(row.booking_requested_at_ms),
    ticketed_at: orNull(row.ticketed_at_ms),
    captured_at: orNull(row.captured_at_ms),
    capture_tx_hash: row.capture_tx_hash,
    refund_reason: row.refund_reason,
    refunded_at: orNull(row.refunded_at_ms),
    refund_tx_hash: row.refund_tx_hash,
    refund_request: refundRequest && { ...refundRequest, cancelled_by: orderChange?.cancelled_by ?? null },
    ...(rejectionReason === undefined ? {} : { refund_rejection_reason: rejectionReason }),
    ...(orderChange?.changed_at_ms == null ? {} : { order_changed_at: instant(orderChange.changed_at_ms) }),
    ...(orderChange?.cancelled_by == null ? {} : { cancelled_by: orderChange.cancelled_by }),
    operator_review_since: orNull(booking.reviewSinceMs),
    booking_held_up_by: booking.heldUpBy,
    expires_at: instant(row.expires_at_ms),
    created_at: instant(row.created_at_ms),
    updated_at: instant(row.updated_at_ms),
  };
}

/** What the booking of an intent waits for. */
interface BookingWait {
  /** Since when a person decides (epoch ms). */
  readonly reviewSinceMs: number | null;
  /** The code of the failure after which it is tried again. */
  readonly heldUpBy: string | null;
}

const GOES_ON: BookingWait = { reviewSinceMs: null, heldUpBy: null };

export async function bookingWait(store: Store, intentId: string): Promise<BookingWait> {
  const row = await store
    .selectFrom('bookings')
    .select(['state', 'updated_at_ms', 'last_error'])
    .where('intent_id', '=', intentId)
    .executeTakeFirst();
  if (row?.state === 'stuck') return { reviewSinceMs: row.updated_at_ms, heldUpBy: null };
  const code = row?.last_error ?? null;
  // The name of an error that has no code is for the log.
  return { reviewSinceMs: null, heldUpBy: code === null || isProblemCode(code) ? code : 'internal_error' };
}

/** When the airline was last seen to have changed an order, and whether it cancelled it. */
type OrderChange = Pick<Selectable<OrderTable>, 'changed_at_ms' | 'cancelled_by'>;

/** What the airline did with the order of an intent after it was sold. */
export const orderChangeOf = (store: Store, intentId: string): Promise<OrderChange | undefined> =>
  store
    .selectFrom('orders')
    .select(['changed_at_ms', 'cancelled_by'])
    .where('intent_id', '=', intentId)
    .executeTakeFirst();

/** The offer as it was when the intent locked it; our own writing, read back. */
export const lockedOffer = (row: Pick<IntentRow, 'offer'>): Offer => JSON.parse(row.offer) as Offer;

/** The latest refund request of an intent; undefined when none was paid for. */
export const latestRequest = (store: Store, intentId: string): Promise<RefundRequestRow | undefined> =>
  store
    .selectFrom('refund_requests')
    .selectAll()
    .where('intent_id', '=', intentId)
    .where('state', '<>', 'settling')
    .orderBy('requested_at_ms', 'desc')
    .limit(1)
    .executeTakeFirst();

/** A refund request as anybody may read it: without anybody's words. */
export function refundRequestOf(
  row: RefundRequestRow | undefined,
): Omit<NonNullable<Intent['refund_request']>, 'cancelled_by'> | null {
  if (!row) return null;
  return {
    state: requestState(row),
    requested_at: instant(row.requested_at_ms),
    decided_at: orNull(row.decided_at_ms),
    payout_amount: row.payout_amount,
    payout_tx_hash: row.payout_tx_hash,
  };
}

function requestState({ state, claimed_by }: RefundRequestRow): NonNullable<Intent['refund_request']>['state'] {
  if (state === 'refunded') return 'paid';
  if (state === 'rejected') return 'rejected';
  if (state === 'received') return claimed_by === null ? 'received' : 'claimed';
  // One that is stuck was approved, and is still to be paid.
  return 'approved';
}

/**
 * An intent that its customer knows of: one whose creation was paid.
 * @throws Problem `intent_not_found`
 */
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

/** Where an operator's words about a request are sealed. */
export const decisionPlace = (requestId: string): string => `refund_requests.decision_sealed.${requestId}`;

/**
 * Why a request was rejected, in the words that its mail has; null when it was not, or once they are purged. The note
 * of an approval is for the record alone.
 */
export function rejectionReason(secrets: FlightsPorts['secrets'], row: RefundRequestRow | undefined): string | null {
  if (row?.state !== 'rejected' || !row.decision_sealed) return null;
  return secrets.decrypt(decisionPlace(row.request_id), row.decision_sealed);
}
