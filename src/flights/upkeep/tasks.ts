import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { DAY_MS } from '../../kernel/clock.ts';
import { isProblem } from '../../kernel/problems.ts';
import { inTurn } from '../../store/base/index.ts';
import type { FlightsPorts, IntentRow, UpkeepTask } from '../base/index.ts';
import { farthestMs } from '../bookings/index.ts';

export const MOST_AT_ONCE = 50;

export type Due = IntentRow & { readonly ended_at_ms: number };

/** A task that is further ahead than any is planned is due, too: the clock was set back. */
const isTaskDue = (task: UpkeepTask, { clock, options }: Pick<FlightsPorts, 'clock' | 'options'>) => {
  const nowMs = clock.now();
  return sql<SqlBool>`(due_at_ms <= ${nowMs} or due_at_ms > ${nowMs + farthestMs(task, options)})`;
};

/** SQL value: the current time (epoch ms) if a task is due, else null. */
export const taskDue = (ports: FlightsPorts, task: UpkeepTask): RawBuilder<number | null> =>
  sql`select cast(${ports.clock.now()} as bigint) from upkeep where task = ${task} and ${isTaskDue(task, ports)} limit 1`;

/** Takes due tasks with their intents. Postpones them first: a failing one comes again, and one process takes each. */
async function takeTasks({ store, clock, options }: FlightsPorts, task: UpkeepTask, most: number, againMs: number) {
  const nowMs = clock.now();
  const isDue = isTaskDue(task, { clock, options });
  return inTurn(store, [`upkeep:${task}`], async (tx): Promise<Due[]> => {
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

/** Works on due tasks, or those that `among` picks. A failing one does not stop others. @returns how many were due */
export async function eachTask(
  ports: FlightsPorts,
  task: UpkeepTask,
  work: (intent: Due) => Promise<unknown>,
  { most = MOST_AT_ONCE, againMs = DAY_MS, among = async (due: readonly Due[]) => due } = {},
): Promise<number> {
  const taken = await takeTasks(ports, task, most, againMs);
  for (const intent of taken.length === 0 ? [] : await among(taken)) {
    try {
      await work(intent);
    } catch (error) {
      ports.log('warn', 'upkeep_put_off', {
        intent_id: intent.intent_id,
        task,
        error_code: isProblem(error) ? error.code : 'unexpected',
        error_name: error instanceof Error ? error.name : 'unknown',
      });
    }
  }
  return taken.length;
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
