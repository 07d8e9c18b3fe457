import type { HttpResponse } from '../../kernel/http.ts';
import type { ChangeRequestRecord, OfferRequestRecord, OrderChangeRecord, OrderRecord } from './books.ts';
import { dressedOffer, expiresAtMs, microInstant } from './dress.ts';
import { type Issue, invalid, refused } from './errors.ts';
import { amountOf } from './money.ts';
import { offerIdOf } from './names.ts';
import { flightsOf } from './offer-calls.ts';
import { listedOrder } from './order-calls.ts';
import { flownOffer, offerSlices } from './order-shape.ts';
import { page } from './paging.ts';
import { pay } from './payment-calls.ts';
import { type Asked, data, type Sandbox } from './sandbox.ts';
import { listOf, readSlice } from './search-calls.ts';
import type { WorldOffer } from './world.ts';

/** Changes that a traveller wants: other flights for some directions of an order, by the same seller. */

const MOST_OFFERS = 5;
const PENALTY_CENTS = 4_000;

/** POST /air/order_change_requests */
export async function createChangeRequest(asked: Asked): Promise<HttpResponse> {
  const { sandbox } = asked;
  const { books, clock, ids, world } = sandbox;
  const { order_id, slices } = await asked.data();
  const order = listedOrder(sandbox, String(order_id));
  if (order.cancelledAtMs !== null) throw refused('already_cancelled');
  const wanted = (typeof slices === 'object' && slices !== null ? slices : {}) as Record<string, unknown>;
  const issues: Issue[] = [];
  const today = new Date(clock.now()).toISOString().slice(0, 10);
  const added = listOf(wanted.add).map((one, at) => readSlice(one, `slices/add/${at}`, today, issues, world.airports));
  const shown = offerSlices(sandbox, order).map(({ id }) => ids.hashed('sli', order.id, String(id)));
  const removed = listOf(wanted.remove).map(({ slice_id }, at) => {
    const place = shown.indexOf(String(slice_id));
    if (place < 0)
      issues.push({
        at: `slices/remove/${at}/slice_id`,
        code: 'linked_record_not_found',
        message: 'must be a slice of the order',
      });
    return place;
  });
  if (added.length === 0 || added.length !== removed.length)
    issues.push({ at: 'slices', code: 'validation_length', message: 'must add one slice for each removed one' });
  if (issues.length > 0) throw invalid(issues);
  const { request } = flownOffer(sandbox, order);
  const requestNumber = books.count('request');
  books.requests.put(requestNumber, {
    ...request,
    number: requestNumber,
    passengersOf: request.passengersOf ?? request.number,
    slices: request.slices.map((slice, at) => added[removed.indexOf(at)] ?? slice),
    createdAtMs: clock.now(),
  });
  const number = books.count('change_request');
  const record = books.changeRequests.put(number, { number, orderId: order.id, requestNumber, removed });
  return data(dressedRequest(sandbox, record), 201);
}

/** GET /air/order_change_requests/{id} */
export const getChangeRequest = async ({ sandbox }: Asked, id: string): Promise<HttpResponse> =>
  data(dressedRequest(sandbox, recordOf(sandbox, id)));

function recordOf({ books, ids }: Sandbox, id: string): ChangeRequestRecord {
  const read = ids.read('ocr', id);
  const record = read && books.changeRequests.get(read.number);
  if (!record) throw refused('not_found');
  return record;
}

function searchOf({ books }: Sandbox, { requestNumber }: ChangeRequestRecord): OfferRequestRecord {
  const request = books.requests.get(requestNumber);
  if (!request) throw new RangeError('a change request without its search');
  return request;
}

/** Offers of the order's seller that leave the other directions as they are. */
function candidates(sandbox: Sandbox, record: ChangeRequestRecord): WorldOffer[] {
  const { offer } = flownOffer(sandbox, listedOrder(sandbox, record.orderId));
  const isKept = (one: WorldOffer) =>
    one.offer.slices.every((slice, at) => {
      const before = offer.offer.slices[at];
      return record.removed.includes(at) || (before && flightsOf(before) === flightsOf(slice));
    });
  return sandbox.world
    .offers(searchOf(sandbox, record))
    .filter(
      (one) =>
        one.ownerName === offer.ownerName && one.offer.total_currency === offer.offer.total_currency && isKept(one),
    )
    .slice(0, MOST_OFFERS);
}

function dressedRequest(sandbox: Sandbox, record: ChangeRequestRecord): object {
  const { ids } = sandbox;
  const { slices } = searchOf(sandbox, record);
  return {
    id: ids.numbered('ocr', record.number),
    order_id: record.orderId,
    live_mode: false,
    created_at: microInstant(searchOf(sandbox, record).createdAtMs),
    slices: { add: record.removed.map((at) => slices[at]), remove: [] },
    order_change_offers: candidates(sandbox, record).map((offer) => dressedChange(sandbox, record, offer)),
  };
}

/** GET /air/order_change_offers?order_change_request_id=, or all of them */
export async function listChangeOffers(asked: Asked): Promise<HttpResponse> {
  const { sandbox, search } = asked;
  const id = search.get('order_change_request_id');
  const records = id === null ? sandbox.books.changeRequests.all() : [recordOf(sandbox, id)];
  const offers = records.flatMap((record) => candidates(sandbox, record).map((offer) => ({ record, offer })));
  return page(asked, offers, ({ record, offer }) => dressedChange(sandbox, record, offer));
}

