import { type Kysely, type QueryExecutorProvider, type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import { isProblem } from '../kernel/problems.ts';
import { inTurn } from './base/index.ts';
import type { Change, LeasedTables, LeasePorts, LeaseTerms, RowOf } from './leases.ts';
import { checkHeld, LeaseLost, leaseIsOver, leaseTime, takeRow, unlessLost, whileHeld, writeRow } from './leases.ts';
import { checkRetryPolicy, isGivenUp, type RetryPolicy, retryDelayMs } from './retry.ts';

/** Rows of work and their due times, with a partial index over open rows, so that other rows cost nothing. */
export interface QueueTerms<Table extends string = string, Column extends string = string>
  extends LeaseTerms<Table, Column> {
  /** The due column (epoch ms). */
  readonly due: 'due_at_ms' | 'next_at_ms';
  /** How far ahead a row may be due; a later time was written before the clock was set back. */
  readonly farthestMs: number;
  readonly retry: RetryPolicy;
  /** With `claims`, a process that dies with a row counts as a failure. */
  readonly counts: 'claims' | 'failures';
  /** Columns that a claim writes with the lease. */
  readonly claimed?: (nowMs: number) => object;
  /** The column of a row's start, if rows are given up by age. */
  readonly begun?: string;
}

export interface Queue<Tables extends LeasedTables<Name>, Name extends string>
  extends QueueTerms<Name, keyof Tables[Name] & string> {}

/** The due time of work that only a person can finish. */
export const NEVER_MS = Number.MAX_SAFE_INTEGER;

/** More rows than are ever held at once. */
const MOST_HELD = 50;

const isDue = ({ due }: QueueTerms, nowMs: number) => sql<SqlBool>`${sql.ref(due)} <= ${nowMs}`;

/** Due too far ahead: the clock was set back, and the row would wait. */
const isAstray = ({ due, farthestMs }: QueueTerms, nowMs: number) =>
  sql<SqlBool>`${sql.ref(due)} > ${nowMs + farthestMs} and ${sql.ref(due)} < ${NEVER_MS}`;

const ANY = sql<SqlBool>`1 = 1`;

/** Subquery of the next due (or astray) free row; the update checks `leaseIsOver` again. @param which filters rows */
export function nextInQueue(
  { store, clock }: Pick<LeasePorts, 'store' | 'clock'>,
  queue: QueueTerms,
  which = ANY,
): RawBuilder<string> {
  const { table, key, due, open, leaseMs } = queue;
  const [nowMs, time] = [clock.now(), leaseTime(store, clock)];
  const first = (when: RawBuilder<SqlBool>) => sql`(select ${sql.ref(key)} from ${sql.table(table)}
    where ${open} and ${when} and ${which} and ${leaseIsOver(time, leaseMs)} order by ${sql.ref(due)} limit 1)`;
  return sql<string>`coalesce(${first(isDue(queue, nowMs))}, ${first(isAstray(queue, nowMs))})`;
}

/** Selects the first time at which a row is both due and free (epoch ms); null without rows. */
export function queueDue(
  { store, clock }: Pick<LeasePorts, 'store' | 'clock'>,
  queue: QueueTerms,
  which = ANY,
): RawBuilder<number | null> {
  const { table, due, open, leaseMs } = queue;
  const at = sql.ref(due);
  const [nowMs, time] = [clock.now(), leaseTime(store, clock)];
  // The lease's end by our clock, from its remaining time.
  const freeAt = sql`lease_until_ms - ${time()} + ${nowMs}`;
  return sql<number | null>`select min(due) as due from (
      select due from (select
        case when lease_until_ms > ${time()} and lease_until_ms <= ${time(leaseMs)} and ${freeAt} > ${at}
          then ${freeAt} else ${at} end as due
        from ${sql.table(table)} where ${open} and ${which} and ${at} < ${NEVER_MS}
        order by ${at} limit ${MOST_HELD}) as soonest
      union all
      select due from (select cast(${nowMs} as bigint) as due
        from ${sql.table(table)} where ${open} and ${which} and ${isAstray(queue, nowMs)} limit 1) as astray
    ) as work`;
}

/** Reads in one statement when work of each kind is due next (epoch ms); null if there is none. */
export async function dueOf<Kind extends string>(
  store: QueryExecutorProvider,
  kinds: Readonly<Record<Kind, RawBuilder<number | null>>>,
): Promise<Readonly<Record<Kind, number | null>>> {
  const named = Object.entries<RawBuilder<number | null>>(kinds);
  const { rows } = await sql<Record<string, number | string | null>>`select ${sql.join(
    named.map(([kind, due]) => sql`(${due}) as ${sql.ref(kind)}`),
  )}`.execute(store);
  // Some drivers return large integers as text.
  const atMs = (value: number | string | null | undefined) => (value == null ? null : Number(value));
  return Object.fromEntries(named.map(([kind]) => [kind, atMs(rows[0]?.[kind])])) as Record<Kind, number | null>;
}

export const isDueAt = (dueAtMs: number | null, clock: Clock): boolean => dueAtMs !== null && dueAtMs <= clock.now();

export const earliest = (dueAtMs: readonly (number | null)[]): number | null =>
  dueAtMs.reduce((first, atMs) => (first === null || (atMs !== null && atMs < first) ? atMs : first), null);

interface Failure {
  /** `again`: postponed. `given_up`: waits for a person. */
  readonly verdict: 'again' | 'given_up';
  /** Failures, including this one. */
  readonly failures: number;
  /** True if a person is notified; retries go on. */
  readonly tells: boolean;
  readonly code: string;
}

/** A failure's columns, further writes of the same transaction, and one log line. */
interface Aftermath<Tables, Row> {
  readonly change?: Change<Row>;
  /** The requested pause, if the error does not carry it. */
  readonly atLeastMs?: number | null;
  readonly also?: ((tx: Transaction<Tables>) => Promise<unknown>) | undefined;
  log(): void;
}

interface Work<Row> {
  perform(row: Row): Promise<void>;
  /** Calls `postpone` with this work's own aftermath. */
  failed(row: Row, error: unknown): Promise<void>;
}

const codeOf = (error: unknown): string =>
  isProblem(error) ? error.code : error instanceof Error ? error.name : 'unknown';

const askedMs = (error: unknown): number =>
  isProblem(error) && error.retryAfter !== undefined ? error.retryAfter * 1000 : 0;

/**
 * Takes rows, holds them during work, and postpones or gives up failures. Each row has one holder among any number of
 * processes; overtaken holders write nothing. @throws RangeError for a retry policy beyond `farthestMs`
 */
export function openQueue<Tables extends LeasedTables<Name>, Name extends string>(
  ports: LeasePorts & { readonly store: Kysely<Tables> },
  queue: Queue<Tables, Name>,
) {
  type Row = RowOf<Tables, Name>;
  const { store, clock } = ports;
  checkRetryPolicy(queue.retry);
  if (queue.retry.mostMs > queue.farthestMs) throw new RangeError(`${queue.table}: farthestMs is too near`);
  const claimed = () => ({
    ...(queue.counts === 'claims' ? { attempts: sql`attempts + 1` } : {}),
    ...queue.claimed?.(clock.now()),
  });

  const dueAtMs = async (which?: RawBuilder<SqlBool>) =>
    (await dueOf(store, { due: queueDue(ports, queue, which) })).due;

  /** Takes the row due longest, by the first condition that matches any. */
  const claim = (which: readonly RawBuilder<SqlBool>[] = [ANY]): Promise<Row | null> => {
    const next = sql.join(which.map((one) => nextInQueue(ports, queue, one)));
    const first = which.length === 1 ? next : sql`coalesce(${next})`;
    return takeRow(ports, queue, sql<string>`${first}`, claimed());
  };

  /** Takes a row by key, due or not. */
  const claimRow = (id: string): Promise<Row | null> => takeRow(ports, queue, id, claimed());

  const check = (row: Row, on: QueryExecutorProvider = store): Promise<void> => checkHeld(on, queue, row);

  /** Writes and releases a row. @throws LeaseLost with nothing written */
  const finish = (row: Row, change: Change<Row>, on: QueryExecutorProvider = store): Promise<Row> =>
    writeRow(on, queue, row, { ...change, lease_until_ms: 0 } as Change<Row>);

  /** Postpones a failed row by the policy, or a longer requested pause, or gives it up. Skips an overtaken row. */
  async function postpone(
    row: Row & { readonly attempts: number },
    error: unknown,
    aftermath: (failure: Failure) => Aftermath<Tables, Row>,
    policy: RetryPolicy = queue.retry,
  ): Promise<void> {
    const nowMs = clock.now();
    const failures = queue.counts === 'claims' ? row.attempts : row.attempts + 1;
    const begunAtMs =
      queue.begun === undefined ? nowMs : Number((row as object as Record<string, unknown>)[queue.begun]);
    const isOver = isGivenUp(policy, { failures, ageMs: nowMs - begunAtMs });
    const { change, atLeastMs, also, log } = aftermath({
      verdict: isOver ? 'given_up' : 'again',
      failures,
      tells: failures === policy.tellAfter,
      code: codeOf(error),
    });
    const delayMs = Math.min(queue.farthestMs, Math.max(atLeastMs ?? askedMs(error), retryDelayMs(policy, failures)));
    const written = { attempts: failures, [queue.due]: nowMs + delayMs, ...change } as Change<Row>;
    await unlessLost(async () => {
      if (!also) await finish(row, written);
      else
        await inTurn(store, [], async (tx) => {
          await finish(row, written, tx);
          await also(tx);
        });
      log();
    });
  }

  /** Works on a claimed row; a failure does not stop the others. */
  const take = (row: Row, work: Work<Row>): Promise<void> =>
    unlessLost(async () => {
      try {
        await whileHeld(ports, queue, row, () => work.perform(row));
      } catch (error) {
        if (error instanceof LeaseLost) throw error;
        await work.failed(row, error);
      }
    });

  /** Works on up to `most` due rows. @returns how many there were */
  async function workOff(work: Work<Row>, most: number, which?: readonly RawBuilder<SqlBool>[]): Promise<number> {
    for (let worked = 0; ; worked++) {
      const row = worked < most ? await claim(which) : null;
      if (!row) return worked;
      await take(row, work);
    }
  }

  /** Like `workOff`, at one small read if none is due. @returns the next row's time, too */
  async function runDue(work: Work<Row>, most: number, which?: readonly RawBuilder<SqlBool>[]) {
    const all = which?.at(-1);
    const first = await dueAtMs(all);
    if (first === null || first > clock.now()) return { worked: 0, dueAtMs: first };
    return { worked: await workOff(work, most, which), dueAtMs: await dueAtMs(all) };
  }

  return { dueAtMs, claim, claimRow, check, finish, postpone, take, workOff, runDue };
}

export type OpenQueue<Tables extends LeasedTables<Name>, Name extends string> = ReturnType<
  typeof openQueue<Tables, Name>
>;
