import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import type { FlightsOptions, FlightsPorts } from './ports.ts';
import type { Tx, UpkeepTask } from './tables.ts';

/** The program closes an escrow 30 days after its end at the soonest, by the chain's clock (docs/escrow.md, Close). */
export const CLOSE_AFTER_MS = 30 * DAY_MS + HOUR_MS;
const FIRST_LOOK_MS = 10 * 60_000;

/** How far ahead a task is ever put. A journey ends within 360 days of its search, and its return not much later. */
export const farthestMs = (task: UpkeepTask, { purgeAfterDays }: FlightsOptions): number =>
  ({
    late_money: DAY_MS,
    late_ticket: DAY_MS,
    close_escrow: CLOSE_AFTER_MS,
    order_watch: DAY_MS,
    purge: (2 * 365 + purgeAfterDays) * DAY_MS,
  })[task];

/** Has the airline asked about a ticket after a refund that was paid on a person's word. */
export const watchForTicket = (tx: Tx, intentId: string, nowMs: number) =>
  tx
    .insertInto('upkeep')
    .values({ intent_id: intentId, task: 'late_ticket', due_at_ms: nowMs + FIRST_LOOK_MS, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.columns(['intent_id', 'task']).doNothing())
    .execute();

/**
 * Writes down what is left to do for an intent whose booking has ended, in the transaction that ends it; the sweeper
 * does it. The purge finds out for itself whether it may begin: it is looked at a day from now. An airline that was asked
 * for an order is asked about it again after the money has gone back.
 * @param watchesOrders the airline changes flights after it sold them
 */
export async function planUpkeep(
  tx: Tx,
  intentId: string,
  end: 'booked' | 'refunded',
  nowMs: number,
  watchesOrders = false,
): Promise<void> {
  const asked =
    end === 'refunded' &&
    (await tx
      .selectFrom('effects')
      .select('effect_id')
      .where('subject', '=', intentId)
      .where('kind', '=', 'airline_order')
      .limit(1)
      .executeTakeFirst()) !== undefined;
  const due: Partial<Record<UpkeepTask, number>> = {
    ...(asked ? { late_ticket: nowMs + FIRST_LOOK_MS } : {}),
    ...(end === 'booked' && watchesOrders ? { order_watch: nowMs + FIRST_LOOK_MS } : {}),
    late_money: nowMs + FIRST_LOOK_MS,
    close_escrow: nowMs + CLOSE_AFTER_MS,
    purge: nowMs + DAY_MS,
  };
  const tasks = Object.entries(due) as [UpkeepTask, number][];
  await tx
    .insertInto('upkeep')
    .values(tasks.map(([task, dueAtMs]) => ({ intent_id: intentId, task, due_at_ms: dueAtMs, created_at_ms: nowMs })))
    .onConflict((conflict) => conflict.columns(['intent_id', 'task']).doNothing())
    .execute();
}

/** The ports of the sweeper. */
export type SweeperPorts = Pick<
  FlightsPorts,
  | 'store'
  | 'clock'
  | 'ids'
  | 'log'
  | 'cluster'
  | 'effects'
  | 'authority'
  | 'outbox'
  | 'options'
  | 'provider'
  | 'lowcost'
>;
