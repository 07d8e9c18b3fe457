import { json } from '../../kernel/http.ts';
import { decimalOf } from '../airline/index.ts';
import type {
  ChangeRecord,
  ChangeRequestRecord,
  OfferRequestRecord,
  OrderChangeRecord,
  OrderRecord,
  WorldOffer,
} from './books.ts';
import { dressedOffer, expiresAtMs, microInstant } from './dress.ts';
import { type Issue, invalid, refused } from './errors.ts';
import { offerIdOf } from './ids.ts';
import { pay } from './money-calls.ts';
import {
  changesOf,
  dressedChange,
  flownOffer,
  listedOrder,
  liveOrder,
  orderSlices,
  orderTrait,
} from './order-shape.ts';
import { type Body, type Calls, data, listOf, numbered, page, type Sandbox } from './sandbox.ts';
import { flightsOf, readSlice } from './search-calls.ts';
import { tell } from './webhook-calls.ts';

const ACTIONS = ['accepted', 'cancelled', 'changed'];

/** Changes by airlines, and changes of travellers to other flights of the seller. */
export const changeCalls: Calls = {
  'GET /air/airline_initiated_changes': async (asked) => {
    const orderId = asked.search.get('order_id');
    const orders = orderId === null ? asked.books.orders.all() : [listedOrder(asked, orderId)];
    for (const order of orders)
      if (orderTrait(asked, order) === 'changes_per_read' && order.cancelledAtMs === null)
        moveFlights(asked, order, 60);
    const changes = orders.flatMap((order) =>
      changesOf(asked, order).map((change) => dressedChange(asked, order, change)),
    );
    return json({ data: changes });
  },
  // Records an action taken outside the API.
  'PATCH /air/airline_initiated_changes/{id}': async (asked, id) => {
    const change = asked.books.changes.need(id);
    const { action_taken } = await asked.data();
    if (!ACTIONS.includes(String(action_taken)))
      throw invalid(['action_taken', 'validation_inclusion', `must be one of ${ACTIONS.join(', ')}`]);
    return accepted(asked, listedOrder(asked, change.orderId), { ...change, actionTaken: String(action_taken) });
  },
  // Accepts only the latest change.
  'POST /air/airline_initiated_changes/{id}/actions/accept': async (asked, id) => {
    const change = asked.books.changes.need(id);
    const order = listedOrder(asked, change.orderId);
    if (changesOf(asked, order).at(-1)?.id !== id) throw refused('stale_airline_initiated_change_accept');
    return accepted(asked, order, change);
  },

  'POST /air/order_change_requests': async (asked) => {
    const { books, clock } = asked;
    const { order_id, slices } = await asked.data();
    const order = liveOrder(asked, String(order_id));
    const wanted = (typeof slices === 'object' && slices !== null ? slices : {}) as Body;
    const issues: Issue[] = [];
    const added = listOf(wanted.add).map((one, at) => readSlice(asked, one, `slices/add/${at}`, issues));
    const shown = orderSlices(asked, order);
    const removed = listOf(wanted.remove).map(({ slice_id }, at) => {
      const place = shown.indexOf(String(slice_id));
      if (place < 0)
        issues.push([`slices/remove/${at}/slice_id`, 'linked_record_not_found', 'must be a slice of the order']);
      return place;
    });
    if (added.length === 0 || added.length !== removed.length)
      issues.push(['slices', 'validation_length', 'must add one slice for each removed one']);
    if (issues.length > 0) throw invalid(...issues);
    const { request } = flownOffer(asked, order);
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
    return data(dressedRequest(asked, record), 201);
  },
  'GET /air/order_change_requests/{id}': async (asked, id) =>
    data(dressedRequest(asked, numbered(asked, asked.books.changeRequests, 'ocr', id))),

  'GET /air/order_change_offers': async (asked) => {
    const { books, search } = asked;
    const id = search.get('order_change_request_id');
    const records = id === null ? books.changeRequests.all() : [numbered(asked, books.changeRequests, 'ocr', id)];
    const offers = records.flatMap((record) => candidates(asked, record).map((offer) => ({ record, offer })));
    return page(asked, offers, (one) => dressedChangeOffer(asked, one));
  },
  'GET /air/order_change_offers/{id}': async (asked, id) => data(dressedChangeOffer(asked, changeOffer(asked, id))),

  // Leaves the order as it is until the change is confirmed.
  'POST /air/order_changes': async (asked) => {
    const { selected_order_change_offer: id } = await asked.data();
    const { record, offer } = changeOffer(asked, String(id));
    const number = asked.books.count('order_change');
    const chosen = { number, changeRequest: record.number, index: offer.index, shown: null, confirmedAtMs: null };
    return data(shownChange(asked, asked.books.orderChanges.put(number, chosen)), 201);
  },
  'GET /air/order_changes/{id}': async (asked, id) =>
    data(shownChange(asked, numbered(asked, asked.books.orderChanges, 'oce', id))),
  // Charges for the change and applies it to the order.
  'POST /air/order_changes/{id}/actions/confirm': async (asked, id) => {
    const { books, clock, ids } = asked;
    const change = numbered(asked, books.orderChanges, 'oce', id);
    if (change.confirmedAtMs !== null) throw refused('order_change_already_confirmed');
    const { record, offer } = chosenIn(asked, change);
    const order = liveOrder(asked, record.orderId);
    if (clock.now() >= expiresAtMs(offer)) throw refused('offer_expired');
    const cents = changeCents(order, offer);
    pay(asked, order.currency, cents, (await asked.data()).payment);
    const shown = shownChange(asked, change);
    const totalCents = order.totalCents + cents - PENALTY_CENTS;
    books.orders.put(order.id, { ...order, changedTo: offerIdOf(ids, offer), totalCents });
    const confirmed = { ...change, shown, confirmedAtMs: clock.now() };
    return data(shownChange(asked, books.orderChanges.put(change.number, confirmed)));
  },
};

