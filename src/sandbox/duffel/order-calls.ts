import { type HttpResponse, json } from '../../kernel/http.ts';
import { sha256Hex } from '../../kernel/json.ts';
import { ORDER_BEHAVIOURS, type OrderBehaviour } from './behaviours.ts';
import type { AttemptRecord, OrderRecord, WorldOffer } from './books.ts';
import { expiresAtMs, heldUntilMs } from './dress.ts';
import { ApiError, cutConnection, invalid, ofGateway, refused } from './errors.ts';
import { diceOf } from './ids.ts';
import { readOrder, type WantedOrder } from './order-checks.ts';
import { awaitsPayment, dressedOrder, isListed, listedOrder } from './order-shape.ts';
import {
  type Asked,
  addToBalance,
  behaviourOn,
  type Calls,
  data,
  type EchoedPassenger,
  foundOffer,
  misbehaved,
  page,
  rateLimitHeaders,
  type Sandbox,
  wasCreated,
} from './sandbox.ts';
import { tell } from './webhook-calls.ts';

export const orderCalls: Calls = {
  'POST /air/orders': createOrder,
  'GET /air/orders': listOrders,
  'GET /air/orders/{id}': async (asked, id) => {
    const failed = await misbehaved(asked, asked.books.take('order_read'));
    return failed ?? data(dressedOrder(asked, listedOrder(asked, id)));
  },
  // Changes metadata; Duffel's own client sends it within `options`.
  'PATCH /air/orders/{id}': async (asked, id) => {
    const order = listedOrder(asked, id);
    const body = await asked.data();
    const { metadata } = ('options' in body ? body.options : body) as { metadata?: unknown };
    if (metadata === undefined) return data(dressedOrder(asked, order));
    const pairs = typeof metadata === 'object' && metadata !== null ? Object.entries(metadata) : [];
    if (pairs.length > 50 || pairs.some(([, value]) => typeof value !== 'string'))
      throw invalid(['metadata', 'validation_type', 'must be up to 50 texts']);
    return data(dressedOrder(asked, asked.books.orders.put(id, { ...order, metadata: Object.fromEntries(pairs) })));
  },
};

/** Checks an order and takes it as the switches say. Every try is recorded. */
async function createOrder(asked: Asked): Promise<HttpResponse> {
  const { books, clock } = asked;
  const number = books.count('attempt');
  const body = await asked.data();
  const [offerId] = Array.isArray(body.selected_offers) ? body.selected_offers : [];
  const { reference } = (body.metadata ?? {}) as Record<string, unknown>;
  const attempt: AttemptRecord = {
    number,
    atMs: clock.now(),
    offerId: String(offerId),
    reference: typeof reference === 'string' ? reference : null,
    behaviour: null,
    status: 0,
    code: null,
    orderId: null,
  };
  try {
    return await taken(asked, attempt, await readOrder(asked));
  } catch (error) {
    if (error instanceof ApiError) {
      const known = books.attempts.get(number) ?? attempt;
      books.attempts.put(number, { ...known, status: error.status, code: error.kinds[0]?.code ?? null });
    }
    throw error;
  }
}

async function taken(asked: Asked, attempt: AttemptRecord, wanted: WantedOrder): Promise<HttpResponse> {
  const { books, clock, underWay } = asked;
  const { offerId, offer } = wanted;
  checkBookable(asked, wanted);
  const name = behaviourOn(asked, 'order', offer.request) ?? 'normal';
  const behaviour: OrderBehaviour = ORDER_BEHAVIOURS[name];
  const { made } = behaviour;
  if (made !== 'never' && !wanted.isHeld && (books.settings.get('balance') ?? Infinity) < wanted.totalCents)
    throw refused('insufficient_balance');
  if (!behaviour.frees) underWay.add(offerId);
  try {
    // Books after a pause, even if the caller has left.
    if (behaviour.slow) await clock.sleep(asked.slowMs);
    const order = made === 'never' || made === 'fails_later' ? null : make(asked, wanted, behaviour);
    if (made === 'fails_later') failLater(asked, wanted);
    const noted = (status: number) =>
      books.attempts.put(attempt.number, { ...attempt, behaviour: name, status, orderId: order?.id ?? null });
    noted(0);
    const answer = answered(asked, behaviour.answer, order);
    if (answer.status !== cutConnection().status) noted(answer.status);
    return answer;
  } finally {
    underWay.delete(offerId);
  }
}

function answered(asked: Asked, answer: OrderBehaviour['answer'], order: OrderRecord | null): HttpResponse {
  switch (answer) {
    case 'order':
    case 'order_200':
      if (!order) throw new RangeError('an answer without its order');
      return data(dressedOrder(asked, order), answer === 'order' ? 201 : 200);
    case 'accepted':
      return json({ data: null }, 202);
    case 'cut':
      return cutConnection();
    case 'html':
      return ofGateway(502);
    case 'html_401':
      return ofGateway(401);
    case 'text_403':
      return ofGateway(403, 'plain');
    default:
      if (asked.signal?.aborted) return cutConnection();
      throw refused(answer, answer === 'rate_limit_exceeded' ? rateLimitHeaders(asked.clock.now(), 60, 0) : {});
  }
}

