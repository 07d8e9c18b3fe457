import type { BookOutcome, Fulfiller, Provider, ProviderOrder } from '../../airlines/index.ts';
import { boughtNothing } from '../../airlines/index.ts';
import { liveAttempt } from '../../effects/index.ts';
import { instant } from '../../kernel/clock.ts';
import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { regained } from '../../store/base/index.ts';
import type { Order, ResolveRequest } from '../../wire/flights/index.ts';
import { type FlightsPorts, type IntentRow, lockedBags, lockedOffer, type Store } from '../base/index.ts';
import { isLowcost, orderIdOf, referenceOf } from '../offers/index.ts';
import { journeyOf } from './mails.ts';

/** The order as the wire shows it, without names (CONTRACT, section 7). */
export function orderRecord(orderId: string, passengerCount: number, order: ProviderOrder): Order {
  return {
    order_id: orderId,
    booking_reference: order.bookingReference,
    // The airline no longer has a failed order.
    status: order.status === 'failed' ? 'cancelled' : order.status,
    passenger_count: passengerCount - (order.cancelledPassengers?.length ?? 0),
    total_amount_decimal: formatUsdc(parseUsdc(order.totalAmountDecimal)),
    total_currency: order.totalCurrency,
    documents: order.documents.map(({ type, number }) => ({ type, number })),
    slices: [...order.slices],
    ...(order.bags && { bags: [...order.bags] }),
    ...(order.seats && { seats: [...order.seats] }),
    created_at: instant(order.createdAtMs),
    updated_at: instant(order.updatedAtMs),
  };
}

/** Records a ticketed order, one per intent; safe to repeat. */
export async function keepOrder(
  { store, ids, clock }: FlightsPorts,
  { intent_id, passenger_count }: IntentRow,
  order: ProviderOrder,
  on: Store = store,
): Promise<void> {
  const orderId = ids.next('ord');
  const nowMs = clock.now();
  // Need not wait for the disk: the airline can be asked again until the booking's end is on it.
  await regained(on)
    .insertInto('orders')
    .values({
      order_id: orderId,
      intent_id,
      provider_order_id: order.providerOrderId,
      document: JSON.stringify(orderRecord(orderId, passenger_count, order)),
      created_at_ms: nowMs,
      updated_at_ms: nowMs,
    })
    .onConflict((conflict) => conflict.column('intent_id').doNothing())
    .execute();
}

export async function keptOrder(store: Store, { intent_id }: Pick<IntentRow, 'intent_id'>): Promise<Order> {
  const row = await store
    .selectFrom('orders')
    .select('document')
    .where('intent_id', '=', intent_id)
    .executeTakeFirstOrThrow();
  return JSON.parse(row.document) as Order;
}

/** Prefix of the order ids of tickets that an operator recorded after asking the airline's support. */
const DESK = 'desk:';

export const isDeskOrder = (orderId: string): boolean => orderId.startsWith(DESK);

/** True if the airline's API knows the order. */
export const isAskable = (providerOrderId: string): boolean =>
  !isDeskOrder(providerOrderId) && !isLowcost(providerOrderId);

