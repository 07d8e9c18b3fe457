import { createHash } from 'node:crypto';
import type { ProviderOrder } from '../../airlines/index.ts';
import { liveAttempt } from '../../effects/index.ts';
import { readBytes } from '../../http/index.ts';
import { instant } from '../../kernel/clock.ts';
import type { HttpRequest } from '../../kernel/http.ts';
import { problem } from '../../kernel/problems.ts';
import type { PaidCall } from '../../payments/index.ts';
import { inTurn } from '../../store/base/index.ts';
import type { Order } from '../../wire/flights/index.ts';
import type { Asked, FlightsPorts, KeptOrder, Store, Tx } from '../base/index.ts';
import {
  BY_SERVICE,
  bookingOf,
  createAttempts,
  intentOf,
  latestRequest,
  orderOf,
  page,
  shownOrder,
  toTreasury,
  writeAudit,
} from '../base/index.ts';
import { configured } from '../offers/index.ts';
import { isCodeOf, normalisedCode, supportCodeHmac } from './identity.ts';
import { hasten } from './machine.ts';
import { createMails, type OrderChange, type Written } from './mails.ts';
import { isAskable, orderRecord } from './order-record.ts';
import { shownPassengers } from './travellers.ts';

export function orderCall(
  ports: FlightsPorts,
  orderId: string,
  code: string | null,
  { url, client }: Asked<unknown>,
): PaidCall {
  const { store, secrets } = ports;
  const find = async () => {
    const row = await shownOrder(store, orderId);
    if (!row) throw problem('order_not_found');
    return row;
  };
  return {
    resource: `GET /air/orders/${orderId}`,
    url,
    // The code decides the answer, so a payment is bound to it. Only its keyed hash is passed on.
    request: { order_id: orderId, support_code: supportCodeHmac(secrets, normalisedCode(code ?? '')) },
    settle: 'after',
    async check() {
      if (code === null || code.trim() === '') throw problem('support_code_required');
      const row = await find();
      const judge = createAttempts(ports);
      const isRight = await judge({ intentId: row.intent_id, client }, () => isCodeOf(secrets, row, code));
      if (!isRight) throw problem('support_code_mismatch');
      return toTreasury(ports, ports.options.orderPrice, 'Status of one airline order');
    },
    async perform() {
      const row = await find();
      const fresh = await configured(ports.provider).order(row.provider_order_id);
      const order = await keepCurrent(ports, row, fresh);
      const intent = await intentOf(store, row.intent_id);
      const passengers = await shownPassengers(ports, intent, await latestRequest(store, row.intent_id));
      return { status: 200, body: { ...order, ...(passengers && { passengers }) } };
    },
  };
}

/** `airline` if it cancelled the order: it then keeps nothing. Travellers who cancel pay the fare's penalty. */
export type CancelledBy = KeptOrder['cancelled_by'];

/** Returns `airline` if it is on record that it cancelled an intent's order without our request. */
export const cancelledBy = async (store: Store, intentId: string): Promise<CancelledBy> =>
  (await orderOf(store, intentId))?.cancelled_by ?? null;

/** `cancelledBy`, after asking the airline. @throws Problem `provider_failed`, `upstream_rate_limited` */
export async function cancelledByNow(ports: ChangePorts, intentId: string): Promise<CancelledBy> {
  const { store, provider } = ports;
  const order = await orderOf(store, intentId);
  if (!order || order.cancelled_by !== null) return order?.cancelled_by ?? null;
  if (!provider?.changesSchedules || !isAskable(order.provider_order_id)) return null;
  await keepCurrent(ports, order, await provider.order(order.provider_order_id));
  return cancelledBy(store, intentId);
}

type ChangePorts = Pick<FlightsPorts, 'store' | 'secrets' | 'clock' | 'ids' | 'log' | 'outbox' | 'provider'>;