/** Allows one order per offer request, and people only once on an airline's flights. @throws ApiError */
function checkBookable(sandbox: Sandbox, wanted: WantedOrder): void {
  const { books, clock, ids, underWay } = sandbox;
  const { offerId, offer } = wanted;
  if (clock.now() >= expiresAtMs(offer)) throw refused('offer_expired');
  const ofRequest = (id: string) => ids.read('off', id)?.number === offer.request.number;
  const orders = books.orders.all();
  const holds = ({ behaviour }: AttemptRecord) => behaviour !== null && !('frees' in ORDER_BEHAVIOURS[behaviour]);
  if (underWay.has(offerId)) throw refused('order_creation_already_attempted');
  if (books.attempts.all().some((one) => one.offerId === offerId && holds(one)))
    throw refused(
      orders.some((order) => order.offerId === offerId && isListed(sandbox, order))
        ? 'offer_request_already_booked'
        : 'order_creation_already_attempted',
    );
  if (orders.some((order) => ofRequest(order.offerId))) throw refused('offer_request_already_booked');
  // The test airline allows repeated bookings.
  if (offer.ownerCode === 'ZZ') return;
  const mine = travelKey(sandbox, offer, wanted.passengers);
  const isDouble = orders.some((order) => {
    const found = order.cancelledAtMs === null && foundOffer(sandbox, order.offerId);
    return found && travelKey(sandbox, found, sandbox.passengers.get(order.id) ?? []) === mine;
  });
  if (isDouble) throw refused('duplicate_booking');
}

/** A digest of flights and people, for comparing; it is never stored. */
const travelKey = ({ seed }: Sandbox, { offer, ownerName }: WorldOffer, people: readonly EchoedPassenger[]): string =>
  sha256Hex(
    JSON.stringify([
      seed,
      ownerName,
      offer.comparison_key,
      people.map(({ given_name, family_name, born_on }) => `${given_name} ${family_name} ${born_on}`.toLowerCase()),
    ]),
  );

/** Writes an order, and its webhook for the time when it can be read. */
function make(sandbox: Sandbox, wanted: WantedOrder, { made, tickets }: OrderBehaviour): OrderRecord {
  const { books, clock, ids, passengers, stepMs } = sandbox;
  const nowMs = clock.now();
  const id = ids.numbered('ord', books.count('order'));
  const listedAtMs = made === 'stray' ? null : made === 'later' ? nowMs + stepMs : nowMs;
  const isTicketless = tickets === 'never' || (tickets === undefined && oddityOf(wanted.offer) === 0);
  const issuedAtMs = (listedAtMs ?? nowMs) + (tickets === 'later' ? stepMs : 0);
  const order = books.orders.put(id, {
    id,
    offerId: wanted.offerId,
    metadata: wanted.metadata,
    services: wanted.services,
    totalCents: wanted.totalCents,
    currency: wanted.offer.offer.total_currency,
    createdAtMs: nowMs,
    listedAtMs,
    ticketedAtMs: isTicketless || wanted.isHeld ? null : issuedAtMs,
    ...(wanted.isHeld ? { heldUntilMs: heldUntilMs(wanted.offer.request) } : {}),
    bookingReference: recordLocator(id, wanted.offer),
    cancelledAtMs: null,
    refund: null,
  });
  passengers.set(id, wanted.passengers);
  if (!wanted.isHeld) addToBalance(sandbox, -wanted.totalCents);
  if (listedAtMs !== null)
    tell(sandbox, {
      type: 'order.created',
      idempotencyKey: id,
      createdAtMs: listedAtMs,
      object: { id, offer_id: wanted.offerId, booking_reference: order.bookingReference, metadata: wanted.metadata },
    });
  return order;
}

/** Tells later, by webhook, that an accepted order failed. */
function failLater(sandbox: Sandbox, { offerId, metadata }: WantedOrder): void {
  const pending = sandbox.ids.hashed('por', offerId, sandbox.books.count('pending'));
  tell(sandbox, {
    type: 'order.creation_failed',
    idempotencyKey: Buffer.from(`failed-${pending}`).toString('base64'),
    createdAtMs: sandbox.clock.now() + sandbox.stepMs,
    object: { id: pending, offer_id: offerId, metadata },
  });
}

/** 0 and 1 mean long record locators, and 0 also no tickets. */
const oddityOf = ({ ownerCode }: WorldOffer): number =>
  ownerCode === null || ownerCode === 'ZZ' ? 9 : diceOf(ownerCode, 'oddity') % 10;

function recordLocator(orderId: string, offer: WorldOffer): string {
  const length = { 0: 7, 1: 13 }[oddityOf(offer)] ?? 6;
  const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
  return [...sha256Hex(`locator ${orderId}`).slice(0, length)]
    .map((hex, at) => letters.charAt((Number.parseInt(hex, 16) + diceOf(orderId, String(at))) % letters.length))
    .join('');
}

/** Newest first, filtered by the query. */
async function listOrders(asked: Asked): Promise<HttpResponse> {
  const { books, passengers, search } = asked;
  const behaviour = books.take('order_read');
  const failed = await misbehaved(asked, behaviour);
  if (failed) return failed;
  const offerId = search.get('offer_id');
  const locator = search.get('booking_reference');
  const names = search.getAll('passenger_name[]').map((name) => name.toLowerCase());
  const isNamed = (order: OrderRecord) =>
    names.every((name) =>
      passengers
        .get(order.id)
        ?.some((one) => [one.given_name, one.family_name].some((part) => part.toLowerCase().includes(name))),
    );
  const listed = books.orders
    .all()
    .filter(
      (order) =>
        behaviour !== 'empty' &&
        isListed(asked, order) &&
        (offerId === null || order.offerId === offerId) &&
        (locator === null || order.bookingReference === locator) &&
        (search.get('awaiting_payment') !== 'true' || awaitsPayment(order)) &&
        isNamed(order) &&
        wasCreated(asked, order.createdAtMs),
    )
    .reverse();
  return page(asked, listed, (order) => dressedOrder(asked, order));
}