/** Moves an order's flights, shown at once and sent by webhook. */
export function moveFlights(sandbox: Sandbox, { id: orderId }: OrderRecord, movedMinutes: number): ChangeRecord {
  const { books, clock, ids } = sandbox;
  const number = books.count('change');
  const id = ids.numbered('aic', number);
  const createdAtMs = clock.now();
  const change = books.changes.put(id, { id, number, orderId, movedMinutes, createdAtMs, acceptedAtMs: null });
  tell(sandbox, {
    type: 'order.airline_initiated_change_detected',
    idempotencyKey: id,
    createdAtMs,
    object: { id, order_id: orderId, action_taken: null },
  });
  return change;
}

function accepted(sandbox: Sandbox, order: OrderRecord, change: ChangeRecord) {
  const { books, clock } = sandbox;
  const acceptedAtMs = change.acceptedAtMs ?? clock.now();
  return data(dressedChange(sandbox, order, books.changes.put(change.id, { ...change, acceptedAtMs })));
}

const MOST_OFFERS = 5;
const PENALTY_CENTS = 4_000;

function searchOf({ books }: Sandbox, { requestNumber }: ChangeRequestRecord): OfferRequestRecord {
  const request = books.requests.get(requestNumber);
  if (!request) throw new RangeError('a change request without its search');
  return request;
}

/** The seller's offers that leave the other directions as they are. */
function candidates(sandbox: Sandbox, record: ChangeRequestRecord): WorldOffer[] {
  const { offer, ownerName } = flownOffer(sandbox, listedOrder(sandbox, record.orderId));
  const isKept = (one: WorldOffer) =>
    one.offer.slices.every((slice, at) => {
      const before = offer.slices[at];
      return record.removed.includes(at) || (before && flightsOf(before) === flightsOf(slice));
    });
  return sandbox.world
    .offers(searchOf(sandbox, record))
    .filter((one) => one.ownerName === ownerName && one.offer.total_currency === offer.total_currency && isKept(one))
    .slice(0, MOST_OFFERS);
}

function dressedRequest(sandbox: Sandbox, record: ChangeRequestRecord): object {
  const { createdAtMs, slices } = searchOf(sandbox, record);
  return {
    id: sandbox.ids.numbered('ocr', record.number),
    order_id: record.orderId,
    live_mode: false,
    created_at: microInstant(createdAtMs),
    slices: { add: record.removed.map((at) => slices[at]), remove: [] },
    order_change_offers: candidates(sandbox, record).map((offer) => dressedChangeOffer(sandbox, { record, offer })),
  };
}

function changeOffer(sandbox: Sandbox, id: string) {
  const record = numbered(sandbox, sandbox.books.changeRequests, 'oco', id);
  const offer = candidates(sandbox, record).find(({ index }) => index === sandbox.ids.read('oco', id)?.index);
  if (!offer) throw refused('not_found');
  return { record, offer };
}

const chosenIn = (sandbox: Sandbox, { changeRequest, index }: OrderChangeRecord) =>
  changeOffer(sandbox, sandbox.ids.numbered('oco', changeRequest, index));

function dressedChangeOffer(sandbox: Sandbox, { record, offer }: ReturnType<typeof changeOffer>) {
  const order = listedOrder(sandbox, record.orderId);
  const { currency, totalCents } = order;
  const createdAt = microInstant(searchOf(sandbox, record).createdAtMs);
  const slicesOf = (one: WorldOffer) => {
    const { slices } = dressedOffer(sandbox, one);
    return record.removed.map((at) => slices[at]);
  };
  const cents = changeCents(order, offer);
  return {
    id: sandbox.ids.numbered('oco', record.number, offer.index),
    order_change_id: null,
    order_id: order.id,
    live_mode: false,
    change_total_amount: decimalOf(cents),
    change_total_currency: currency,
    new_total_amount: decimalOf(totalCents + cents - PENALTY_CENTS),
    new_total_currency: currency,
    penalty_total_amount: decimalOf(PENALTY_CENTS),
    penalty_total_currency: currency,
    refund_to: null,
    slices: { add: slicesOf(offer), remove: slicesOf(flownOffer(sandbox, order)) },
    conditions: { refund_before_departure: null, change_before_departure: null },
    created_at: createdAt,
    updated_at: createdAt,
    expires_at: microInstant(expiresAtMs(offer)),
  };
}

/** A cheaper flight gives nothing back. */
const changeCents = ({ totalCents }: OrderRecord, offer: WorldOffer): number =>
  Math.max(0, offer.totalCents - totalCents) + PENALTY_CENTS;

function shownChange(sandbox: Sandbox, change: OrderChangeRecord): object {
  const id = sandbox.ids.numbered('oce', change.number);
  if (change.shown) return { ...change.shown, confirmed_at: microInstant(change.confirmedAtMs ?? 0) };
  const shown = dressedChangeOffer(sandbox, chosenIn(sandbox, change));
  return { ...shown, id, confirmed_at: null, available_payment_types: ['balance'] };
}