/** Writes the airline's current order, with the notices of a change in one transaction, so that each is sent once. */
export async function keepCurrent(ports: ChangePorts, order: KeptOrder, fresh: ProviderOrder): Promise<Order> {
  const { store, clock } = ports;
  const kept = JSON.parse(order.document) as Order;
  const next = withKnownTickets(kept, orderRecord(order.order_id, order.passenger_count, fresh));
  const change = ports.provider?.changesSchedules ? await changeOf(store, order.intent_id, kept, next) : null;
  const nowMs = clock.now();
  const changedAtMs = change === null ? order.changed_at_ms : nowMs;
  const shown: Order = changedAtMs === null ? next : { ...next, airline_changed_at: instant(changedAtMs) };
  const stays = next.status === 'cancelled' ? order.cancelled_by : null;
  const endedBy = change === 'cancelled' ? 'airline' : stays;
  const document = JSON.stringify(shown);
  if (document === order.document) return shown;
  const tell = change === null ? null : await noticesOf(ports, order, { change, kept, next });
  await inTurn(store, [`intents:${order.intent_id}`], async (tx) => {
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

/** Keeps tickets that an operator recorded until the airline shows its own. */
const withKnownTickets = (kept: Order, next: Order): Order =>
  kept.status !== 'ticketed' || !['pending', 'confirmed'].includes(next.status)
    ? next
    : {
        ...next,
        status: 'ticketed',
        booking_reference: next.booking_reference ?? kept.booking_reference,
        documents: next.documents.length === 0 ? kept.documents : next.documents,
      };

/** Returns the change that a traveller has to know of, or null. Our own cancellation is no change by the airline. */
async function changeOf(store: Store, intentId: string, kept: Order, next: Order) {
  const isOver = next.status === 'cancelled';
  if (isOver !== (kept.status === 'cancelled')) {
    if (!isOver) return 'flights';
    return (await isOurs(store, intentId)) ? null : 'cancelled';
  }
  if (isOver) return null;
  if (flightsOf(kept).join() !== flightsOf(next).join()) return 'flights';
  return ticketsOf(kept) === ticketsOf(next) ? null : 'tickets';
}

/** True if we may have cancelled the order, or an operator still has to. Failed attempts do not count. */
async function isOurs(store: Store, intentId: string): Promise<boolean> {
  if (await liveAttempt(store, 'airline_cancel', intentId)) return true;
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

/** The `last_error` of a refund whose order only a person can cancel. */
export const BY_HAND_CODE = 'cancel_by_hand';

const SAID: Readonly<Record<OrderChange['change'], string>> = {
  cancelled: 'cancelled',
  flights: 'changed the flights of',
  tickets: 'changed the tickets of',
};

/** Prepares mail, page and audit of a change, once each. A change that is undone and made again counts as new. */
async function noticesOf(
  ports: ChangePorts,
  { order_id, intent_id, changed_at_ms: before }: KeptOrder,
  changed: OrderChange,
): Promise<Written> {
  const { change, kept, next } = changed;
  const content = JSON.stringify([change, flightsOf(next), ticketsOf(next), before]);
  const occasion = createHash('sha256').update(content).digest('hex').slice(0, 16);
  const mail = await createMails(ports).changed(await bookingOf(ports.store, intent_id), changed, occasion);
  return async (tx) => {
    await writeAudit(tx, ports, {
      ...BY_SERVICE,
      action: 'order.changed',
      subject: intent_id,
      detail: { order_id, change, before: flightsOf(kept), after: flightsOf(next) },
    });
    const text = `The airline ${SAID[change]} order ${order_id} of ${intent_id}. The traveller was written to. See farelock audit --subject ${intent_id}.`;
    const fields = { order_id, intent_id, change };
    await ports.outbox.enqueue(
      tx,
      page('order_changed', `${order_id}:${occasion}`, { intentId: intent_id, text, fields }),
    );
    await mail(tx);
    ports.log('warn', 'order_changed', fields);
  };
}

const MOST_BYTES = 256 * 1024;
/** More orders than any message names. */
const MOST_REFERENCES = 50;

/** Takes in an airline's message. It only names orders to ask about, so repeats and wrong order do no harm. */
export async function takeMessage(ports: FlightsPorts, request: HttpRequest): Promise<{ readonly received: true }> {
  const { provider, store, log } = ports;
  if (!provider?.receive) throw problem('not_found', { message: 'Nothing is served at this address.' });
  const body = await readBytes(request, MOST_BYTES);
  const named = await provider.receive({ body, headers: request.headers });
  const references = [...new Set(named)].slice(0, MOST_REFERENCES);
  if (references.length > 0) {
    await inTurn(store, [], (tx) => lookNow(ports, tx, references));
    log('info', 'airline_message', { intents: references.length });
  }
  return { received: true };
}

async function lookNow(ports: FlightsPorts, tx: Tx, references: readonly string[]): Promise<void> {
  const nowMs = ports.clock.now();
  await hasten(tx, references, nowMs);
  await tx
    .updateTable('upkeep')
    .set({ due_at_ms: nowMs })
    .where('intent_id', 'in', references)
    .where('task', 'in', ['order_watch', 'late_ticket'])
    .where('due_at_ms', '>', nowMs)
    .execute();
  const stuck = await tx
    .selectFrom('bookings')
    .select(['intent_id', 'fence'])
    .where('intent_id', 'in', references)
    .where('state', '=', 'stuck')
    .execute();
  for (const { intent_id, fence } of stuck) {
    const text = `The airline sent news about ${intent_id}, which waits for a decision. See farelock stuck show ${intent_id}.`;
    await ports.outbox.enqueue(
      tx,
      page('airline_message', `${intent_id}:${fence}`, { intentId: intent_id, text, fields: { intent_id } }),
    );
  }
}
