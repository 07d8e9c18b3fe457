import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import { zonedInstant } from '../../kernel/domain/ics.ts';
import { isProblem } from '../../kernel/problems.ts';
import type { Order } from '../../wire/flights/index.ts';
import { type FlightsPorts, farthestMs } from '../base/index.ts';
import { isDeskOrder, keepCurrent } from '../bookings/index.ts';
import { isLowcost } from '../offers/index.ts';

const MOST_AT_ONCE = 20;
/** An airline that does not answer is asked again so much later. */
const AGAIN_MS = 10 * 60_000;

/**
 * Looks again at booked orders of an airline that changes flights: every day until the last departure, every hour in the
 * two days before each, and at once where the airline sent a message about one.
 * @returns how many were looked at
 */
export async function watchOrders(ports: FlightsPorts): Promise<number> {
  const due = await take(ports);
  for (const intentId of due) {
    try {
      await look(ports, intentId);
    } catch (error) {
      ports.log('warn', 'upkeep_put_off', {
        intent_id: intentId,
        task: 'order_watch',
        error_code: isProblem(error) ? error.code : 'unexpected',
        error_name: error instanceof Error ? error.name : 'unknown',
      });
    }
  }
  return due.length;
}

/** Orders that are due; they are put ahead first, so that one that fails or dies is looked at again. */
async function take({ store, clock, options }: FlightsPorts): Promise<string[]> {
  const nowMs = clock.now();
  const farthest = nowMs + farthestMs('order_watch', options);
  const due = await store
    .selectFrom('upkeep')
    .select(['intent_id', 'due_at_ms'])
    .where('task', '=', 'order_watch')
    // Further ahead than any is put: the clock was set back since.
    .where((column) => column.or([column('due_at_ms', '<=', nowMs), column('due_at_ms', '>', farthest)]))
    .limit(MOST_AT_ONCE)
    .execute();
  const taken: string[] = [];
  for (const row of due) {
    const moved = await store
      .updateTable('upkeep')
      .set((column) => ({ due_at_ms: nowMs + AGAIN_MS, attempts: column('attempts', '+', 1) }))
      .where('task', '=', 'order_watch')
      .where('intent_id', '=', row.intent_id)
      .where('due_at_ms', '=', row.due_at_ms)
      .executeTakeFirst();
    if (moved.numUpdatedRows > 0n) taken.push(row.intent_id);
  }
  return taken;
}

async function look(ports: FlightsPorts, intentId: string): Promise<void> {
  const { store, provider, clock } = ports;
  const beganAtMs = clock.now();
  const order = await store
    .selectFrom('orders')
    .innerJoin('intents', 'intents.intent_id', 'orders.intent_id')
    .select(['orders.order_id', 'orders.provider_order_id', 'orders.document', 'orders.changed_at_ms'])
    .select(['orders.cancelled_by', 'intents.intent_id', 'intents.passenger_count'])
    .where('orders.intent_id', '=', intentId)
    .where('intents.status', '=', 'booked')
    .executeTakeFirst();
  const asked = order && !isDeskOrder(order.provider_order_id) && !isLowcost(order.provider_order_id);
  if (!asked || !provider) return done(ports, intentId);
  const current = await keepCurrent(ports, order, await provider.order(order.provider_order_id));
  const pauseMs = current.status === 'cancelled' ? null : nextLookMs(current, clock.now());
  if (pauseMs === null) return done(ports, intentId);
  await store
    .updateTable('upkeep')
    .set({ due_at_ms: clock.now() + pauseMs })
    .where('task', '=', 'order_watch')
    .where('intent_id', '=', intentId)
    // A message that came meanwhile has made it due again.
    .where('due_at_ms', '>', beganAtMs)
    .execute();
}

const done = ({ store }: FlightsPorts, intentId: string) =>
  store
    .deleteFrom('upkeep')
    .where('intent_id', '=', intentId)
    .where('task', '=', 'order_watch')
    .execute()
    .then(() => undefined);

/** When to look again (milliseconds from now); null: the last flight has left. */
export function nextLookMs({ slices }: Pick<Order, 'slices'>, nowMs: number): number | null {
  const ahead = slices
    .map((slice) => zonedInstant(slice.departing_at, slice.origin_time_zone) - nowMs)
    .filter((leftMs) => leftMs > 0);
  if (ahead.length === 0) return null;
  const leftMs = Math.min(...ahead);
  return leftMs <= 2 * DAY_MS ? HOUR_MS : Math.min(DAY_MS, leftMs - 2 * DAY_MS + HOUR_MS);
}
