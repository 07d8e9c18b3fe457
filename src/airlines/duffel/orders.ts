import { problem } from '../../kernel/problems.ts';
import type { ProviderOrder } from '../provider.ts';
import { readSlice } from './itinerary.ts';
import { amount, count, currency, type Fields, instantMs, list, object, objects, orderId, text } from './read.ts';
import { seatsIn } from './seats.ts';
import { type Answer, type DuffelPorts, dataOf, failed, isOk } from './transport.ts';

/** Owners' codes of airlines without electronic tickets: easyJet, Vueling, Jetstar. */
const TICKETLESS = ['U2', 'VY', 'JQ'];
/** The wait for any other airline's tickets before a paid order counts as ticketless. */
const TICKET_GRACE_MS = 30 * 60_000;

export interface Found {
  readonly raw: Fields;
  readonly answer: Answer;
}

/**
 * Reads an order, and whether Duffel can cancel it.
 * @throws Problem `order_not_found`, `upstream_rate_limited`, `provider_failed`
 */
export async function readOrder(ports: DuffelPorts, id: string) {
  if (orderId(id) === null) throw problem('order_not_found');
  const answer = await askOrder(ports, id);
  const rows = await ports.attempts.byOrder(id);
  const ours = rows.find(({ verdict }) => verdict === 'ordered')?.reference;
  if (answer.status === 404 && answer.codes.includes('not_found')) {
    // A new order may become readable later, so its absence proves nothing.
    throw ours === undefined ? problem('order_not_found') : failed(answer);
  }
  const raw = dataOf(answer);
  const order = orderOf(ports, { raw, answer }, ours ?? referenceOf(raw));
  if (order.providerOrderId !== id) throw unreadable(answer);
  const actions = list(raw.available_actions) ?? [];
  return { order, canCancel: order.status !== 'cancelled' && actions.includes('cancel') };
}

const unreadable = (answer: Answer) => failed(answer, "The airline's order can't be read.");

export const askOrder = ({ transport }: DuffelPorts, id: string): Promise<Answer> =>
  transport.ask({ operation: 'order', path: `/air/orders/${id}`, isQuick: true });

export const referenceOf = (raw: Fields): string | null => text(object(raw.metadata)?.reference);

/** Finds an offer's order with this reference; null proves nothing. */
export async function seenOrder(ports: DuffelPorts, offer: string, reference: string): Promise<Found | null> {
  for await (const { raw, answer } of listedOrders(ports, { offer_id: offer }, 5)) {
    if (referenceOf(raw) === reference && orderId(raw.id) !== null) return { raw, answer };
  }
  return null;
}

/** Reads the orders made since then that bear a reference. */
export async function ordersSince(ports: DuffelPorts, sinceMs: number): Promise<ProviderOrder[]> {
  const found: ProviderOrder[] = [];
  const since = { 'created_at[after]': new Date(sinceMs).toISOString() };
  for await (const one of listedOrders(ports, since, Number.POSITIVE_INFINITY)) {
    const reference = referenceOf(one.raw);
    if (reference !== null) found.push(orderOf(ports, one, reference));
  }
  return found;
}

async function* listedOrders({ transport }: DuffelPorts, filter: Readonly<Record<string, string>>, mostPages: number) {
  let after: string | null = '';
  for (let pages = 0; after !== null && pages < mostPages; pages++) {
    const query = new URLSearchParams({ ...filter, limit: '200', ...(after !== '' && { after }) });
    const path = `/air/orders?${query}`;
    const answer: Answer = await transport.ask({ operation: 'orders', path, isQuick: true });
    const given = list(answer.data);
    if (!isOk(answer) || !given) throw failed(answer);
    for (const raw of objects(given)) yield { raw, answer };
    after = answer.after;
  }
}

/**
 * Reads an order into the service's form, without travellers' data.
 * @throws Problem `provider_failed` for an unreadable one
 */
export function orderOf(ports: DuffelPorts, { raw, answer }: Found, reference: string | null): ProviderOrder {
  const id = orderId(raw.id);
  const total = amount(raw.total_amount);
  const of = currency(raw.total_currency);
  const createdAtMs = instantMs(raw.created_at);
  if (reference === null || id === null || total === null || of === null || createdAtMs === null) {
    throw unreadable(answer);
  }
  const paidAtMs = instantMs(object(raw.payment_status)?.paid_at);
  const cancelledAtMs = instantMs(raw.cancelled_at);
  return {
    providerOrderId: id,
    reference,
    status: statusOf(raw, ports.clock.now()),
    bookingReference: bookingReferenceOf(raw),
    documents: documentsOf(raw).map(({ type, number }) => ({ type, number })),
    totalAmountDecimal: total,
    totalCurrency: of,
    slices: slicesOf(ports, raw, id),
    bags: bagsIn(raw),
    seats: seatsIn(raw),
    failure: null,
    createdAtMs,
    updatedAtMs: Math.max(createdAtMs, paidAtMs ?? 0, cancelledAtMs ?? 0),
  };
}

