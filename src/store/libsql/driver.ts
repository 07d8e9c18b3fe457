import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import { BUSY_TIMEOUT_MS, type FileOptions, isBusy, type SqliteDatabase, troubleWith } from './file.ts';

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
export function libsqlDriver(
  database: SqliteDatabase,
  path: string,
  telling: Pick<FileOptions, 'onTrouble'> = {},
): Driver {
  const patiently = async <T>(work: () => T): Promise<T> => {
    const untilMs = performance.now() + BUSY_TIMEOUT_MS;
    while (true) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (performance.now() >= untilMs) throw troubleWith(path, error, telling);
        await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 8));
      }
    }
  };
  let turn: Promise<void> = Promise.resolve();
  let pass: () => void = () => undefined;
  const breathe = slices();

  const connection: DatabaseConnection = {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      // To read a statement SQLite reads the schema, which may be locked too.
      const statement = await patiently(() => database.prepare(query.sql));
      const parameters = query.parameters;
      if (statement.reader) return { rows: (await patiently(() => statement.all(...parameters))) as R[] };
      const { changes, lastInsertRowid } = await patiently(() => statement.run(...parameters));
      return { numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid), rows: [] };
    },
    async *streamQuery<R>(query: CompiledQuery) {
      yield await this.executeQuery<R>(query);
    },
  };

  /** After a full disk or an I/O error SQLite has rolled back by itself: the first error says why. */
  const rollBack = async () => {
    if (database.inTransaction) await patiently(() => void database.exec('rollback'));
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
    async beginTransaction() {
      await rollBack();
      await patiently(() => void database.exec('begin immediate'));
    },
    commitTransaction: () => patiently(() => void database.exec('commit')),
    rollbackTransaction: rollBack,
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
