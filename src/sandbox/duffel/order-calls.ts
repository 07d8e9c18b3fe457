import type { HttpResponse } from '../../kernel/http.ts';
import { json } from '../../kernel/http.ts';
import { sha256Hex } from '../../kernel/json.ts';
import { ORDER_BEHAVIOURS, type OrderBehaviour, testRoute } from './behaviours.ts';
import type { AttemptRecord, OrderRecord } from './books.ts';
import { expiresAtMs, heldUntilMs } from './dress.ts';
import { ApiError, cutConnection, invalid, ofGateway, refused } from './errors.ts';
import { tell } from './events.ts';
import { diceOf } from './ids.ts';
import { readOrder, type WantedOrder } from './order-checks.ts';
import { awaitsPayment, dressedOrder, isListed } from './order-shape.ts';
import { page, wasCreated } from './paging.ts';
import { type Asked, data, foundOffer, misbehaved, rateLimitHeaders, type Sandbox } from './sandbox.ts';
import type { WorldOffer } from './world.ts';

/** POST /air/orders: checks an order as the API does, then takes it as the switches say. Every try is in the books. */
export async function createOrder(asked: Asked): Promise<HttpResponse> {
  const { sandbox } = asked;
  const number = sandbox.books.count('attempt');
  const body = await asked.data();
  const [offerId] = Array.isArray(body.selected_offers) ? body.selected_offers : [];
  const metadata = (body.metadata ?? {}) as Record<string, unknown>;
  const attempt: AttemptRecord = {
    number,
    atMs: sandbox.clock.now(),
    offerId: String(offerId),
    reference: typeof metadata.reference === 'string' ? metadata.reference : null,
    behaviour: null,
    status: 0,
    code: null,
    orderId: null,
  };
  try {
    const wanted = await readOrder(asked);
    return await taken(asked, attempt, wanted);
  } catch (error) {
    if (error instanceof ApiError) {
      const known = sandbox.books.attempts.get(number) ?? attempt;
      sandbox.books.attempts.put(number, { ...known, status: error.status, code: error.kinds[0]?.code ?? null });
    }
    throw error;
  }
}

async function taken(asked: Asked, attempt: AttemptRecord, wanted: WantedOrder): Promise<HttpResponse> {
  const { sandbox, signal } = asked;
  const { books, clock, underWay } = sandbox;
  const { offerId, request } = wanted;
  checkBookable(sandbox, wanted);
  const [out] = request.slices;
  const name = books.take('order') ?? (out && testRoute(out.origin, out.destination)?.order) ?? 'normal';
  const behaviour: OrderBehaviour = ORDER_BEHAVIOURS[name];
  const balance = books.settings.get('balance');
  if (behaviour.made !== 'never' && !wanted.isHeld && (balance ?? Infinity) < wanted.totalCents)
    throw refused('insufficient_balance');
  if (!behaviour.frees) underWay.add(offerId);
  try {
    // The airline takes its time before it books; who leaves meanwhile has ordered all the same.
    if (behaviour.slow) await clock.sleep(sandbox.slowMs);
    const order =
      behaviour.made === 'never' || behaviour.made === 'fails_later' ? null : make(sandbox, wanted, behaviour);
    if (behaviour.made === 'fails_later') failLater(sandbox, wanted);
    const noted = (status: number) =>
      books.attempts.put(attempt.number, { ...attempt, behaviour: name, status, orderId: order?.id ?? null });
    noted(0);
    return answered(sandbox, behaviour, order, noted, signal);
  } finally {
    underWay.delete(offerId);
  }
}

function answered(
  sandbox: Sandbox,
  { answer }: OrderBehaviour,
  order: OrderRecord | null,
  noted: (status: number) => unknown,
  signal: AbortSignal | undefined,
): HttpResponse {
  switch (answer) {
    case 'order':
    case 'order_200': {
      if (!order) throw new RangeError('an answer without its order');
      const status = answer === 'order' ? 201 : 200;
      noted(status);
      return data(dressedOrder(sandbox, order), status);
    }
    case 'accepted':
      noted(202);
      return json({ data: null }, 202);
    case 'cut':
      return cutConnection();
    case 'html':
      noted(502);
      return ofGateway(502);
    case 'html_401':
      noted(401);
      return ofGateway(401);
    case 'text_403':
      noted(403);
      return ofGateway(403, 'plain');
    default:
      if (signal?.aborted) return cutConnection();
      throw refused(answer, answer === 'rate_limit_exceeded' ? rateLimitHeaders(sandbox.clock.now(), 60, 0) : {});
  }
}

