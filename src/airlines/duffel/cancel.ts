import { isProblem, problem } from '../../kernel/problems.ts';
import type { CancellationQuote, ProviderOrder } from '../provider.ts';
import { cancelledAt, type LiveOrder, type OrderPorts, readOrder } from './orders.ts';
import { amount, currency, type Fields, instantMs, object, text } from './read.ts';
import { type Answer, dataOf, failed, isOk, noAnswer } from './transport.ts';

/** An order that has no quote to take: cancelled already, or not through Duffel. */
const NO_QUOTE = ['already_cancelled', 'order_not_cancellable', 'unsupported_action', 'unavailable_feature'];
/** A quote that can't be taken any more. */
const STALE = ['order_cancellation_stale', 'order_cancellation_expired', 'not_found'];

const quoteIdOf = (raw: Fields): string | null => {
  const id = text(raw.id);
  return id !== null && /^\w{1,100}$/.test(id) ? id : null;
};

/**
 * The airline's own quote. It changes nothing but that Duffel confirms only the latest one of an order.
 * @returns null where the order can't be cancelled through Duffel
 */
export async function cancellationQuote(ports: OrderPorts, providerOrderId: string): Promise<CancellationQuote | null> {
  const { canCancel } = await readOrder(ports, providerOrderId);
  return canCancel ? newQuote(ports, providerOrderId) : null;
}

async function newQuote({ transport }: OrderPorts, orderId: string): Promise<CancellationQuote | null> {
  const answer = await transport.ask({
    operation: 'cancellation_quote',
    method: 'POST',
    path: '/air/order_cancellations',
    body: { order_id: orderId },
  });
  if (answer.codes.some((code) => NO_QUOTE.includes(code))) return null;
  const raw = dataOf(answer);
  const quoteId = quoteIdOf(raw);
  if (quoteId === null || raw.order_id !== orderId) throw failed(answer);
  const [refund, of] = [amount(raw.refund_amount), currency(raw.refund_currency)];
  // An amount without its currency is no amount.
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
 * Cancels, and answers with the order as it stands then: one that Duffel can't cancel is given back as it is.
 * @param quoteId the only quote that may be taken
 * @throws Problem `plan_changed` where that quote can't be taken any more; `provider_failed` where nobody knows
 */
export async function cancelOrder(
  ports: OrderPorts,
  providerOrderId: string,
  quoteId?: string,
): Promise<ProviderOrder> {
  const live = await readOrder(ports, providerOrderId);
  if (!live.canCancel) return live.order;
  if (quoteId !== undefined) {
    await checkQuote(ports, live, quoteId);
    return confirm(ports, live, quoteId);
  }
  const quote = await newQuote(ports, providerOrderId);
  if (!quote) return (await readOrder(ports, providerOrderId)).order;
  try {
    return await confirm(ports, live, quote.quoteId);
  } catch (error) {
    if (!isProblem(error, 'plan_changed')) throw error;
    // Somebody asked for a quote in between. Whatever the airline gives back is taken, so the next one is as good.
    const next = await newQuote(ports, providerOrderId);
    if (!next) return (await readOrder(ports, providerOrderId)).order;
    return confirm(ports, live, next.quoteId);
  }
}

/** A quote of another order would cancel that one. */
async function checkQuote({ transport }: OrderPorts, { order }: LiveOrder, quoteId: string): Promise<void> {
  if (!/^\w{1,100}$/.test(quoteId)) throw problem('plan_changed');
  const answer = await transport.ask({
    operation: 'cancellation_quote',
    method: 'GET',
    path: `/air/order_cancellations/${quoteId}`,
  });
  if (answer.codes.includes('not_found') || dataOf(answer).order_id !== order.providerOrderId) throw quoteGone();
}

async function confirm(ports: OrderPorts, live: LiveOrder, quoteId: string): Promise<ProviderOrder> {
  const { providerOrderId } = live.order;
  const answer = await ports.transport.send({
    operation: 'cancel',
    method: 'POST',
    path: `/air/order_cancellations/${quoteId}/actions/confirm`,
  });
  const isStale = answer.kind === 'answer' && answer.codes.some((code) => STALE.includes(code));
  const confirmedAtMs = answer.kind === 'answer' && isOk(answer) ? confirmedAt(answer) : null;
  // Whatever the answer was, or its absence: the order says what came of it.
  const now = await readOrder(ports, providerOrderId).catch((error: unknown) => {
    if (confirmedAtMs === null) throw error;
    return { order: cancelledAt(live.order, confirmedAtMs) };
  });
  if (now.order.status === 'cancelled') return now.order;
  // Duffel's word; the order may follow a moment later.
  if (confirmedAtMs !== null) return cancelledAt(now.order, confirmedAtMs);
  if (isStale) throw quoteGone();
  throw answer.kind === 'answer' ? failed(answer, 'The airline did not confirm the cancellation.') : noAnswer(answer);
}

const confirmedAt = (answer: Answer): number | null => instantMs(object(answer.data)?.confirmed_at);

const quoteGone = () =>
  problem('plan_changed', { message: "The airline's cancellation quote can't be taken any more." });
