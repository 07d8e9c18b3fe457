import { type Kysely, type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import { isProblem } from '../kernel/problems.ts';
import {
  type Change,
  checkHeld,
  type LeasedTables,
  LeaseLost,
  type LeasePorts,
  type LeaseTerms,
  leaseIsOver,
  leaseTime,
  type RowOf,
  takeRow,
  unlessLost,
  type Writer,
  whileHeld,
  writeRow,
} from './leases.ts';
import { checkRetryPolicy, isGivenUp, type RetryPolicy, retryDelayMs } from './retry.ts';

/**
 * Rows of work, and when they are due. Each kind has a partial index over its open rows alone, by when they are due:
 * asking what is due costs the same however many are done, or wait.
 */
export interface QueueTerms<Table extends string = string, Column extends string = string>
  extends LeaseTerms<Table, Column> {
  /** The column that says when a row is due (epoch ms). */
  readonly due: 'due_at_ms' | 'next_at_ms';
  /** How far ahead a row is ever put: one that lies further was written before the clock was set back. */
  readonly farthestMs: number;
  readonly retry: RetryPolicy;
  /** When `attempts` rises. Counted by claims, a process that dies with a row in its hands counts as a failure. */
  readonly counts: 'claims' | 'failures';
  /** What a claim writes beside the lease. */
  readonly claimed?: (nowMs: number) => object;
  /** The column of when a row was begun, where its age decides that it is given up. */
  readonly begun?: string;
}

/** The same terms, as the owner of a table declares them: bound to its columns. */
export interface Queue<Tables extends LeasedTables<Name>, Name extends string>
  extends QueueTerms<Name, keyof Tables[Name] & string> {}

/** Work that only a person finishes is never due. */
export const NEVER_MS = Number.MAX_SAFE_INTEGER;

/** More rows than are ever held at one moment: behind them the next one is free. */
const MOST_HELD = 50;

const isDue = ({ due }: QueueTerms, nowMs: number) => sql<SqlBool>`${sql.ref(due)} <= ${nowMs}`;

/** Put further ahead than any row is put: a clock was set back since, and the row would else wait for its time. */
const isAstray = ({ due, farthestMs }: QueueTerms, nowMs: number) =>
  sql<SqlBool>`${sql.ref(due)} > ${nowMs + farthestMs} and ${sql.ref(due)} < ${NEVER_MS}`;

const ANY = sql<SqlBool>`1 = 1`;

/**
 * The key of the row to take next, as a subquery: due, or astray, and free. The update that takes it checks
 * `leaseIsOver` once more.
 * @param which only some of the rows
 */
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

/** When the first row can be taken (epoch ms): it is due then, and free. Null when none is open. */
export async function queueDueAtMs(
  { store, clock }: Pick<LeasePorts, 'store' | 'clock'>,
  queue: QueueTerms,
  which = ANY,
): Promise<number | null> {
  const { table, due, open, leaseMs } = queue;
  const at = sql.ref(due);
  const [nowMs, time] = [clock.now(), leaseTime(store, clock)];
  // Of a lease, what is left of it counts.
  const freeAt = sql`lease_until_ms - ${time()} + ${nowMs}`;
  const { rows } = await sql<{ due: number | string | null }>`
    select min(due) as due from (
      select due from (select
        case when lease_until_ms > ${time()} and lease_until_ms <= ${time(leaseMs)} and ${freeAt} > ${at}
          then ${freeAt} else ${at} end as due
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

/** What a failure means for its row. */
interface Failure {
  /** `again`: it is put off, and tried again. `given_up`: it waits for a person. */
  readonly verdict: 'again' | 'given_up';
  /** How often it has failed, this time included. */
  readonly failures: number;
  /** A person is told now, and it is tried further. */
  readonly tells: boolean;
  /** The error's own code, or its name. */
  readonly code: string;
}

/** What is written with a failure: columns, what belongs to the same transaction, and one line of the log. */
interface Aftermath<Tables, Row> {
  readonly change?: Change<Row>;
  /** The pause that was asked for, where the error does not carry it. */
  readonly atLeastMs?: number | null;
  readonly also?: ((tx: Transaction<Tables>) => Promise<unknown>) | undefined;
  log(): void;
}

/** How a queue's rows are worked on. */
interface Work<Row> {
  perform(row: Row): Promise<void>;
  /** Puts the row off, or gives it up: `postpone`, with what the kind of work says about it. */
  failed(row: Row, error: unknown): Promise<void>;
}

export interface QueueRun {
  readonly worked: number;
  /** When the next row can be taken (epoch ms), null when none is open. */
  readonly dueAtMs: number | null;
}

const codeOf = (error: unknown): string =>
  isProblem(error) ? error.code : error instanceof Error ? error.name : 'unknown';

/** The pause that the refusal asks for. */
const askedMs = (error: unknown): number =>
  isProblem(error) && error.retryAfter !== undefined ? error.retryAfter * 1000 : 0;

/**
 * Takes rows of a queue, keeps them while they are worked on, and puts off or gives up those that fail. Any number of
 * processes may do so at once: a row has one holder, and a holder that was overtaken writes nothing more.
 * @throws RangeError for a queue whose policy puts rows further ahead than it knows of
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

  const dueAtMs = (which?: RawBuilder<SqlBool>) => queueDueAtMs(ports, queue, which);

  /** Takes the row that is longest due; with several conditions, the first of the first one that has any. */
  const claim = (which: readonly RawBuilder<SqlBool>[] = [ANY]): Promise<Row | null> => {
    const next = sql.join(which.map((one) => nextInQueue(ports, queue, one)));
    const first = which.length === 1 ? next : sql`coalesce(${next})`;
    return takeRow(ports, queue, sql<string>`${first}`, claimed());
  };

  /** Takes the row of a key, due or not. */
  const claimRow = (id: string): Promise<Row | null> => takeRow(ports, queue, id, claimed());

  /** @throws LeaseLost */
  const check = (row: Row, on: Writer = store): Promise<void> => checkHeld(on, queue, row);

  /** Writes to a row, and gives its lease back. @throws LeaseLost, and then nothing is written */
  const finish = (row: Row, change: Change<Row>, on: Writer = store): Promise<Row> =>
    writeRow(on, queue, row, { ...change, lease_until_ms: 0 } as Change<Row>);

  /**
   * Puts a failed row off by the policy, or for the pause that was asked for if that is longer; or says that it is
   * given up, for the aftermath to write. A row that was overtaken stays as it is.
   */
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
        await store.transaction().execute(async (tx) => {
          await finish(row, written, tx);
          await also(tx);
        });
      log();
    });
  }

  /** Works on a row that was claimed. A failure is the row's own: it holds up no other. */
  const take = (row: Row, work: Work<Row>): Promise<void> =>
    unlessLost(async () => {
      try {
        await whileHeld(ports, queue, row, () => work.perform(row));
      } catch (error) {
        if (error instanceof LeaseLost) throw error;
        await work.failed(row, error);
      }
    });

  /** Works on what is due, up to so many rows. With nothing due it is one small read. */
  async function runDue(work: Work<Row>, most: number, which?: readonly RawBuilder<SqlBool>[]): Promise<QueueRun> {
    const all = which?.at(-1);
    for (let worked = 0; ; worked++) {
      const next = await dueAtMs(all);
      const row = next !== null && next <= clock.now() && worked < most ? await claim(which) : null;
      if (!row) return { worked, dueAtMs: next };
      await take(row, work);
    }
  }

  return { dueAtMs, claim, claimRow, check, finish, postpone, take, runDue };
}

export type OpenQueue<Tables extends LeasedTables<Name>, Name extends string> = ReturnType<
  typeof openQueue<Tables, Name>
>;