/** One order for an offer request, ever; and no second booking of the same people on the same flights at an airline. */
function checkBookable(sandbox: Sandbox, wanted: WantedOrder): void {
  const { books, clock, ids, underWay } = sandbox;
  const { offerId, request, offer } = wanted;
  if (clock.now() >= expiresAtMs(request, offer)) throw refused('offer_expired');
  const ofRequest = (id: string) => ids.read('off', id)?.number === request.number;
  const orders = books.orders.all();
  const attempted = books.attempts.all().filter((one) => one.behaviour !== null && ofRequest(one.offerId));
  const holds = ({ behaviour }: AttemptRecord) => behaviour !== null && !('frees' in ORDER_BEHAVIOURS[behaviour]);
  if (underWay.has(offerId)) throw refused('order_creation_already_attempted');
  if (attempted.some((one) => one.offerId === offerId && holds(one)))
    throw refused(
      orders.some((order) => order.offerId === offerId && isListed(order, clock.now()))
        ? 'offer_request_already_booked'
        : 'order_creation_already_attempted',
    );
  if (orders.some((order) => ofRequest(order.offerId))) throw refused('offer_request_already_booked');
  // The test airline books the same people as often as they like.
  if (offer.ownerCode === 'ZZ') return;
  const mine = travelKey(offer, sandbox, wanted.passengers);
  const isDouble = orders.some((order) => {
    const found = order.cancelledAtMs === null ? foundOffer(sandbox, order.offerId) : null;
    return found && travelKey(found.offer, sandbox, sandbox.passengers.get(order.id) ?? []) === mine;
  });
  if (isDouble) throw refused('duplicate_booking');
}

/** The flights and the people of a booking, as a digest that is compared and never kept. */
const travelKey = ({ offer, ownerName }: WorldOffer, { seed }: Sandbox, people: WantedOrder['passengers']): string =>
  sha256Hex(
    JSON.stringify([
      seed,
      ownerName,
      offer.comparison_key,
      people.map(({ given_name, family_name, born_on }) => `${given_name} ${family_name} ${born_on}`.toLowerCase()),
    ]),
  );

/** Books an order: in the books first, then told by webhook when it is there to be read. */
function make(sandbox: Sandbox, wanted: WantedOrder, { made, tickets }: OrderBehaviour): OrderRecord {
  const { books, clock, ids, passengers, stepMs } = sandbox;
  const nowMs = clock.now();
  const number = books.count('order');
  const id = ids.numbered('ord', number);
  const listedAtMs = made === 'stray' ? null : made === 'later' ? nowMs + stepMs : nowMs;
  const isTicketless = tickets === 'never' || (tickets === undefined && hasNoTickets(wanted.offer));
  const issuedAtMs = (listedAtMs ?? nowMs) + (tickets === 'later' ? stepMs : 0);
  const order = books.orders.put(id, {
    id,
    number,
    offerId: wanted.offerId,
    metadata: wanted.metadata,
    services: wanted.services,
    totalCents: wanted.totalCents,
    currency: wanted.offer.offer.total_currency,
    createdAtMs: nowMs,
    listedAtMs,
    ticketedAtMs: isTicketless || wanted.isHeld ? null : issuedAtMs,
    ...(wanted.isHeld ? { heldUntilMs: heldUntilMs(wanted.request) } : {}),
    bookingReference: recordLocator(id, wanted.offer),
    cancelledAtMs: null,
    refund: null,
  });
  passengers.set(id, wanted.passengers);
  const balance = books.settings.get('balance');
  if (balance !== undefined && !wanted.isHeld) books.settings.put('balance', balance - wanted.totalCents);
  if (listedAtMs !== null)
    tell(sandbox, {
      type: 'order.created',
      idempotencyKey: id,
      atMs: listedAtMs,
      object: { id, offer_id: wanted.offerId, booking_reference: order.bookingReference, metadata: wanted.metadata },
    });
  return order;
}

