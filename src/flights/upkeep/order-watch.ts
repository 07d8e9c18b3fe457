import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import { zonedInstant } from '../../kernel/domain/ics.ts';
import type { Order } from '../../wire/flights/index.ts';
import { type FlightsPorts, orderOf } from '../base/index.ts';
import { isAskable, keepCurrent } from '../bookings/index.ts';
import { type Due, done, eachTask } from './tasks.ts';

const MOST_AT_ONCE = 20;
/** How long to wait before a silent airline is asked again. */
const AGAIN_MS = 10 * 60_000;

/** Looks at orders of an airline that changes flights: daily, hourly near departure, and after messages. */
export const watchOrders = (ports: FlightsPorts): Promise<number> =>
  eachTask(ports, 'order_watch', (intent) => look(ports, intent), { most: MOST_AT_ONCE, againMs: AGAIN_MS });

async function look(ports: FlightsPorts, intent: Due): Promise<unknown> {
  const { store, provider, clock } = ports;
  const beganAtMs = clock.now();
  const order = await orderOf(store, intent.intent_id);
  const asks = order?.status === 'booked' && isAskable(order.provider_order_id);
  if (!asks || !provider) return done(ports, intent, 'order_watch');
  const current = await keepCurrent(ports, order, await provider.order(order.provider_order_id));
  const pauseMs = current.status === 'cancelled' ? null : nextLookMs(current, clock.now());
  if (pauseMs === null) return done(ports, intent, 'order_watch');
  return (
    store
      .updateTable('upkeep')
      .set({ due_at_ms: clock.now() + pauseMs })
      .where('task', '=', 'order_watch')
      .where('intent_id', '=', intent.intent_id)
      // Leaves a task alone that a message has made due in the meantime.
      .where('due_at_ms', '>', beganAtMs)
      .execute()
  );
}

/** When to look again (milliseconds from now), or null once the last flight has left. */
export function nextLookMs({ slices }: Pick<Order, 'slices'>, nowMs: number): number | null {
  const ahead = slices
    .map((slice) => zonedInstant(slice.departing_at, slice.origin_time_zone) - nowMs)
    .filter((leftMs) => leftMs > 0);
  if (ahead.length === 0) return null;
  const leftMs = Math.min(...ahead);
  return leftMs <= 2 * DAY_MS ? HOUR_MS : Math.min(DAY_MS, leftMs - 2 * DAY_MS + HOUR_MS);
}
