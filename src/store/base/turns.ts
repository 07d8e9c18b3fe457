import type { Dialect, DialectAdapter, Driver, Kysely, KyselyPlugin, QueryExecutorProvider, Transaction } from 'kysely';

/** The adapter of a database of several writers. */
export interface TakesTurns extends DialectAdapter {
  readonly connections: () => Connections;
  /** Returns the database with transactions that wait for others with one of the same turns. */
  taking<T>(turns: readonly string[], plugins: KyselyPlugin[]): Kysely<T>;
  /** Makes a dialect of this database for another driver. */
  dialectOver(driver: Driver): Dialect;
}

export interface Connections {
  readonly inUse: number;
  /** Statements that wait for a connection. */
  readonly waiting: number;
}

/** Returns null for a file. */
export function connectionsOf(store: QueryExecutorProvider): Connections | null {
  const { adapter } = store.getExecutor();
  return 'taking' in adapter ? (adapter as TakesTurns).connections() : null;
}

/** Tries of a transaction that the server undoes for a deadlock or a serialization failure. */
const TRIES = 4;
const UNDONE: ReadonlySet<unknown> = new Set(['40001', '40P01']);

/**
 * Runs a transaction that reads before it writes, while no other with one of the same turns runs; in a file writers are
 * alone anyway. `work` may run again, so it must act on the database only.
 * @param turns names of the rows or counts that `work` relies on, such as `intent:int_…`
 */
export async function inTurn<T, R>(
  store: Kysely<T>,
  turns: readonly string[],
  work: (tx: Transaction<T>) => Promise<R>,
): Promise<R> {
  const { adapter, plugins } = store.getExecutor();
  if (!('taking' in adapter)) return store.transaction().execute(work);
  const taking = (adapter as TakesTurns).taking<T>(turns, [...plugins]);
  return unlessUndone(() => taking.transaction().execute(work));
}

/** Repeats work that the server has undone. */
export async function unlessUndone<R>(work: () => Promise<R>): Promise<R> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === TRIES || !(error instanceof Error && UNDONE.has((error as { code?: unknown }).code))) throw error;
    }
  }
}
