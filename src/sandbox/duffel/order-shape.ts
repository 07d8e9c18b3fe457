import { decimalOf } from '../airline/index.ts';
import type { ChangeRecord, OrderRecord, WorldOffer } from './books.ts';
import { dressedOffer, microInstant } from './dress.ts';
import { refused } from './errors.ts';
import { diceOf, passengerIds, traitOf } from './ids.ts';
import { type EchoedPassenger, foundOffer, type Sandbox } from './sandbox.ts';

export const changesOf = ({ books }: Sandbox, { id }: OrderRecord): ChangeRecord[] =>
  books.changes.all().filter((change) => change.orderId === id);

export const isListed = ({ clock }: Sandbox, { listedAtMs }: OrderRecord): boolean =>
  listedAtMs !== null && clock.now() >= listedAtMs;

/** Finds an order that the API shows. @throws ApiError */
export function listedOrder(sandbox: Sandbox, id: string): OrderRecord {
  const order = sandbox.books.orders.need(id);
  if (!isListed(sandbox, order)) throw refused('not_found');
  return order;
}

export function liveOrder(sandbox: Sandbox, id: string): OrderRecord {
  const order = listedOrder(sandbox, id);
  if (order.cancelledAtMs !== null) throw refused('already_cancelled');
  return order;
}

export const isTicketed = ({ clock }: Sandbox, { ticketedAtMs }: OrderRecord): boolean =>
  ticketedAtMs !== null && clock.now() >= ticketedAtMs;

export function dressedOrder(sandbox: Sandbox, order: OrderRecord): object {
  const { clock, ids, passengers } = sandbox;
  const offer = flownOffer(sandbox, order);
  const isHeld = order.heldUntilMs !== undefined;
  const paidAtMs = isHeld ? order.paidAtMs : order.createdAtMs;
  const dressed = dressedOffer(sandbox, offer);
  const changes = changesOf(sandbox, order);
  const travelling = passengers.get(order.id) ?? passengerIds(ids, offer.request).map(forgotten);
  const services = order.services.reduce((sum, { totalCents }) => sum + totalCents, 0);
  const actions = order.cancelledAtMs === null && canCancel(order) ? ['cancel', 'change', 'update'] : ['update'];
  return {
    id: order.id,
    type: isHeld ? 'hold' : 'instant',
    content: 'self_managed',
    live_mode: false,
    created_at: microInstant(order.createdAtMs),
    synced_at: microInstant(clock.now()),
    void_window_ends_at: null,
    offer_id: order.offerId,
    booking_reference: order.bookingReference,
    booking_references: [{ booking_reference: order.bookingReference, carrier: dressed.owner }],
    owner: dressed.owner,
    metadata: order.metadata,
    users: [],
    total_amount: decimalOf(order.totalCents),
    total_currency: order.currency,
    tax_amount: dressed.tax_amount,
    tax_currency: dressed.tax_currency,
    base_amount: decimalOf(order.totalCents - services - (offer.taxCents ?? 0)),
    base_currency: order.currency,
    conditions: dressed.conditions,
    slices: movedSlices(sandbox, order, minutesMoved(changes)),
    passengers: travelling.map((one) => ({
      infant_passenger_id: null,
      ...one,
      type: typeOf(offer.request.ages[passengerIds(ids, offer.request).indexOf(one.id)]),
      loyalty_programme_accounts: [],
      user_id: null,
    })),
    services: order.services.map((service) => ({
      id: ids.hashed('ser', order.id, service.id),
      type: service.type === 'seat' ? 'seat' : 'baggage',
      quantity: service.quantity,
      total_amount: decimalOf(service.totalCents),
      total_currency: order.currency,
      passenger_ids: [service.passengerId],
      segment_ids: service.segmentId ? [ids.hashed('seg', order.id, service.segmentId)] : orderSegments(sandbox, order),
      metadata: service.designator
        ? { designator: service.designator, name: '', disclosures: service.disclosures ?? [] }
        : { type: service.type, maximum_weight_kg: service.weightKg },
    })),
    payment_status: {
      awaiting_payment: awaitsPayment(order),
      paid_at: paidAtMs === undefined ? null : microInstant(paidAtMs),
      payment_required_by: awaitsPayment(order) ? microInstant(order.heldUntilMs ?? 0) : null,
      price_guarantee_expires_at: null,
    },
    // A cancelled order keeps its documents.
    documents: isTicketed(sandbox, order)
      ? travelling.map(({ id }, position) => ({
          type: 'electronic_ticket',
          unique_identifier:
            offer.ownerCode === 'ZZ'
              ? '1'
              : `000${String((diceOf(order.id, 'ticket') % 999_999_000) + position).padStart(10, '2')}`,
          passenger_ids: [id],
        }))
      : [],
    available_actions: actions,
    cancelled_at: order.cancelledAtMs === null ? null : microInstant(order.cancelledAtMs),
    cancellation: confirmedCancellation(sandbox, order.id),
    changes: [],
    airline_initiated_changes: changes.map((change) => dressedChange(sandbox, order, change)),
    sandbox_extra: [],
  };
}

