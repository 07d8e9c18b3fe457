import { type QueryExecutorProvider, type RawBuilder, type Selectable, type SqlBool, SqliteAdapter, sql } from 'kysely';
import { type Clock, systemClock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { REGAINED } from './base/index.ts';

/** Leases on rows: `lease_until_ms` excludes others, a `fence` in every write disarms overtaken holders (DESIGN, 6). */
export interface LeaseTerms<Table extends string = string, Column extends string = string> {
  readonly table: Table;
  readonly key: Column;
  /** The condition of open rows, in the partial index's own words, so that it is used. */
  readonly open: RawBuilder<SqlBool>;
  readonly leaseMs: number;
  /** Work that takes longer counts as hung: its lease is not renewed, so another holder may take it. */
  readonly mostMs: number;
}

export type LeasedTables<Name extends string> = Readonly<
  Record<Name, { readonly fence: unknown; readonly lease_until_ms: unknown }>
>;

export interface Leased<Tables extends LeasedTables<Name>, Name extends string>
  extends LeaseTerms<Name, keyof Tables[Name] & string> {}

/** A row of work, held under this fence. */
interface LeasedRow {
  readonly fence: number;
  readonly lease_until_ms: number;
}

export type RowOf<Tables extends LeasedTables<Name>, Name extends string> = Selectable<Tables[Name]> & LeasedRow;

export interface LeasePorts {
  readonly store: QueryExecutorProvider;
  readonly clock: Clock;
  readonly log: Log;
}

/** Another holder took over the row and its work. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** Ends the work of an overtaken holder quietly. */
export async function unlessLost(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
  }
}

/** The time of leases, or a time `afterMs` later, as SQL. */
export type LeaseTime = (afterMs?: number) => RawBuilder<number>;

/** Goes by the server's clock, so that a machine with a wrong one takes nothing over; by ours for files and tests. */
export function leaseTime(on: QueryExecutorProvider, clock: Clock): LeaseTime {
  if (isShared(on, clock)) return (afterMs = 0) => sql<number>`(${SERVER_MS} + ${afterMs})`;
  const nowMs = clock.now();
  return (afterMs = 0) => sql<number>`${nowMs + afterMs}`;
}

const isShared = (on: QueryExecutorProvider, clock: Clock): boolean =>
  clock === systemClock && !(on.getExecutor().adapter instanceof SqliteAdapter);

