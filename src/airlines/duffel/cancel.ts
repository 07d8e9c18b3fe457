import { isProblem, problem } from '../../kernel/problems.ts';
import type { CancellationQuote, ProviderOrder } from '../provider.ts';
import { cancelledAt, readOrder } from './orders.ts';
import { amount, currency, instantMs, object, quoteId as quoteIdOf, text } from './read.ts';
import { type DuffelPorts, dataOf, failed, isOk, noAnswer } from './transport.ts';

type LiveOrder = Awaited<ReturnType<typeof readOrder>>;

/** Codes for orders that Duffel gives no quote for: cancelled already, or not cancellable through it. */
const NO_QUOTE = ['already_cancelled', 'order_not_cancellable', 'unsupported_action', 'unavailable_feature'];
const STALE = ['order_cancellation_stale', 'order_cancellation_expired', 'not_found'];

/** Asks for the airline's quote, which ends earlier ones; null if Duffel can't cancel the order. */
export async function cancellationQuote(
  ports: DuffelPorts,
  providerOrderId: string,
): Promise<CancellationQuote | null> {
  const { canCancel } = await readOrder(ports, providerOrderId);
  return canCancel ? newQuote(ports, providerOrderId) : null;
}

async function newQuote({ transport }: DuffelPorts, orderId: string): Promise<CancellationQuote | null> {
  const answer = await transport.ask({
    operation: 'cancellation_quote',
    method: 'POST',
    path: '/air/order_cancellations',
    body: { order_id: orderId },
  });
  if (answer.codes.some((code) => NO_QUOTE.includes(code))) return null;
  const raw = dataOf(answer);
  const quoteId = quoteIdOf(text(raw.id));
  if (quoteId === null || raw.order_id !== orderId) throw failed(answer);
  const [refund, of] = [amount(raw.refund_amount), currency(raw.refund_currency)];
  // An amount needs its currency.
  const isWhole = refund !== null && of !== null;
  return {
    quoteId,
    refundAmountDecimal: isWhole ? refund : null,
    refundCurrency: isWhole ? of : null,
    refundTo: text(raw.refund_to),
    expiresAtMs: instantMs(raw.expires_at),
  };
}

/**
 * Cancels an order if Duffel can, by this quote alone if one is given.
 * @throws Problem `plan_changed` for a quote that is no longer valid; `provider_failed` for an unknown outcome
 */
export async function cancelOrder(
  ports: DuffelPorts,
  providerOrderId: string,
  quoteId?: string,
): Promise<ProviderOrder> {
  const live = await readOrder(ports, providerOrderId);
  if (!live.canCancel) return live.order;
  if (quoteId !== undefined) {
    await checkQuote(ports, live, quoteId);
    return confirm(ports, live, quoteId);
  }
  for (let attempt = 1; ; attempt++) {
    const quote = await newQuote(ports, providerOrderId);
    if (!quote) return (await readOrder(ports, providerOrderId)).order;
    try {
      return await confirm(ports, live, quote.quoteId);
    } catch (error) {
      // Another quote was made meanwhile. Any refund is fine here, so a new quote is, too.
      if (attempt === 2 || !isProblem(error, 'plan_changed')) throw error;
    }
  }
}

/** Checks that a quote is this order's, as another would cancel its own order. */
async function checkQuote({ transport }: DuffelPorts, { order }: LiveOrder, quoteId: string): Promise<void> {
  if (quoteIdOf(quoteId) === null) throw problem('plan_changed');
  const path = `/air/order_cancellations/${quoteId}`;
  const answer = await transport.ask({ operation: 'cancellation_quote', path });
  if (answer.codes.includes('not_found') || dataOf(answer).order_id !== order.providerOrderId) throw quoteGone();
}

async function confirm(ports: DuffelPorts, live: LiveOrder, quoteId: string): Promise<ProviderOrder> {
  const { providerOrderId } = live.order;
  const path = `/air/order_cancellations/${quoteId}/actions/confirm`;
  const answer = await ports.transport.send({ operation: 'cancel', method: 'POST', path });
  const isStale = answer.kind === 'answer' && answer.codes.some((code) => STALE.includes(code));
  const confirmedAtMs = answer.kind === 'answer' && isOk(answer) ? instantMs(object(answer.data)?.confirmed_at) : null;
  // The order itself shows the outcome.
  const now = await readOrder(ports, providerOrderId).catch((error: unknown) => {
    if (confirmedAtMs === null) throw error;
    return { order: cancelledAt(live.order, confirmedAtMs) };
  });
  if (now.order.status === 'cancelled') return now.order;
  // The order may show the confirmation a moment later.
  if (confirmedAtMs !== null) return cancelledAt(now.order, confirmedAtMs);
  if (isStale) throw quoteGone();
  throw answer.kind === 'answer' ? failed(answer, 'The airline did not confirm the cancellation.') : noAnswer(answer);
}

const quoteGone = () =>
  problem('plan_changed', { message: "The airline's cancellation quote can't be taken any more." });
