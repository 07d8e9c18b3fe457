import type { Dialect, DialectAdapter, Driver, Kysely, KyselyPlugin, QueryExecutorProvider, Transaction } from 'kysely';

/** The adapter of a database of several writers. */
export interface TakesTurns extends DialectAdapter {
  /** Connections of this process. */
  readonly connections: () => Connections;
  /** The same database, whose transactions wait for those that share one of these turns. */
  taking<T>(turns: readonly string[], plugins: KyselyPlugin[]): Kysely<T>;
  /** Words statements as this database has them, for another driver. */
  dialectOver(driver: Driver): Dialect;
}

export interface Connections {
  readonly inUse: number;
  /** Statements that wait for a connection. */
  readonly waiting: number;
}

/** null for a file. */
export function connectionsOf(store: QueryExecutorProvider): Connections | null {
  const { adapter } = store.getExecutor();
  return 'taking' in adapter ? (adapter as TakesTurns).connections() : null;
}

/** Tries of a transaction that the server undoes: a deadlock, a serialization failure. */
const TRIES = 4;
const UNDONE: ReadonlySet<unknown> = new Set(['40001', '40P01']);

/**
 * Runs a transaction that reads before it writes, alone among those that share a turn with it; in a file, writers are
 * alone anyway. Its statements may run again: they act on the database only.
 * @param turns the rows or counts that its rule reads, such as `intent:int_…`
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

/** Tries work again that the server has undone. */
export async function unlessUndone<R>(work: () => Promise<R>): Promise<R> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === TRIES || !(error instanceof Error && UNDONE.has((error as { code?: unknown }).code))) throw error;
    }
  }
}
