import type { HttpResponse } from '../../kernel/http.ts';
import { json } from '../../kernel/http.ts';
import type { ChangeRecord, OrderRecord } from './books.ts';
import { invalid, refused } from './errors.ts';
import { tell } from './events.ts';
import { listedOrder } from './order-calls.ts';
import { changesOf, dressedChange, offerSlices, orderTrait } from './order-shape.ts';
import { type Asked, data, type Sandbox } from './sandbox.ts';

/** Moves all flights of an order, as its airline would: the order shows it at once, and a webhook tells. */
export function moveFlights(sandbox: Sandbox, order: OrderRecord, minutes: number): ChangeRecord {
  const { books, clock, ids } = sandbox;
  const number = books.count('change');
  const id = ids.numbered('aic', number);
  const change = books.changes.put(id, {
    id,
    number,
    orderId: order.id,
    movedMinutes: minutes,
    createdAtMs: clock.now(),
    acceptedAtMs: null,
  });
  tell(sandbox, {
    type: 'order.airline_initiated_change_detected',
    idempotencyKey: id,
    atMs: clock.now(),
    object: { id, order_id: order.id, action_taken: null },
  });
  return change;
}

/** GET /air/airline_initiated_changes?order_id= */
export async function listChanges({ sandbox, search }: Asked): Promise<HttpResponse> {
  const orderId = search.get('order_id');
  const orders = orderId === null ? sandbox.books.orders.all() : [listedOrder(sandbox, orderId)];
  for (const order of orders)
    if (orderTrait(sandbox, order) === 'changes_per_read' && order.cancelledAtMs === null)
      moveFlights(sandbox, order, 60);
  const changes = orders.flatMap((order) =>
    changesOf(sandbox, order.id).map((change) => dressedChange(sandbox, order, offerSlices(sandbox, order), change)),
  );
  return json({ data: changes });
}

const ACTIONS = ['accepted', 'cancelled', 'changed'];

/** PATCH /air/airline_initiated_changes/{id}: what was done about it elsewhere. */
export async function updateChange(asked: Asked, id: string): Promise<HttpResponse> {
  const { sandbox } = asked;
  const { books, clock } = sandbox;
  const change = books.changes.get(id);
  if (!change) throw refused('not_found');
  const { action_taken } = await asked.data();
  if (!ACTIONS.includes(String(action_taken)))
    throw invalid([
      { at: 'action_taken', code: 'validation_inclusion', message: `must be one of ${ACTIONS.join(', ')}` },
    ]);
  const order = listedOrder(sandbox, change.orderId);
  const acceptedAtMs = change.acceptedAtMs ?? clock.now();
  const updated = books.changes.put(id, { ...change, acceptedAtMs, actionTaken: String(action_taken) });
  return data(dressedChange(sandbox, order, offerSlices(sandbox, order), updated));
}

/** POST /air/airline_initiated_changes/{id}/actions/accept: the latest alone. */
export async function acceptChange({ sandbox }: Asked, id: string): Promise<HttpResponse> {
  const { books, clock } = sandbox;
  const change = books.changes.get(id);
  if (!change) throw refused('not_found');
  const order = listedOrder(sandbox, change.orderId);
  if (changesOf(sandbox, order.id).at(-1)?.id !== id) throw refused('stale_airline_initiated_change_accept');
  const accepted = books.changes.put(id, { ...change, acceptedAtMs: change.acceptedAtMs ?? clock.now() });
  return data(dressedChange(sandbox, order, offerSlices(sandbox, order), accepted));
}
