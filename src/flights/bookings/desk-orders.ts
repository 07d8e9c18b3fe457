import type { Provider, ProviderOrder } from '../../airlines/index.ts';
import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import type { Order, ResolveRequest } from '../../wire/flights/index.ts';
import { type FlightsPorts, type IntentRow, lockedOffer } from '../base/index.ts';

/** Tickets that an operator heard of from the airline: no interface of ours knows them. */
const PREFIX = 'desk:';

export const isDeskOrder = (orderId: string): boolean => orderId.startsWith(PREFIX);

/**
 * The order that an operator's evidence describes: the locked offer, with the airline's reference and numbers.
 * @param known the order as the airline shows it without its ticket: it keeps its id, so that what the airline changes of it
 *   later is seen, and it can be cancelled
 */
export function deskOrder(
  intent: IntentRow,
  evidence: Pick<ResolveRequest, 'booking_reference' | 'documents'>,
  nowMs: number,
  known: ProviderOrder | null,
): ProviderOrder {
  const offer = lockedOffer(intent);
  const heard = {
    status: 'ticketed',
    bookingReference: evidence.booking_reference?.toUpperCase() ?? null,
    documents: evidence.documents ?? [],
  } as const;
  if (known) {
    return {
      ...known,
      status: 'ticketed',
      bookingReference: known.bookingReference ?? heard.bookingReference,
      documents: known.documents.length > 0 ? known.documents : heard.documents,
    };
  }
  return {
    ...heard,
    providerOrderId: PREFIX + intent.intent_id,
    reference: intent.intent_id,
    totalAmountDecimal: formatUsdc(parseUsdc(offer.total_amount_decimal)),
    totalCurrency: offer.total_currency,
    slices: offer.slices,
    failure: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

/** The provider, with operators' orders among its own: read as they were recorded, and cancelled by people. */
export function withDeskOrders(provider: Provider, { store }: Pick<FlightsPorts, 'store'>): Provider {
  async function recorded(orderId: string): Promise<ProviderOrder> {
    const intentId = orderId.slice(PREFIX.length);
    const row = await store
      .selectFrom('orders')
      .select('document')
      .where('provider_order_id', '=', orderId)
      .executeTakeFirst();
    if (!row) throw problem('order_not_found');
    const order = JSON.parse(row.document) as Order;
    const cancelled = await store
      .selectFrom('effects')
      .select('updated_at_ms')
      .where('live_key', '=', `airline_cancel:${intentId}`)
      .where('state', '=', 'done')
      .executeTakeFirst();
    return {
      providerOrderId: orderId,
      reference: intentId,
      status: cancelled ? 'cancelled' : 'ticketed',
      bookingReference: order.booking_reference,
      documents: order.documents,
      totalAmountDecimal: order.total_amount_decimal,
      totalCurrency: order.total_currency,
      slices: order.slices,
      failure: null,
      createdAtMs: Date.parse(order.created_at),
      updatedAtMs: cancelled?.updated_at_ms ?? Date.parse(order.updated_at),
    };
  }
  return {
    ...provider,
    order: (id) => (isDeskOrder(id) ? recorded(id) : provider.order(id)),
    async cancel(id, quoteId) {
      if (!isDeskOrder(id)) return provider.cancel(id, quoteId);
      throw problem('provider_failed', {
        message: 'An operator recorded this ticket, and has to cancel it with the airline.',
        detail: { by_hand: true },
      });
    },
  };
}
