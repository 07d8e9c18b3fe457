import type { AirlineQuote } from '../../domain/airline-quote.ts';
import { instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { isDeskOrder } from '../desk/desk-orders.ts';
import { isLowcost } from '../offers/lowcost.ts';
import type { FlightsPorts } from '../ports.ts';
import type { CancellationQuote } from '../providers/provider.ts';
import type { RefundRequestRow } from '../rows.ts';
import type { ApproveRequest } from '../wire.ts';

type QuotePorts = Pick<FlightsPorts, 'store' | 'provider' | 'clock' | 'effects'>;

/** The quote that is kept with a case; null where the airline gives none, or nobody has looked yet. */
export const keptQuote = ({ airline_quote }: Pick<RefundRequestRow, 'airline_quote'>): AirlineQuote | null =>
  airline_quote === null ? null : (JSON.parse(airline_quote) as AirlineQuote);

/**
 * Asks the airline what it gives back, and keeps its answer with the case: a newer quote makes the older one worthless,
 * at the airline and here. Nothing is cancelled.
 * @returns null where the airline gives no quotes, or the order is cancelled already
 */
export async function freshQuote(ports: QuotePorts, row: RefundRequestRow): Promise<AirlineQuote | null> {
  const orderId = await quotable(ports, row);
  if (orderId === null) return null;
  // One that was sent may have been taken: the cancellation asks about it before it sends another.
  if ((await ports.effects.standing('airline_cancel', row.intent_id)) !== 'none') return keptQuote(row);
  const told = (await ports.provider?.cancellationQuote?.(orderId)) ?? null;
  const quote = quoteOf(told, ports.clock.now());
  await ports.store
    .updateTable('refund_requests')
    .set({ airline_quote: JSON.stringify(quote) })
    .where('request_id', '=', row.request_id)
    .where('state', 'in', ['received', 'approved', 'stuck'])
    .execute();
  return quote;
}

/**
 * The quote that an approval takes: the one that the operator was shown, while it can be taken.
 * @throws Problem `plan_changed` with what the airline says now; nothing was changed but the kept quote
 */
export async function agreedQuote(
  ports: QuotePorts,
  row: RefundRequestRow,
  request: ApproveRequest,
): Promise<AirlineQuote | null> {
  if ((await quotable(ports, row)) === null) return null;
  const kept = keptQuote(row);
  if ((await ports.effects.standing('airline_cancel', row.intent_id)) !== 'none') return kept;
  // What was approved goes on with what was agreed to then, until the airline refuses that.
  const goesOn = row.state !== 'received' && row.last_error !== QUOTE_GONE;
  const isShown = kept !== null && request.quote_id !== undefined && request.quote_id === kept.quote_id;
  if (kept && (goesOn || (isShown && !isOver(kept, ports.clock.now())))) return kept;
  throw quoteChanged(await freshQuote(ports, row));
}

/** What a case that waits for a person says when the quote of its approval was not taken. */
export const QUOTE_GONE = 'plan_changed';

export const quoteChanged = (quote: AirlineQuote | null) =>
  problem('plan_changed', {
    message: "The airline's quote for the cancellation is not the one that you agreed to.",
    fix: 'Nothing was cancelled or paid. Look at the plan again.',
    detail: { airline_quote: quote },
  });

const isOver = ({ expires_at }: AirlineQuote, nowMs: number): boolean =>
  expires_at !== null && Date.parse(expires_at) <= nowMs;

/** The order of a case, where the airline would give a quote for it. */
async function quotable({ store, provider }: QuotePorts, row: RefundRequestRow): Promise<string | null> {
  if (!provider?.cancellationQuote) return null;
  const order = await store
    .selectFrom('orders')
    .select('provider_order_id')
    .where('intent_id', '=', row.intent_id)
    .executeTakeFirst();
  const id = order?.provider_order_id ?? null;
  return id === null || isDeskOrder(id) || isLowcost(id) ? null : id;
}

const quoteOf = (told: CancellationQuote | null, nowMs: number): AirlineQuote => ({
  quote_id: told?.quoteId ?? null,
  refund_amount_decimal: told?.refundAmountDecimal ?? null,
  refund_currency: told?.refundCurrency ?? null,
  refund_to: told?.refundTo ?? null,
  expires_at: told?.expiresAtMs == null ? null : instant(told.expiresAtMs),
  quoted_at: instant(nowMs),
});