/** The statement's start, one moment for all rows. */
const SERVER_MS = sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint`;

/** How far our clock may be off the database's (ms): quotes and retries go by ours, leases by the database's. */
export const MOST_AHEAD_MS = 2_000;

/** Slower answers say too little about the clock. */
const QUICK_MS = 1_000;

/** Measures how far a server's clock is ahead (ms); null without a server, or for a slow answer. */
export async function serverAheadMs(on: QueryExecutorProvider, clock: Clock): Promise<number | null> {
  if (!isShared(on, clock)) return null;
  const askedMs = clock.now();
  const { rows } = await sql<{ now: number }>`select ${SERVER_MS} as now`.execute(on);
  const tookMs = clock.now() - askedMs;
  return rows[0] && tookMs <= QUICK_MS ? rows[0].now - askedMs - Math.round(tookMs / 2) : null;
}

/** True for a free row, or a lease that ends too far ahead: the clock was set back after it was written. */
export const leaseIsOver = (time: LeaseTime, leaseMs: number) =>
  sql<SqlBool>`(lease_until_ms <= ${time()} or lease_until_ms > ${time(leaseMs)})`;

/** Columns and new values; undefined ones stay. */
export type Change<Row> = {
  readonly [Column in keyof Row]?: Row[Column] | RawBuilder<Row[Column]> | undefined;
};

const assignments = (change: object): RawBuilder<unknown> =>
  sql.join(
    Object.entries(change)
      .filter(([, value]) => value !== undefined)
      .map(([column, value]) => sql`${sql.ref(column)} = ${value}`),
  );

const keyOf = (leased: LeaseTerms, row: object): string => String((row as Record<string, unknown>)[leased.key]);

/** Matches the open row under its holder's fence. */
const isHeld = (leased: LeaseTerms, row: LeasedRow) =>
  sql<SqlBool>`${sql.ref(leased.key)} = ${keyOf(leased, row)} and fence = ${row.fence} and ${leased.open}`;

const lost = (leased: LeaseTerms, row: LeasedRow) =>
  new LeaseLost(`${leased.table} ${keyOf(leased, row)} was taken over`);

/**
 * Takes a free row of work by its key and raises its fence, disarming older holders. A power cut may free it again
 * until the holder's first write, which comes before any act. @param change is written with it
 */
export async function takeRow<Tables extends LeasedTables<Name>, Name extends string>(
  { store, clock }: Pick<LeasePorts, 'store' | 'clock'>,
  { table, key, open, leaseMs }: Leased<Tables, Name>,
  id: string | RawBuilder<string>,
  change: object = {},
): Promise<RowOf<Tables, Name> | null> {
  const time = leaseTime(store, clock);
  const taken = assignments({ ...change, lease_until_ms: time(leaseMs), fence: sql`fence + 1` });
  const { rows } = await sql<RowOf<Tables, Name>>`update ${sql.table(table)} set ${taken}
    where ${sql.ref(key)} = ${id} and ${open} and ${leaseIsOver(time, leaseMs)} returning *
    ${sql.raw(REGAINED)}`.execute(store);
  return rows[0] ?? null;
}

/** Writes to a held row. @throws LeaseLost if it was overtaken or is no longer open */
export async function writeRow<Tables extends LeasedTables<Name>, Name extends string>(
  on: QueryExecutorProvider,
  leased: Leased<Tables, Name>,
  row: LeasedRow,
  change: Change<RowOf<Tables, Name>>,
): Promise<RowOf<Tables, Name>> {
  const { rows } = await sql<RowOf<Tables, Name>>`update ${sql.table(leased.table)} set ${assignments(change)}
    where ${isHeld(leased, row)} returning *`.execute(on);
  if (!rows[0]) throw lost(leased, row);
  return rows[0];
}

/** Writes to a held row without reading it, as it may be wide. @throws LeaseLost */
export async function markRow<Tables extends LeasedTables<Name>, Name extends string>(
  on: QueryExecutorProvider,
  leased: Leased<Tables, Name>,
  row: LeasedRow,
  change: Change<RowOf<Tables, Name>>,
  how: typeof REGAINED | '' = '',
): Promise<void> {
  const { numAffectedRows } = await sql`update ${sql.table(leased.table)} set ${assignments(change)}
    where ${isHeld(leased, row)} ${sql.raw(how)}`.execute(on);
  if (!numAffectedRows) throw lost(leased, row);
}

/** Checks the fence before acts that the database cannot stop. @throws LeaseLost if overtaken */
export async function checkHeld(on: QueryExecutorProvider, leased: LeaseTerms, row: LeasedRow): Promise<void> {
  const { rows } = await sql<{ fence: number }>`select fence from ${sql.table(leased.table)}
    where ${sql.ref(leased.key)} = ${keyOf(leased, row)}`.execute(on);
  if (rows[0]?.fence !== row.fence) throw lost(leased, row);
}

/**
 * Renews a row's lease during `work`, until it is overtaken or given back, so a crash costs one lease. Without a lease
 * the fence still protects the row, but another holder may do the same work.
 */
export async function whileHeld<T>(
  { store, clock, log }: LeasePorts,
  leased: LeaseTerms,
  row: LeasedRow,
  work: () => Promise<T>,
): Promise<T> {
  const { table, leaseMs, mostMs } = leased;
  const done = new AbortController();
  const untilMs = clock.now() + mostMs;
  let isReported = false;
  const failed = (error: unknown) => {
    const error_name = error instanceof Error ? error.name : typeof error;
    if (!isReported) log('warn', 'lease_not_renewed', { table, row: keyOf(leased, row), error_name });
    isReported = true;
  };
  const renew = () =>
    sql`update ${sql.table(table)} set lease_until_ms = ${leaseTime(store, clock)(leaseMs)}
      where ${isHeld(leased, row)} and lease_until_ms > 0 ${sql.raw(REGAINED)}`.execute(store);
  const renewing = (async () => {
    for (;;) {
      await clock.sleep(leaseMs / 4, done.signal);
      if (done.signal.aborted || clock.now() > untilMs) return;
      // A database that is away for a moment costs one renewal: the next may still come in time.
      await renew().catch(failed);
    }
  })();
  try {
    return await work();
  } finally {
    done.abort();
    await renewing;
  }
}
