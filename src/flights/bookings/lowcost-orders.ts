import {
  type BookOutcome,
  boughtNothing,
  type Fulfiller,
  type Provider,
  type ProviderOrder,
} from '../../airlines/index.ts';
import { problem } from '../../kernel/problems.ts';
import { type FlightsPorts, type IntentRow, lockedOffer } from '../base/index.ts';
import { isLowcost, orderIdOf, referenceOf } from '../offers/index.ts';

type Locked = Pick<IntentRow, 'intent_id' | 'offer' | 'created_at_ms'>;

/** A purchase as any other airline order, so that whoever reads or cancels orders needs to know one kind alone. */
export function orderOf(intent: Locked, outcome: BookOutcome): ProviderOrder {
  const offer = lockedOffer(intent);
  const booked = outcome.kind === 'booked' ? outcome : null;
  const cancelledAtMs = booked?.cancelledAtMs ?? null;
  const status = boughtNothing(outcome) ? 'failed' : booked ? 'ticketed' : 'pending';
  return {
    providerOrderId: orderIdOf(intent.intent_id),
    reference: intent.intent_id,
    status: cancelledAtMs === null ? status : 'cancelled',
    bookingReference: booked?.bookingReference ?? null,
    documents: booked?.documents ?? [],
    totalAmountDecimal: offer.total_amount_decimal,
    totalCurrency: offer.total_currency,
    slices: offer.slices,
    failure: boughtNothing(outcome) ? outcome.kind : null,
    createdAtMs: booked?.confirmedAtMs ?? intent.created_at_ms,
    updatedAtMs: cancelledAtMs ?? booked?.confirmedAtMs ?? intent.created_at_ms,
  };
}

/** The provider, with the lowcost tier's orders among its own. */
export function withLowcostOrders(
  provider: Provider,
  lowcost: Fulfiller,
  { store }: Pick<FlightsPorts, 'store'>,
): Provider {
  const lookUp = async (orderId: string, ask: (reference: string) => Promise<BookOutcome | null>) => {
    const intent = await store
      .selectFrom('intents')
      .selectAll()
      .where('intent_id', '=', referenceOf(orderId))
      .executeTakeFirst();
    const outcome = intent && (await ask(intent.intent_id));
    if (!intent || !outcome) throw problem('order_not_found');
    return orderOf(intent, outcome);
  };
  return {
    ...provider,
    order: (id) => (isLowcost(id) ? lookUp(id, lowcost.find) : provider.order(id)),
    cancel: (id, quoteId) => (isLowcost(id) ? lookUp(id, lowcost.cancel) : provider.cancel(id, quoteId)),
  };
}
