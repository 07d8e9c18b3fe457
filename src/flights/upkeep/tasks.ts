import { type SqlBool, sql } from 'kysely';
import { DAY_MS } from '../../kernel/clock.ts';
import { isProblem } from '../../kernel/problems.ts';
import type { FlightsPorts, IntentRow, UpkeepTask } from '../base/index.ts';
import { farthestMs } from '../bookings/index.ts';

export type Due = IntentRow & { readonly ended_at_ms: number };

/** Takes due tasks with their intents, put ahead first: a failing one comes again, and one process takes each. */
export async function takeTasks(
  { store, clock, options }: FlightsPorts,
  task: UpkeepTask,
  { most, againMs = DAY_MS }: { readonly most: number; readonly againMs?: number },
): Promise<Due[]> {
  const nowMs = clock.now();
  // Further ahead than any task is put: the clock was set back since.
  const isDue = sql<SqlBool>`(due_at_ms <= ${nowMs} or due_at_ms > ${nowMs + farthestMs(task, options)})`;
  return store.transaction().execute(async (tx) => {
    const rows = await tx
      .selectFrom('upkeep')
      .innerJoin('intents', 'intents.intent_id', 'upkeep.intent_id')
      .selectAll('intents')
      .select('upkeep.created_at_ms as ended_at_ms')
      .where('upkeep.task', '=', task)
      .where(isDue)
      .limit(most)
      .execute();
    if (rows.length === 0) return [];
    const ids = rows.map(({ intent_id }) => intent_id);
    const taken = await tx
      .updateTable('upkeep')
      .set((column) => ({
        due_at_ms: nowMs + againMs,
        attempts: column('attempts', '+', 1),
        created_at_ms: sql<number>`case when created_at_ms > ${nowMs} then ${nowMs} else created_at_ms end`,
      }))
      .where('task', '=', task)
      .where('intent_id', 'in', ids)
      .where(isDue)
      .returning('intent_id')
      .execute();
    return rows.filter(({ intent_id }) => taken.some((one) => one.intent_id === intent_id));
  });
}

/** Works on each task. A failing one keeps no other from its turn; it is due again later. */
export async function eachTask(
  { log }: FlightsPorts,
  intents: readonly Due[],
  task: UpkeepTask,
  work: (intent: Due) => Promise<unknown>,
): Promise<number> {
  for (const intent of intents) {
    try {
      await work(intent);
    } catch (error) {
      log('warn', 'upkeep_put_off', {
        intent_id: intent.intent_id,
        task,
        error_code: isProblem(error) ? error.code : 'unexpected',
        error_name: error instanceof Error ? error.name : 'unknown',
      });
    }
  }
  return intents.length;
}

export const putOff = ({ store }: FlightsPorts, { intent_id }: IntentRow, task: UpkeepTask, dueAtMs: number) =>
  store
    .updateTable('upkeep')
    .set({ due_at_ms: dueAtMs })
    .where('task', '=', task)
    .where('intent_id', '=', intent_id)
    .execute();

export const done = ({ store }: FlightsPorts, { intent_id }: IntentRow, ...tasks: UpkeepTask[]) =>
  store.deleteFrom('upkeep').where('intent_id', '=', intent_id).where('task', 'in', tasks).execute();