/**
 * `cancelled` comes first, as a cancelled order keeps its tickets. `ticketed` needs an electronic ticket for every
 * passenger or, of an airline without tickets, a payment and a booking reference. An unlisted airline counts as one
 * without tickets half an hour after the payment if it has issued none at all.
 */
function statusOf(raw: Fields, nowMs: number): ProviderOrder['status'] {
  // An unreadable time counts, too.
  if (raw.cancelled_at !== null && raw.cancelled_at !== undefined) return 'cancelled';
  const tickets = documentsOf(raw).filter(({ type }) => type === 'electronic_ticket');
  const passengers = (list(raw.passengers) ?? []).map((one) => text(object(one)?.id));
  if (passengers.length > 0 && isTicketed(tickets, passengers)) return 'ticketed';
  if (bookingReferenceOf(raw) === null) return 'pending';
  const paidAtMs = instantMs(object(raw.payment_status)?.paid_at);
  if (tickets.length > 0 || paidAtMs === null) return 'confirmed';
  const isTicketless = TICKETLESS.includes(text(object(raw.owner)?.iata_code) ?? '');
  return isTicketless || nowMs - paidAtMs >= TICKET_GRACE_MS ? 'ticketed' : 'confirmed';
}

/** Counts holders, as numbers may repeat: Duffel's test airline gives every ticket "1". */
function isTicketed(tickets: ReturnType<typeof documentsOf>, passengers: readonly (string | null)[]): boolean {
  if (tickets.some((ticket) => ticket.passengers === null)) return tickets.length >= passengers.length;
  const holders = new Set(tickets.flatMap((ticket) => ticket.passengers ?? []));
  return passengers.every((id) => id !== null && holders.has(id));
}

function documentsOf(raw: Fields) {
  return (list(raw.documents) ?? []).flatMap((one) => {
    const document = object(one);
    const [type, number] = [text(document?.type), text(document?.unique_identifier)];
    if (type === null || number === null) return [];
    // Null if no holder is named.
    const passengers = list(document?.passenger_ids)?.flatMap((id) => text(id) ?? []) ?? null;
    return [{ type, number, passengers }];
  });
}

/** The bags that were bought; a bag of two services, one per direction, counts once for its passenger. */
function bagsIn(raw: Fields): ProviderOrder['bags'] {
  const whole = objects(raw.slices).flatMap((slice) => objects(slice.segments)).length;
  const bought = (['checked', 'carry_on'] as const).map((type) => {
    const flights = objects(raw.services).reduce((sum, { metadata, quantity, segment_ids: segments }) => {
      const isOne = object(metadata)?.type === type;
      return isOne ? sum + (count(quantity) ?? 0) * (list(segments)?.length ?? 0) : sum;
    }, 0);
    return { type, quantity: Math.ceil(flights / Math.max(1, whole)) };
  });
  const some = bought.filter(({ quantity }) => quantity > 0);
  return some.length > 0 ? some : undefined;
}

/** Mostly six characters, seven at easyJet, thirteen at LATAM. */
function bookingReferenceOf(raw: Fields): string | null {
  const given = text(raw.booking_reference);
  return given !== null && /^[A-Za-z0-9]{5,20}$/.test(given) ? given : null;
}

/** Reads all slices, or none if one is unreadable, so that an order is not lost over its itinerary. */
function slicesOf({ zones, log }: DuffelPorts, raw: Fields, id: string): ProviderOrder['slices'] {
  const missing = (field: string): null => {
    log('warn', 'duffel_order_itinerary_unread', { order_id: id, missing: field });
    return null;
  };
  const given = list(raw.slices) ?? [];
  const read = given.flatMap((one) => readSlice(one, { zones, missing })?.slice ?? []);
  return read.length === given.length ? read : [];
}

/** Marks an order as cancelled if its confirmed cancellation can't be read yet. */
export const cancelledAt = (order: ProviderOrder, atMs: number): ProviderOrder => ({
  ...order,
  status: 'cancelled',
  updatedAtMs: Math.max(order.updatedAtMs, atMs),
});