export function flownOffer(sandbox: Sandbox, { offerId, changedTo }: OrderRecord): WorldOffer {
  const found = foundOffer(sandbox, changedTo ?? offerId);
  if (!found) throw new RangeError('an order without its offer');
  return found;
}

export const awaitsPayment = ({ heldUntilMs, paidAtMs, cancelledAtMs }: OrderRecord): boolean =>
  heldUntilMs !== undefined && paidAtMs === undefined && cancelledAtMs === null;

const offerSlices = (sandbox: Sandbox, order: OrderRecord) => dressedOffer(sandbox, flownOffer(sandbox, order)).slices;

/** Slice ids of the order, not its offer. */
export const orderSlices = (sandbox: Sandbox, order: OrderRecord): string[] =>
  offerSlices(sandbox, order).map(({ id }) => sandbox.ids.hashed('sli', order.id, id));

export const orderSegments = (sandbox: Sandbox, order: OrderRecord): string[] =>
  offerSlices(sandbox, order).flatMap(({ segments }) =>
    segments.map(({ id }) => sandbox.ids.hashed('seg', order.id, id)),
  );

function confirmedCancellation({ books }: Sandbox, order_id: string): object | null {
  const one = books.cancellations.all().find((each) => each.orderId === order_id && each.confirmedAtMs !== null);
  return one === undefined ? null : { id: one.id, order_id, confirmed_at: microInstant(one.confirmedAtMs ?? 0) };
}

/** Length of locators of carriers that take no cancellation. */
const NOT_CANCELLABLE_LENGTH = 13;
export const canCancel = (order: OrderRecord): boolean => order.bookingReference.length !== NOT_CANCELLABLE_LENGTH;

const typeOf = (age: number | null | undefined): string =>
  age == null ? 'adult' : age < 2 ? 'infant_without_seat' : 'child';

/** A traveller from before the last restart. */
const forgotten = (id: string): EchoedPassenger => ({
  id,
  title: 'mr',
  gender: 'm',
  given_name: 'Forgotten',
  family_name: 'Forgotten',
  born_on: '1970-01-01',
  email: 'forgotten@sandbox.farelock.invalid',
  phone_number: '+10000000000',
});

export const minutesMoved = (changes: readonly ChangeRecord[]): number =>
  changes.reduce((sum, { movedMinutes }) => sum + movedMinutes, 0);

/** An order's slices, with their own ids and moved times. */
function movedSlices(sandbox: Sandbox, order: OrderRecord, minutes: number): object[] {
  const { ids } = sandbox;
  const moved = (local: string): string =>
    new Date(Date.parse(`${local}Z`) + minutes * 60_000).toISOString().slice(0, 19);
  return offerSlices(sandbox, order).map(({ id, ngs_shelf: _, comparison_key: __, ...kept }) => ({
    ...kept,
    id: ids.hashed('sli', order.id, id),
    changeable: null,
    segments: kept.segments.map((segment) => ({
      ...segment,
      id: ids.hashed('seg', order.id, segment.id),
      departing_at: moved(segment.departing_at),
      arriving_at: moved(segment.arriving_at),
    })),
  }));
}

export function dressedChange(sandbox: Sandbox, order: OrderRecord, change: ChangeRecord): object {
  const before = minutesMoved(changesOf(sandbox, order).filter(({ number }) => number < change.number));
  const accepted = change.acceptedAtMs;
  return {
    id: change.id,
    order_id: order.id,
    created_at: microInstant(change.createdAtMs),
    updated_at: microInstant(accepted ?? change.createdAtMs),
    removed: movedSlices(sandbox, order, before),
    added: movedSlices(sandbox, order, before + change.movedMinutes),
    available_actions: accepted === null ? ['accept', 'cancel', 'change'] : [],
    action_taken: change.actionTaken ?? (accepted === null ? null : 'accepted'),
    action_taken_at: accepted === null ? null : microInstant(accepted),
    travel_agent_ticket: null,
  };
}

export function orderTrait(sandbox: Sandbox, order: OrderRecord): string | undefined {
  const found = foundOffer(sandbox, order.offerId);
  return found && traitOf(found.request);
}