/** A ticketed order by an operator's evidence, made of the airline's unticketed order (`known`) or the locked offer. */
export function deskOrder(
  intent: IntentRow,
  evidence: Pick<ResolveRequest, 'booking_reference' | 'documents'>,
  nowMs: number,
  known: ProviderOrder | null,
): ProviderOrder {
  const offer = lockedOffer(intent);
  const bookingReference = evidence.booking_reference?.toUpperCase() ?? null;
  const documents = evidence.documents ?? [];
  if (known) {
    return {
      ...known,
      status: 'ticketed',
      bookingReference: known.bookingReference ?? bookingReference,
      documents: known.documents.length > 0 ? known.documents : documents,
    };
  }
  return {
    status: 'ticketed',
    bookingReference,
    documents,
    providerOrderId: DESK + intent.intent_id,
    reference: intent.intent_id,
    ...journeyOf(offer),
    totalAmountDecimal: formatUsdc(parseUsdc(offer.total_amount_decimal)),
    failure: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

/** Adds the lowcost tier's orders to the provider, and those that operators recorded, which only people can cancel. */
export function withOurOrders(provider: Provider, lowcost: Fulfiller | null | undefined, store: Store): Provider {
  return {
    ...provider,
    order(id) {
      if (isDeskOrder(id)) return recorded(store, id);
      return lowcost && isLowcost(id) ? lookUp(store, id, lowcost.find) : provider.order(id);
    },
    async cancel(id, quoteId) {
      if (!isDeskOrder(id)) {
        return lowcost && isLowcost(id) ? lookUp(store, id, lowcost.cancel) : provider.cancel(id, quoteId);
      }
      throw problem('provider_failed', {
        message: 'An operator recorded this ticket, and has to cancel it with the airline.',
        detail: { by_hand: true },
      });
    },
  };
}

async function recorded(store: Store, orderId: string): Promise<ProviderOrder> {
  const intentId = orderId.slice(DESK.length);
  const row = await store
    .selectFrom('orders')
    .select('document')
    .where('provider_order_id', '=', orderId)
    .executeTakeFirst();
  if (!row) throw problem('order_not_found');
  const order = JSON.parse(row.document) as Order;
  const attempt = await liveAttempt(store, 'airline_cancel', intentId);
  const cancelled = attempt?.state === 'done' ? attempt : null;
  return {
    providerOrderId: orderId,
    reference: intentId,
    status: cancelled ? 'cancelled' : 'ticketed',
    bookingReference: order.booking_reference,
    documents: order.documents,
    ...journeyOf(order),
    failure: null,
    createdAtMs: Date.parse(order.created_at),
    updatedAtMs: cancelled?.updated_at_ms ?? Date.parse(order.updated_at),
  };
}

async function lookUp(store: Store, orderId: string, ask: Fulfiller['find']): Promise<ProviderOrder> {
  const intentId = referenceOf(orderId);
  const intent = await store.selectFrom('intents').selectAll().where('intent_id', '=', intentId).executeTakeFirst();
  const outcome = intent && (await ask(intentId));
  if (!outcome) throw problem('order_not_found');
  return purchaseOrder(intent, outcome);
}

/** The bought bags, inferred from the intent: a carrier's site confirms only the price that includes them. */
function boughtBags(intent: IntentRow): ProviderOrder['bags'] {
  const bags = lockedBags(intent);
  if (!bags || bags.amount === 0) return undefined;
  const offer = lockedOffer(intent);
  const bought = (['checked', 'carry_on'] as const).map((type) => ({
    type,
    quantity: intent.passenger_count * Math.max(0, bags[type] - (offer[`${type}_bags_included`] ?? 0)),
  }));
  return bought.filter(({ quantity }) => quantity > 0);
}

export function purchaseOrder(intent: IntentRow, outcome: BookOutcome): ProviderOrder {
  const booked = outcome.kind === 'booked' ? outcome : null;
  const cancelledAtMs = booked?.cancelledAtMs ?? null;
  const status = boughtNothing(outcome) ? 'failed' : booked ? 'ticketed' : 'pending';
  return {
    providerOrderId: orderIdOf(intent.intent_id),
    reference: intent.intent_id,
    status: cancelledAtMs === null ? status : 'cancelled',
    bags: boughtBags(intent),
    bookingReference: booked?.bookingReference ?? null,
    documents: booked?.documents ?? [],
    ...journeyOf(lockedOffer(intent)),
    failure: boughtNothing(outcome) ? outcome.kind : null,
    createdAtMs: booked?.confirmedAtMs ?? intent.created_at_ms,
    updatedAtMs: cancelledAtMs ?? booked?.confirmedAtMs ?? intent.created_at_ms,
  };
}