/** GET /air/order_change_offers/{id} */
export const getChangeOffer = async ({ sandbox }: Asked, id: string): Promise<HttpResponse> => {
  const { record, offer } = changeOffer(sandbox, id);
  return data(dressedChange(sandbox, record, offer));
};

function changeOffer(sandbox: Sandbox, id: string) {
  const read = sandbox.ids.read('oco', id);
  const record = read && sandbox.books.changeRequests.get(read.number);
  const offer = record && candidates(sandbox, record).find(({ index }) => index === read.index);
  if (!offer) throw refused('not_found');
  return { record, offer };
}

/** What a change costs, and the directions that it swaps: of an offer, or of a change that was made from one. */
function dressedChange(sandbox: Sandbox, record: ChangeRequestRecord, offer: WorldOffer): object {
  const { ids } = sandbox;
  const order = listedOrder(sandbox, record.orderId);
  const request = searchOf(sandbox, record);
  const slicesOf = (one: WorldOffer, search: OfferRequestRecord) => {
    const { slices } = dressedOffer(sandbox, search, one, undefined, null) as { slices: object[] };
    return record.removed.map((at) => slices[at]);
  };
  const before = flownOffer(sandbox, order);
  return {
    id: ids.numbered('oco', record.number, offer.index),
    order_change_id: null,
    order_id: order.id,
    live_mode: false,
    ...amounts(order, offer),
    refund_to: null,
    slices: { add: slicesOf(offer, request), remove: slicesOf(before.offer, before.request) },
    conditions: { refund_before_departure: null, change_before_departure: null },
    created_at: microInstant(request.createdAtMs),
    updated_at: microInstant(request.createdAtMs),
    expires_at: microInstant(expiresAtMs(request, offer)),
  };
}

/** The airline gives nothing back for a cheaper flight. */
const changeCents = ({ totalCents }: Pick<OrderRecord, 'totalCents'>, offer: WorldOffer): number =>
  Math.max(0, offer.totalCents - totalCents) + PENALTY_CENTS;

const amounts = (order: OrderRecord, offer: WorldOffer): object => ({
  change_total_amount: amountOf(changeCents(order, offer)),
  change_total_currency: order.currency,
  new_total_amount: amountOf(order.totalCents + changeCents(order, offer) - PENALTY_CENTS),
  new_total_currency: order.currency,
  penalty_total_amount: amountOf(PENALTY_CENTS),
  penalty_total_currency: order.currency,
});

/** POST /air/order_changes: nothing is changed until it is confirmed. */
export async function createChange(asked: Asked): Promise<HttpResponse> {
  const { sandbox } = asked;
  const { selected_order_change_offer: id } = await asked.data();
  const { record, offer } = changeOffer(sandbox, String(id));
  const number = sandbox.books.count('order_change');
  const change = sandbox.books.orderChanges.put(number, {
    number,
    changeRequest: record.number,
    index: offer.index,
    shown: null,
    confirmedAtMs: null,
  });
  return data(shownChange(sandbox, change), 201);
}

/** GET /air/order_changes/{id} */
export const getChange = async ({ sandbox }: Asked, id: string): Promise<HttpResponse> =>
  data(shownChange(sandbox, changeOf(sandbox, id)));

function changeOf({ books, ids }: Sandbox, id: string): OrderChangeRecord {
  const read = ids.read('oce', id);
  const change = read && books.orderChanges.get(read.number);
  if (!change) throw refused('not_found');
  return change;
}

function shownChange(sandbox: Sandbox, change: OrderChangeRecord): object {
  const id = sandbox.ids.numbered('oce', change.number);
  if (change.shown) return { ...change.shown, confirmed_at: microInstant(change.confirmedAtMs ?? 0) };
  const { record, offer } = chosenIn(sandbox, change);
  return { ...dressedChange(sandbox, record, offer), id, confirmed_at: null, available_payment_types: ['balance'] };
}

const chosenIn = (sandbox: Sandbox, { changeRequest, index }: OrderChangeRecord) =>
  changeOffer(sandbox, sandbox.ids.numbered('oco', changeRequest, index));

/** POST /air/order_changes/{id}/actions/confirm: takes the price of the change, and moves the order. */
export async function confirmChange(asked: Asked, id: string): Promise<HttpResponse> {
  const { sandbox } = asked;
  const { books, clock, ids } = sandbox;
  const change = changeOf(sandbox, id);
  if (change.confirmedAtMs !== null) throw refused('order_change_already_confirmed');
  const { record, offer } = chosenIn(sandbox, change);
  const order = listedOrder(sandbox, record.orderId);
  if (order.cancelledAtMs !== null) throw refused('already_cancelled');
  if (clock.now() >= expiresAtMs(searchOf(sandbox, record), offer)) throw refused('offer_expired');
  const cents = changeCents(order, offer);
  pay(sandbox, order.currency, cents, (await asked.data()).payment);
  const shown = shownChange(sandbox, change);
  books.orders.put(order.id, {
    ...order,
    changedTo: offerIdOf(ids, offer),
    totalCents: order.totalCents + cents - PENALTY_CENTS,
  });
  return data(
    shownChange(sandbox, books.orderChanges.put(change.number, { ...change, shown, confirmedAtMs: clock.now() })),
  );
}
