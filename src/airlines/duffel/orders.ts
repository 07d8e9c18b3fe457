import { problem } from '../../kernel/problems.ts';
import type { ProviderOrder } from '../provider.ts';
import { readSlice } from './itinerary.ts';
import { amount, currency, type Fields, instantMs, list, object, objects, orderId, text } from './read.ts';
import { type Answer, type DuffelPorts, dataOf, failed, isOk } from './transport.ts';

/** Airlines that are known to issue no electronic tickets, by the code of the order's owner: easyJet, Vueling, Jetstar. */
const TICKETLESS = ['U2', 'VY', 'JQ'];
/** How long a paid order of any other airline may wait for its tickets before it counts as ticketless. */
const TICKET_GRACE_MS = 30 * 60_000;

export interface Found {
  readonly raw: Fields;
  readonly answer: Answer;
}

/**
 * An order, and whether it can be cancelled through Duffel.
 * @throws Problem `order_not_found`, `upstream_rate_limited`, `provider_failed`
 */
export async function readOrder(ports: DuffelPorts, id: string) {
  if (orderId(id) === null) throw problem('order_not_found');
  const answer = await askOrder(ports, id);
  const rows = await ports.attempts.byOrder(id);
  const ours = rows.find(({ verdict }) => verdict === 'ordered')?.reference;
  if (answer.status === 404 && answer.codes.includes('not_found')) {
    // A new order may be readable only a little later, so its absence decides nothing.
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

/** The order with this reference among those for an offer; null: none is seen, which proves nothing. */
export async function seenOrder({ transport }: DuffelPorts, offer: string, reference: string): Promise<Found | null> {
  let after: string | null = '';
  for (let pages = 0; after !== null && pages < 5; pages++) {
    const query = new URLSearchParams({ offer_id: offer, limit: '200' });
    if (after !== '') query.set('after', after);
    const path = `/air/orders?${query}`;
    const answer: Answer = await transport.ask({ operation: 'orders', path, isQuick: true });
    const given = list(answer.data);
    if (!isOk(answer) || !given) throw failed(answer);
    const raw = objects(given).find((one) => referenceOf(one) === reference);
    if (raw && orderId(raw.id) !== null) return { raw, answer };
    after = answer.after;
  }
  return null;
}

/**
 * An order as the service knows orders. Names, birth dates and contacts that Duffel repeats are left out.
 * @throws Problem `provider_failed` where it can't be read
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
    failure: null,
    createdAtMs,
    updatedAtMs: Math.max(createdAtMs, paidAtMs ?? 0, cancelledAtMs ?? 0),
  };
}

/**
 * `cancelled` comes first: a cancelled order keeps its tickets. `ticketed` is an electronic ticket for every passenger;
 * or, of an airline that issues none, a paid order with its booking reference. Whether an airline issues tickets is known
 * of a few, and of any other only by waiting: half an hour after the payment without any ticket at all.
 */
function statusOf(raw: Fields, nowMs: number): ProviderOrder['status'] {
  // Anything in this field but null: an instant that can't be read is not "not cancelled".
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

/** Numbers may repeat: those of Duffel's test airline are all "1". */
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
    // null: it does not say whose it is.
    const passengers = list(document?.passenger_ids)?.flatMap((id) => text(id) ?? []) ?? null;
    return [{ type, number, passengers }];
  });
}

/** Six characters mostly, seven with easyJet, thirteen with LATAM. */
function bookingReferenceOf(raw: Fields): string | null {
  const given = text(raw.booking_reference);
  return given !== null && /^[A-Za-z0-9]{5,20}$/.test(given) ? given : null;
}

/** All slices, or none where one can't be read: an order is never lost over its itinerary. */
function slicesOf({ zones, log }: DuffelPorts, raw: Fields, id: string): ProviderOrder['slices'] {
  const missing = (field: string): null => {
    log('warn', 'duffel_order_itinerary_unread', { order_id: id, missing: field });
    return null;
  };
  const given = list(raw.slices) ?? [];
  const read = given.flatMap((one) => readSlice(one, { zones, missing })?.slice ?? []);
  return read.length === given.length ? read : [];
}

/** An order whose cancellation was confirmed, where it can't be read again right now. */
export const cancelledAt = (order: ProviderOrder, atMs: number): ProviderOrder => ({
  ...order,
  status: 'cancelled',
  updatedAtMs: Math.max(order.updatedAtMs, atMs),
});
