import type { Transaction } from 'kysely';
import type { ServiceTables, UpkeepTask } from '../store/schema.ts';

const DAY_MS = 86_400_000;
/** The program closes an escrow 30 days after its end at the soonest, by the chain's clock (docs/escrow.md, Close). */
export const CLOSE_AFTER_MS = 30 * DAY_MS + 3_600_000;
export const FIRST_LOOK_MS = 10 * 60_000;

/**
 * Writes down what is left to do for an intent whose booking has ended, in the transaction that ends it; the sweeper
 * does it. The purge finds out for itself whether it may begin: it is looked at a day from now.
 */
export async function planUpkeep(
  tx: Transaction<ServiceTables>,
  intentId: string,
  nowMs: number,
): Promise<void> {
  const due: Record<UpkeepTask, number> = {
    late_money: nowMs + FIRST_LOOK_MS,
    close_escrow: nowMs + CLOSE_AFTER_MS,
    purge: nowMs + DAY_MS,
  };
  const tasks = Object.keys(due) as UpkeepTask[];
  await tx
    .insertInto('upkeep')
    .values(tasks.map((task) => ({ intent_id: intentId, task, due_at_ms: due[task], created_at_ms: nowMs })))
    .onConflict((conflict) => conflict.columns(['intent_id', 'task']).doNothing())
    .execute();
}
