import { isDeskOrder } from '../desk/desk-orders.ts';
import { isLowcost } from '../offers/lowcost.ts';
import type { Store } from '../tables.ts';
import { type ChangePorts, keepCurrent } from './order-changes.ts';

/**
 * Who ended an order. It decides what comes back: a traveller who cancels pays the penalty of the fare, an airline that
 * cancels keeps nothing.
 */
export type CancelledBy = 'airline' | null;

/** True where the airline's interface knows the order. */
export const isAskable = (providerOrderId: string): boolean =>
  !isDeskOrder(providerOrderId) && !isLowcost(providerOrderId);

/** Who cancelled the order of an intent without a request of ours, as far as it is on record. */
export async function cancelledBy(store: Store, intentId: string): Promise<CancelledBy> {
  const row = await store
    .selectFrom('orders')
    .select('cancelled_by')
    .where('intent_id', '=', intentId)
    .executeTakeFirst();
  return row?.cancelled_by ?? null;
}

/**
 * The same, after the airline was asked, where it changes what it has sold. Its answer is kept, and the traveller hears of
 * it as of any other change.
 * @throws Problem `provider_failed`, `upstream_rate_limited` where it does not answer
 */
export async function cancelledByNow(ports: ChangePorts, intentId: string): Promise<CancelledBy> {
  const { store, provider } = ports;
  const order = await store
    .selectFrom('orders')
    .innerJoin('intents', 'intents.intent_id', 'orders.intent_id')
    .select(['orders.order_id', 'orders.provider_order_id', 'orders.document', 'orders.changed_at_ms'])
    .select(['orders.cancelled_by', 'intents.intent_id', 'intents.passenger_count'])
    .where('orders.intent_id', '=', intentId)
    .executeTakeFirst();
  if (!order || order.cancelled_by !== null) return order?.cancelled_by ?? null;
  if (!provider?.changesSchedules || !isAskable(order.provider_order_id)) return null;
  await keepCurrent(ports, order, await provider.order(order.provider_order_id));
  return cancelledBy(store, intentId);
}
