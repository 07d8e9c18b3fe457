import { createHash } from 'node:crypto';
import type { ProviderOrder } from '../../airlines/index.ts';
import { liveKey } from '../../effects/index.ts';
import type { Order } from '../../wire/flights/index.ts';
import { type FlightsPorts, loadAudit, type Store } from '../base/index.ts';
import { isLowcost } from '../offers/index.ts';
import { isDeskOrder } from './desk-orders.ts';
import { orderRecord } from './order-record.ts';

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

type ChangePorts = Pick<FlightsPorts, 'store' | 'secrets' | 'clock' | 'ids' | 'log' | 'outbox' | 'provider'>;

/** An order that a booking ended in. */
interface KeptOrder {
  readonly order_id: string;
  readonly intent_id: string;
  readonly passenger_count: number;
  /** As it was kept when the airline was asked. */
  readonly document: string;
  readonly changed_at_ms: number | null;
  readonly cancelled_by: 'airline' | null;
}

/** What an airline changed of an order that it had sold. */
type Change = 'cancelled' | 'flights' | 'tickets';

/**
 * Writes down how an order stands at the airline now. Where the airline changed what it sold, the traveller and an
 * operator are told in the same transaction, so each change is told once, whoever finds it and whenever that dies.
 * @returns the order as it is shown from now on
 */
export async function keepCurrent(ports: ChangePorts, order: KeptOrder, fresh: ProviderOrder): Promise<Order> {
  const { store, clock } = ports;
  const kept = JSON.parse(order.document) as Order;
  const next = withKnownTickets(kept, orderRecord(order.order_id, order.passenger_count, fresh));
  const change = ports.provider?.changesSchedules ? await changeOf(ports, order.intent_id, kept, next) : null;
  const nowMs = clock.now();
  const changedAtMs = change === null ? order.changed_at_ms : nowMs;
  const shown: Order =
    changedAtMs === null ? next : { ...next, airline_changed_at: new Date(changedAtMs).toISOString() };
  const stays = next.status === 'cancelled' ? order.cancelled_by : null;
  const endedBy = change === 'cancelled' ? 'airline' : stays;
  const document = JSON.stringify(shown);
  if (document === order.document) return shown;
  const tell = change === null ? null : await told(ports, order, { change, kept, next });
  await store.transaction().execute(async (tx) => {
    const written = await tx
      .updateTable('orders')
      .set({ document, changed_at_ms: changedAtMs, cancelled_by: endedBy, updated_at_ms: nowMs })
      .where('order_id', '=', order.order_id)
      .where('document', '=', order.document)
      .executeTakeFirst();
    if (written.numUpdatedRows > 0n) await tell?.(tx);
  });
  return shown;
}

/** An operator may know of tickets that the airline does not show yet: they stay until it shows its own. */
const withKnownTickets = (kept: Order, next: Order): Order =>
  kept.status !== 'ticketed' || !['pending', 'confirmed'].includes(next.status)
    ? next
    : {
        ...next,
        status: 'ticketed',
        booking_reference: next.booking_reference ?? kept.booking_reference,
        documents: next.documents.length === 0 ? kept.documents : next.documents,
      };

/** null: nothing that a traveller has to know. A cancellation that we asked for is none of the airline's. */
async function changeOf({ store }: ChangePorts, intentId: string, kept: Order, next: Order): Promise<Change | null> {
  const isOver = next.status === 'cancelled';
  if (isOver !== (kept.status === 'cancelled')) {
    if (!isOver) return 'flights';
    return (await isOurs(store, intentId)) ? null : 'cancelled';
  }
  if (isOver) return null;
  if (flightsOf(kept).join() !== flightsOf(next).join()) return 'flights';
  return ticketsOf(kept) === ticketsOf(next) ? null : 'tickets';
}

/**
 * True while a cancellation of ours was made, or may have been, and where an operator was asked to make it. One that
 * failed for certain ended nothing.
 */
async function isOurs(store: ChangePorts['store'], intentId: string): Promise<boolean> {
  const live = await store
    .selectFrom('effects')
    .select('effect_id')
    .where('live_key', '=', liveKey('airline_cancel', intentId))
    .executeTakeFirst();
  if (live) return true;
  const byHand = await store
    .selectFrom('refund_requests')
    .select('request_id')
    .where('open_key', '=', intentId)
    .where('state', '=', 'stuck')
    .where('last_error', '=', BY_HAND_CODE)
    .executeTakeFirst();
  return byHand !== undefined;
}

const flightsOf = ({ slices }: Order): string[] =>
  slices.flatMap(({ segments }) =>
    segments.map(
      (one) => `${one.flight_number} ${one.origin_iata} ${one.departing_at} ${one.destination_iata} ${one.arriving_at}`,
    ),
  );

const ticketsOf = ({ booking_reference, documents }: Order): string =>
  [booking_reference ?? '', ...documents.map(({ number }) => number).sort()].join();

/** The last error of a refund whose order only a person can cancel. */
export const BY_HAND_CODE = 'cancel_by_hand';

const SAID: Readonly<Record<Change, string>> = {
  cancelled: 'cancelled',
  flights: 'changed the flights of',
  tickets: 'changed the tickets of',
};

/** Prepares what is told of a change: once for each, though an airline may take one back and make it again. */
async function told(
  ports: ChangePorts,
  { order_id, intent_id, changed_at_ms: before }: KeptOrder,
  { change, kept, next }: { readonly change: Change; readonly kept: Order; readonly next: Order },
) {
  const [{ createMails }, { writeAudit }] = await Promise.all([import('./mails.ts'), loadAudit()]);
  const content = JSON.stringify([change, flightsOf(next), ticketsOf(next), before]);
  const occasion = createHash('sha256').update(content).digest('hex').slice(0, 16);
  const booking = await ports.store
    .selectFrom('bookings')
    .select(['intent_id', 'passengers_sealed'])
    .where('intent_id', '=', intent_id)
    .executeTakeFirstOrThrow();
  const mail = await createMails(ports).changed(booking, { change, kept, next }, occasion);
  return async (tx: Parameters<typeof mail>[0]): Promise<void> => {
    await writeAudit(tx, ports, {
      operator: { keyId: 'service', name: 'service' },
      action: 'order.changed',
      subject: intent_id,
      requestId: '',
      detail: { order_id, change, before: flightsOf(kept), after: flightsOf(next) },
    });
    await ports.outbox.enqueue(tx, {
      kind: 'page',
      dedupKey: `page:order_changed:${order_id}:${occasion}`,
      intentId: intent_id,
      event: 'order_changed',
      text: `The airline ${SAID[change]} order ${order_id} of ${intent_id}. The traveller was written to. See farelock audit --subject ${intent_id}.`,
      fields: { order_id, intent_id, change },
    });
    await mail(tx);
    ports.log('warn', 'order_changed', { order_id, intent_id, change });
  };
}
