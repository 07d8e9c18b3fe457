import type { ChangeRecord, OrderRecord } from './books.ts';
import { dressedOffer, microInstant } from './dress.ts';
import { diceOf } from './ids.ts';
import { amountOf } from './money.ts';
import { passengerIds, traitOf } from './names.ts';
import { foundOffer, type Sandbox } from './sandbox.ts';

interface Dressed {
  readonly slices: readonly (Readonly<Record<string, unknown>> & {
    readonly segments: readonly Readonly<Record<string, unknown>>[];
  })[];
  readonly [field: string]: unknown;
}

export const changesOf = ({ books }: Sandbox, orderId: string): ChangeRecord[] =>
  books.changes.all().filter((change) => change.orderId === orderId);

export const isListed = ({ listedAtMs }: OrderRecord, nowMs: number): boolean =>
  listedAtMs !== null && nowMs >= listedAtMs;

/** An order in the API's own shape, as it stands now: with what its airline changed since. */
export function dressedOrder(sandbox: Sandbox, order: OrderRecord): object {
  const { clock, ids, passengers } = sandbox;
  const { request, offer, state } = flownOffer(sandbox, order);
  const isHeld = order.heldUntilMs !== undefined;
  const paidAtMs = isHeld ? order.paidAtMs : order.createdAtMs;
  const dressed = dressedOffer(sandbox, request, offer, state, null) as Dressed;
  const nowMs = clock.now();
  const cancelled = order.cancelledAtMs !== null;
  const changes = changesOf(sandbox, order.id);
  const services = order.services.reduce((sum, { totalCents }) => sum + totalCents, 0);
  const createdAt = microInstant(order.createdAtMs);
  return {
    id: order.id,
    type: isHeld ? 'hold' : 'instant',
    content: 'self_managed',
    live_mode: false,
    created_at: createdAt,
    synced_at: microInstant(nowMs),
    void_window_ends_at: null,
    offer_id: order.offerId,
    booking_reference: order.bookingReference,
    booking_references: [{ booking_reference: order.bookingReference, carrier: dressed.owner }],
    owner: dressed.owner,
    metadata: order.metadata,
    users: [],
    total_amount: amountOf(order.totalCents),
    total_currency: order.currency,
    tax_amount: dressed.tax_amount,
    tax_currency: dressed.tax_currency,
    base_amount: amountOf(order.totalCents - services - (offer.taxCents ?? 0)),
    base_currency: order.currency,
    conditions: dressed.conditions,
    slices: movedSlices(sandbox, order, dressed.slices, minutesMoved(changes)),
    passengers: (passengers.get(order.id) ?? forgotten(passengerIds(ids, request))).map((one) => ({
      ...one,
      type: 'adult',
      infant_passenger_id: null,
      loyalty_programme_accounts: [],
      user_id: null,
    })),
    services: order.services.map((service) => ({
      id: ids.hashed('ser', order.id, service.id),
      type: service.type === 'seat' ? 'seat' : 'baggage',
      quantity: service.quantity,
      total_amount: amountOf(service.totalCents),
      total_currency: order.currency,
      passenger_ids: [service.passengerId],
      segment_ids: service.segmentId ? [ids.hashed('seg', order.id, service.segmentId)] : orderSegments(sandbox, order),
      metadata: service.designator
        ? { designator: service.designator, name: '', disclosures: [] }
        : { type: service.type, maximum_weight_kg: service.weightKg },
    })),
    payment_status: {
      awaiting_payment: awaitsPayment(order),
      paid_at: paidAtMs === undefined ? null : microInstant(paidAtMs),
      payment_required_by: awaitsPayment(order) ? microInstant(order.heldUntilMs ?? 0) : null,
      price_guarantee_expires_at: null,
    },
    documents: documentsOf(order, nowMs, dressed.owner),
    available_actions: cancelled ? ['update'] : canCancel(order) ? ['cancel', 'change', 'update'] : ['update'],
    cancelled_at: order.cancelledAtMs === null ? null : microInstant(order.cancelledAtMs),
    cancellation: confirmedCancellation(sandbox, order.id),
    changes: [],
    airline_initiated_changes: changes.map((change) => dressedChange(sandbox, order, dressed.slices, change)),
    sandbox_extra: [],
  };

  function documentsOf({ ticketedAtMs }: OrderRecord, atMs: number, owner: unknown): object[] {
    // A cancelled order keeps its documents.
    if (ticketedAtMs === null || atMs < ticketedAtMs) return [];
    const isZz = (owner as { iata_code: string | null }).iata_code === 'ZZ';
    return (passengers.get(order.id) ?? forgotten(passengerIds(ids, request))).map((one, position) => ({
      type: 'electronic_ticket',
      unique_identifier: isZz
        ? '1'
        : `000${String((diceOf(order.id, 'ticket') % 999_999_000) + position).padStart(10, '2')}`,
      passenger_ids: [one.id],
    }));
  }
}

