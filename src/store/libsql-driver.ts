import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import { BUSY_TIMEOUT_MS, isBusy, type SqliteDatabase } from './libsql.ts';

/**
 * Kysely's driver over one libsql connection, which its users take in turns.
 *
 * A transaction takes the write lock when it begins: read-then-write is then free of races and of deadlock. Who finds
 * the lock taken waits without holding the thread, since the holder may be another connection of this very process.
 * The same statement is tried again rather than a new one: libsql leaves a statement that found the database busy
 * half-run, and a half-run statement pins an old snapshot of the whole connection.
 *
 * A statement runs on the thread that everything runs on, and awaiting it gives nobody else a turn. So whoever takes the
 * connection once a slice of time is used up lets sockets and timers come first: a sweep of many rows stops no request.
 */
export function libsqlDriver(database: SqliteDatabase): Driver {
  let turn: Promise<void> = Promise.resolve();
  let pass: () => void = () => undefined;
  const breathe = slices();

  const connection: DatabaseConnection = {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const statement = database.prepare(query.sql);
      const parameters = query.parameters;
      if (statement.reader) return { rows: (await patiently(() => statement.all(...parameters))) as R[] };
      const { changes, lastInsertRowid } = await patiently(() => statement.run(...parameters));
      return { numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid), rows: [] };
    },
    async *streamQuery<R>(query: CompiledQuery) {
      yield await this.executeQuery<R>(query);
    },
  };

  return {
    init: async () => undefined,
    async acquireConnection() {
      const before = turn;
      let next: () => void = () => undefined;
      turn = new Promise((resolve) => {
        next = resolve;
      });
      await before;
      await breathe();
      pass = next;
      return connection;
    },
    beginTransaction: () => patiently(() => void database.exec('begin immediate')),
    commitTransaction: () => patiently(() => void database.exec('commit')),
    rollbackTransaction: async () => void database.exec('rollback'),
    releaseConnection: async () => pass(),
    destroy: async () => database.close(),
  };
}

const SLICE_MS = 8;

/** @returns what is called between two pieces of work: it comes back at once, or in the next turn of the event loop */
function slices(): () => Promise<void> | undefined {
  let beganMs: number | null = null;
  const nextTurn = () => {
    beganMs = null;
  };
  return () => {
    const nowMs = performance.now();
    if (beganMs === null) {
      beganMs = nowMs;
      setImmediate(nextTurn);
    } else if (nowMs - beganMs > SLICE_MS) {
      return new Promise((resolve) => setImmediate(resolve));
    }
    return undefined;
  };
}

async function patiently<T>(work: () => T): Promise<T> {
  for (let waitedMs = 0; ; ) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || waitedMs >= BUSY_TIMEOUT_MS) throw error;
      const ms = 1 + Math.random() * 8;
      waitedMs += ms;
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
  }
}