/** An order that was accepted, and that the airline refuses in the end. */
function failLater(sandbox: Sandbox, { offerId, metadata }: WantedOrder): void {
  const pending = sandbox.ids.hashed('por', offerId, sandbox.books.count('pending'));
  tell(sandbox, {
    type: 'order.creation_failed',
    idempotencyKey: Buffer.from(`failed-${pending}`).toString('base64'),
    atMs: sandbox.clock.now() + sandbox.stepMs,
    object: { id: pending, offer_id: offerId, metadata },
  });
}

/** Carriers without tickets, or with record locators longer than six characters. */
const oddityOf = ({ ownerCode }: WorldOffer): number =>
  ownerCode === null || ownerCode === 'ZZ' ? 9 : diceOf(ownerCode, 'oddity') % 10;
const hasNoTickets = (offer: WorldOffer): boolean => oddityOf(offer) === 0;

function recordLocator(orderId: string, offer: WorldOffer): string {
  const length = { 0: 7, 1: 13 }[oddityOf(offer)] ?? 6;
  const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
  return [...sha256Hex(`locator ${orderId}`).slice(0, length)]
    .map((hex, at) => letters.charAt((Number.parseInt(hex, 16) + diceOf(orderId, String(at))) % letters.length))
    .join('');
}

/** GET /air/orders/{id} */
export async function getOrder(asked: Asked, id: string): Promise<HttpResponse> {
  const { sandbox } = asked;
  const failed = await misbehaved(asked, sandbox.books.take('order_read'));
  return failed ?? data(dressedOrder(sandbox, listedOrder(sandbox, id)));
}

/** PATCH /air/orders/{id}: its metadata, which the API's own client sends within `options`. */
export async function updateOrder(asked: Asked, id: string): Promise<HttpResponse> {
  const { sandbox } = asked;
  const order = listedOrder(sandbox, id);
  const body = await asked.data();
  const { metadata } = ('options' in body ? body.options : body) as { metadata?: unknown };
  if (metadata === undefined) return data(dressedOrder(sandbox, order));
  const pairs = typeof metadata === 'object' && metadata !== null ? Object.entries(metadata) : [];
  if (pairs.length > 50 || pairs.some(([, value]) => typeof value !== 'string'))
    throw invalid([{ at: 'metadata', code: 'validation_type', message: 'must be up to 50 texts' }]);
  return data(dressedOrder(sandbox, sandbox.books.orders.put(id, { ...order, metadata: Object.fromEntries(pairs) })));
}

/** An order that the API shows. @throws ApiError for any other */
export function listedOrder({ books, clock }: Sandbox, id: string): OrderRecord {
  const order = books.orders.get(id);
  if (!order || !isListed(order, clock.now())) throw refused('not_found');
  return order;
}

/** GET /air/orders, newest first, by the filters of the query. */
export async function listOrders(asked: Asked): Promise<HttpResponse> {
  const { sandbox, search } = asked;
  const { books, clock, passengers } = sandbox;
  const behaviour = books.take('order_read');
  const failed = await misbehaved(asked, behaviour);
  if (failed) return failed;
  const offerId = search.get('offer_id');
  const locator = search.get('booking_reference');
  const names = search.getAll('passenger_name[]').map((name) => name.toLowerCase());
  const isNamed = (order: OrderRecord) =>
    names.every((name) =>
      (passengers.get(order.id) ?? []).some(
        ({ given_name, family_name }) =>
          given_name.toLowerCase().includes(name) || family_name.toLowerCase().includes(name),
      ),
    );
  const listed = books.orders
    .all()
    .filter(
      (order) =>
        behaviour !== 'empty' &&
        isListed(order, clock.now()) &&
        (offerId === null || order.offerId === offerId) &&
        (locator === null || order.bookingReference === locator) &&
        (search.get('awaiting_payment') !== 'true' || awaitsPayment(order)) &&
        isNamed(order) &&
        wasCreated(asked, order.createdAtMs),
    )
    .reverse();
  return page(asked, listed, (order) => dressedOrder(sandbox, order));
}