/** The offer whose flights an order has now. */
export function flownOffer(sandbox: Sandbox, { offerId, changedTo }: OrderRecord) {
  const found = foundOffer(sandbox, changedTo ?? offerId);
  if (!found) throw new RangeError('an order without its offer');
  return found;
}

export const awaitsPayment = ({ heldUntilMs, paidAtMs, cancelledAtMs }: OrderRecord): boolean =>
  heldUntilMs !== undefined && paidAtMs === undefined && cancelledAtMs === null;

/** The order's own ids of all its flights. */
export const orderSegments = (sandbox: Sandbox, order: OrderRecord): string[] =>
  offerSlices(sandbox, order).flatMap(({ segments }) =>
    segments.map(({ id }) => sandbox.ids.hashed('seg', order.id, String(id))),
  );

const confirmedCancellation = ({ books }: Sandbox, orderId: string): object | null => {
  const one = books.cancellations.all().find((each) => each.orderId === orderId && each.confirmedAtMs !== null);
  return one === undefined
    ? null
    : { id: one.id, order_id: orderId, confirmed_at: microInstant(one.confirmedAtMs ?? 0) };
};

/** A few agencies' orders can't be cancelled through the API. */
export const canCancel = (order: OrderRecord): boolean => order.bookingReference.length !== NOT_CANCELLABLE_LENGTH;
/** Record locators of this length are of the carrier that has no cancellation. */
const NOT_CANCELLABLE_LENGTH = 13;

/** After a restart nobody knows any more who travels. */
const forgotten = (ids: readonly string[]) =>
  ids.map((id) => ({
    id,
    title: 'mr',
    gender: 'm',
    given_name: 'Forgotten',
    family_name: 'Forgotten',
    born_on: '1970-01-01',
    email: 'forgotten@sandbox.farelock.invalid',
    phone_number: '+10000000000',
  }));

export const minutesMoved = (changes: readonly ChangeRecord[]): number =>
  changes.reduce((sum, { movedMinutes }) => sum + movedMinutes, 0);

/** The slices with ids of their own, and their times moved. */
export function movedSlices(
  { ids }: Sandbox,
  order: OrderRecord,
  slices: Dressed['slices'],
  minutes: number,
): object[] {
  return slices.map((slice) => {
    const { id, ngs_shelf: _, comparison_key: __, ...kept } = slice;
    return {
      ...kept,
      id: ids.hashed('sli', order.id, String(id)),
      changeable: null,
      segments: slice.segments.map((segment) => ({
        ...segment,
        id: ids.hashed('seg', order.id, String(segment.id)),
        departing_at: movedTime(String(segment.departing_at), minutes),
        arriving_at: movedTime(String(segment.arriving_at), minutes),
      })),
    };
  });
}

const movedTime = (local: string, minutes: number): string =>
  new Date(Date.parse(`${local}Z`) + minutes * 60_000).toISOString().slice(0, 19);

/** A change by the airline: the slices as they were, and as they are. */
export function dressedChange(
  sandbox: Sandbox,
  order: OrderRecord,
  slices: Dressed['slices'],
  change: ChangeRecord,
): object {
  const changes = changesOf(sandbox, order.id);
  const before = minutesMoved(changes.filter(({ number }) => number < change.number));
  const accepted = change.acceptedAtMs;
  return {
    id: change.id,
    order_id: order.id,
    created_at: microInstant(change.createdAtMs),
    updated_at: microInstant(accepted ?? change.createdAtMs),
    removed: movedSlices(sandbox, order, slices, before),
    added: movedSlices(sandbox, order, slices, before + change.movedMinutes),
    available_actions: accepted === null ? ['accept', 'cancel', 'change'] : [],
    action_taken: change.actionTaken ?? (accepted === null ? null : 'accepted'),
    action_taken_at: accepted === null ? null : microInstant(accepted),
    travel_agent_ticket: null,
  };
}

/** The slices of an order's offer, as its changes are written from. */
export function offerSlices(sandbox: Sandbox, order: OrderRecord): Dressed['slices'] {
  const found = flownOffer(sandbox, order);
  return (dressedOffer(sandbox, found.request, found.offer, found.state, null) as Dressed).slices;
}

/** The trait of the test route that an order was booked on. */
export function orderTrait(sandbox: Sandbox, order: OrderRecord): string | undefined {
  const found = foundOffer(sandbox, order.offerId);
  return found ? traitOf(found.request) : undefined;
}
