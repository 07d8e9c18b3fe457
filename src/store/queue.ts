import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { leaseIsOver } from './leases.ts';
import type { Store } from './open.ts';

/**
 * Rows of work and when they are due. Each kind has a partial index over its open rows alone, by when they are due:
 * asking what is due costs the same however many are done, or wait.
 */
export interface Queue {
  readonly table:
    | 'affiliate_payouts'
    | 'attestation_runs'
    | 'bookings'
    | 'outbox'
    | 'partner_orders'
    | 'refund_requests';
  readonly key: string;
  /** The column that says when a row is due (epoch ms). */
  readonly due: 'due_at_ms' | 'next_at_ms';
  /** Which rows are work, in the very words of the index: a database uses it for nothing else. */
  readonly open: RawBuilder<SqlBool>;
  readonly leaseMs: number;
  /** How far ahead a row is ever put: one that lies further was written before the clock was set back. */
  readonly farthestMs: number;
}

/** Work that only a person finishes is never due. */
export const NEVER_MS = Number.MAX_SAFE_INTEGER;

/** More rows than are ever held at one moment: behind them the next one is free. */
const MOST_HELD = 50;

const isDue = ({ due }: Queue, nowMs: number) => sql<SqlBool>`${sql.ref(due)} <= ${nowMs}`;

/** Put further ahead than any row is put: a clock was set back since, and the row would else wait for its time. */
const isAstray = ({ due, farthestMs }: Queue, nowMs: number) =>
  sql<SqlBool>`${sql.ref(due)} > ${nowMs + farthestMs} and ${sql.ref(due)} < ${NEVER_MS}`;

const ANY = sql<SqlBool>`1 = 1`;

/**
 * The key of the row that is to be taken next, as a subquery: due, or astray, and held by nobody. Whoever takes it
 * says `leaseIsOver` once more in the update itself.
 * @param which only some of the rows
 */
export function nextInQueue(queue: Queue, nowMs: number, which = ANY): RawBuilder<string> {
  const { table, key, due, open, leaseMs } = queue;
  const first = (when: RawBuilder<SqlBool>) => sql`(select ${sql.ref(key)} from ${sql.table(table)}
    where ${open} and ${when} and ${which} and ${leaseIsOver(nowMs, leaseMs)} order by ${sql.ref(due)} limit 1)`;
  return sql<string>`coalesce(${first(isDue(queue, nowMs))}, ${first(isAstray(queue, nowMs))})`;
}

/** Keys of rows that can be taken now, as `nextInQueue` has it, the longest due first. */
export async function readyInQueue(
  store: Store,
  queue: Queue,
  nowMs: number,
  most: number,
  which = ANY,
): Promise<string[]> {
  const { table, key, due, open, leaseMs } = queue;
  const some = (when: RawBuilder<SqlBool>, name: string) =>
    sql`select id from (select ${sql.ref(key)} as id from ${sql.table(table)}
      where ${open} and ${when} and ${which} and ${leaseIsOver(nowMs, leaseMs)}
      order by ${sql.ref(due)} limit ${most}) as ${sql.id(name)}`;
  const { rows } = await sql<{ id: string }>`${some(isDue(queue, nowMs), 'ready')}
    union all ${some(isAstray(queue, nowMs), 'astray')}`.execute(store);
  return rows.slice(0, most).map(({ id }) => id);
}

/** When the first row can be taken (epoch ms): it is due then, and nobody holds it any more. Null when none is open. */
export async function queueDueAtMs(
  store: Store,
  queue: Queue,
  nowMs: number,
  which = ANY,
): Promise<number | null> {
  const { table, due, open, leaseMs } = queue;
  const at = sql.ref(due);
  const { rows } = await sql<{ due: number | string | null }>`
    select min(due) as due from (
      select due from (select
        case when lease_until_ms > ${nowMs} and lease_until_ms <= ${nowMs + leaseMs} and lease_until_ms > ${at}
          then lease_until_ms else ${at} end as due
        from ${sql.table(table)} where ${open} and ${which} and ${at} < ${NEVER_MS}
        order by ${at} limit ${MOST_HELD}) as soonest
      union all
      select due from (select cast(${nowMs} as bigint) as due
        from ${sql.table(table)} where ${open} and ${which} and ${isAstray(queue, nowMs)} limit 1) as astray
    ) as work`.execute(store);
  const value = rows[0]?.due;
  // The drivers write large integers as they like.
  return value === null || value === undefined ? null : Number(value);
}
