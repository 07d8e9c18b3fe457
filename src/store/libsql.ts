import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'libsql';

/** The part of libsql (and of better-sqlite3, whose interface it has) that is used here. */
export interface SqliteStatement {
  readonly reader: boolean;
  all(...parameters: unknown[]): unknown[];
  get(...parameters: unknown[]): unknown;
  run(...parameters: unknown[]): { changes: number; lastInsertRowid: number | bigint };
  iterate(...parameters: unknown[]): IterableIterator<unknown>;
}

export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

/**
 * Opens a libsql file that several processes may share: WAL, every commit on the disk before it is acknowledged,
 * a writer waits for its turn (`waitMs`, holding the thread: never await inside a transaction of such a one). The file and its folder are private to the user.
 */
export function openSqlite(path: string, { waitMs = BUSY_TIMEOUT_MS } = {}): SqliteDatabase {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database: SqliteDatabase = new Sqlite(path, { timeout: waitMs });
  database.prepare(`pragma busy_timeout = ${waitMs}`).all();
  enterWal(database);
  database.exec('pragma synchronous = full; pragma foreign_keys = on');
  chmodSync(path, 0o600);
  return database;
}

/** How long a writer waits for its turn. */
export const BUSY_TIMEOUT_MS = 15_000;

/**
 * Changing the journal mode needs a moment alone and does not wait for one: two processes that create the same
 * file at once would fail without the retries.
 */
function enterWal(database: SqliteDatabase): void {
  for (let attempt = 0; ; attempt++) {
    try {
      database.prepare('pragma journal_mode = wal').all();
      return;
    } catch (error) {
      if (attempt >= 100 || !isBusy(error)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20 + Math.random() * 30);
    }
  }
}

export const isBusy = (error: unknown): boolean =>
  error instanceof Error &&
  /busy|locked/i.test(`${(error as Error & { code?: string }).code ?? ''} ${error.message}`);
