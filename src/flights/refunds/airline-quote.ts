import type { CancellationQuote } from '../../airlines/index.ts';
import { instant } from '../../kernel/clock.ts';
import type { AirlineQuote } from '../../kernel/domain/refund-rule.ts';
import { problem } from '../../kernel/problems.ts';
import type { ApproveRequest } from '../../wire/flights/index.ts';
import { type FlightsPorts, leavesOthers, orderOf, type RefundRequestRow, subjectOf } from '../base/index.ts';
import { type CancelledBy, cancelledBy, isAskable } from '../bookings/index.ts';

/** The airline's quote and cancellation at the time of an approval. Only a decision writes them. */
export interface Agreement {
  readonly airline_quote: AirlineQuote | null;
  readonly cancelled_by: CancelledBy;
}

/** Returns null if the case is not approved, or was approved by an earlier release, which kept no agreements. */
export const agreementOf = ({ agreed }: Pick<RefundRequestRow, 'agreed'>): Agreement | null =>
  agreed === null ? null : (JSON.parse(agreed) as Agreement);

/** The quote that an operator saw last, without agreeing to it. */
const shownQuote = ({ airline_quote }: Pick<RefundRequestRow, 'airline_quote'>): AirlineQuote | null =>
  airline_quote === null ? null : (JSON.parse(airline_quote) as AirlineQuote);

export const quoteOf = (row: Pick<RefundRequestRow, 'airline_quote' | 'agreed'>): AirlineQuote | null => {
  const agreement = agreementOf(row);
  return agreement === null ? shownQuote(row) : agreement.airline_quote;
};

/** The `last_error` of a case whose approval is void. */
export const QUOTE_GONE = 'plan_changed';

export const isGranted = ({ state }: Pick<RefundRequestRow, 'state'>): boolean =>
  state === 'approved' || state === 'stuck';

export const isAgreed = (row: RefundRequestRow): boolean =>
  isGranted(row) && row.agreed !== null && !(row.state === 'stuck' && row.last_error === QUOTE_GONE);

/** The airline's quote for a plan, stored as shown. Not requested after an agreement: a new one voids the older. */
export async function freshQuote(ports: FlightsPorts, row: RefundRequestRow): Promise<AirlineQuote | null> {
  const orderId = await quotable(ports, row);
  if (orderId === null) return null;
  if (isAgreed(row) || (await isBegun(ports, row))) return quoteOf(row);
  const answer = (await ports.provider?.cancellationQuote?.(orderId)) ?? null;
  const quote = quoteFrom(answer, ports.clock.now());
  await ports.store
    .updateTable('refund_requests')
    .set({ airline_quote: JSON.stringify(quote) })
    .where('request_id', '=', row.request_id)
    .where('state', 'in', ['received', 'approved', 'stuck'])
    .execute();
  return quote;
}

/** The quote that an approval uses: the agreed one, or the shown one if still valid. @throws Problem `plan_changed` */
export async function agreedQuote(ports: FlightsPorts, row: RefundRequestRow, request: ApproveRequest) {
  if ((await quotable(ports, row)) === null) {
    // The operator was shown a quote, and the airline has cancelled the order since then.
    const isOvertaken = request.quote_id !== undefined && !isAgreed(row);
    if (isOvertaken && (await cancelledBy(ports.store, row.intent_id)) === 'airline') {
      throw planChanged({ cancelled_by: 'airline' });
    }
    return null;
  }
  if (await isBegun(ports, row)) return quoteOf(row);
  if (isAgreed(row)) {
    const quote = quoteOf(row);
    if (request.quote_id === undefined || request.quote_id === quote?.quote_id) return quote;
    throw planChanged({ airline_quote: quote });
  }
  const shown = shownQuote(row);
  const isShown = shown !== null && request.quote_id !== undefined && request.quote_id === shown.quote_id;
  if (isShown && !isOver(shown, ports.clock.now())) return shown;
  throw planChanged({ airline_quote: await freshQuote(ports, row) });
}

/** True if a cancellation has begun. It may have used its quote, so no other is requested. */
const isBegun = async ({ effects }: FlightsPorts, row: RefundRequestRow): Promise<boolean> =>
  (await effects.standing('airline_cancel', subjectOf(row))) !== 'none';

export const planChanged = (detail: { airline_quote: AirlineQuote | null } | { cancelled_by: 'airline' }) =>
  'cancelled_by' in detail
    ? problem('plan_changed', {
        message: 'The airline has cancelled the order itself: the whole amount comes back.',
        fix: 'Nothing was paid. Look at the plan again.',
        detail,
      })
    : problem('plan_changed', {
        message: "The airline's quote for the cancellation is not the one that you agreed to.",
        fix: 'Nothing was cancelled or paid. Look at the plan again.',
        detail,
      });

const isOver = ({ expires_at }: AirlineQuote, nowMs: number): boolean =>
  expires_at !== null && Date.parse(expires_at) <= nowMs;

/**
 * The id of a case's order if the airline can quote its cancellation, else null. Airlines quote only whole orders that
 * are not cancelled.
 */
export async function quotable({ store, provider }: FlightsPorts, row: RefundRequestRow) {
  if (!provider?.cancellationQuote || leavesOthers(row)) return null;
  const order = await orderOf(store, row.intent_id);
  if (!order || order.cancelled_by !== null) return null;
  return isAskable(order.provider_order_id) ? order.provider_order_id : null;
}

const quoteFrom = (answer: CancellationQuote | null, nowMs: number): AirlineQuote => ({
  quote_id: answer?.quoteId ?? null,
  refund_amount_decimal: answer?.refundAmountDecimal ?? null,
  refund_currency: answer?.refundCurrency ?? null,
  refund_to: answer?.refundTo ?? null,
  expires_at: answer?.expiresAtMs == null ? null : instant(answer.expiresAtMs),
  quoted_at: instant(nowMs),
});
