import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'libsql';
import type { Problem } from '../../kernel/problems.ts';
import { makeFolder, storageProblem } from '../../kernel/storage.ts';

/** The used part of libsql's interface, which is better-sqlite3's. */
interface SqliteStatement {
  readonly reader: boolean;
  all(...parameters: unknown[]): unknown[];
  get(...parameters: unknown[]): unknown;
  run(...parameters: unknown[]): { changes: number; lastInsertRowid: number | bigint };
  iterate(...parameters: unknown[]): IterableIterator<unknown>;
}

export interface SqliteDatabase {
  readonly inTransaction: boolean;
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface FileOptions {
  /** How long a locked file blocks the thread: never await inside transactions. 0: SQLite's error is thrown at once. */
  readonly waitMs?: number;
  readonly onTrouble?: OnTrouble | undefined;
  /** Rewords trouble for the file's users, with the trouble as cause. */
  readonly thrownAs?: (trouble: Problem) => Problem;
}

export type OnTrouble = (trouble: Problem) => void;

/** Opens a private libsql file: WAL, commits on disk before they are acknowledged. @throws Problem of storage */
export function openSqlite(path: string, options: FileOptions = {}): SqliteDatabase {
  const { waitMs = BUSY_TIMEOUT_MS, ...atOpening } = options;
  const telling = tellingOf(path, options);
  const opening = tellingOf(path, atOpening);
  const database = opening((): SqliteDatabase => {
    makeFolder(dirname(path));
    const opened: SqliteDatabase = new Sqlite(path, { timeout: waitMs });
    try {
      opened.prepare(`pragma busy_timeout = ${waitMs}`).all();
      enterWal(opened);
      opened.exec('pragma synchronous = full; pragma foreign_keys = on');
      chmodSync(path, 0o600);
      return opened;
    } catch (error) {
      opened.close();
      throw error;
    }
  });
  return {
    get inTransaction() {
      return database.inTransaction;
    },
    exec: (sql) => telling(() => database.exec(sql)),
    prepare(sql) {
      const statement = telling(() => database.prepare(sql));
      return {
        reader: statement.reader,
        all: (...parameters) => telling(() => statement.all(...parameters)),
        get: (...parameters) => telling(() => statement.get(...parameters)),
        run: (...parameters) => telling(() => statement.run(...parameters)),
        iterate: (...parameters) => telling(() => statement.iterate(...parameters)),
      };
    },
    close: () => database.close(),
  };
}

const tellingOf =
  (path: string, { waitMs, ...rest }: FileOptions) =>
  <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      // The caller does its own waiting.
      if (waitMs === 0 && isBusy(error)) throw error;
      throw troubleWith(path, error, rest);
    }
  };

/** Makes a problem that names the file; returns other errors as they are. */
export function troubleWith(
  path: string,
  error: unknown,
  { onTrouble, thrownAs = (trouble) => trouble }: Omit<FileOptions, 'waitMs'>,
): unknown {
  const trouble = storageProblem(error, path);
  if (!trouble) return error;
  onTrouble?.(trouble);
  return thrownAs(trouble);
}

export const BUSY_TIMEOUT_MS = 15_000;

/** Retries the journal mode, which needs the file to itself, but does not wait: two processes may create the file. */
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
  error instanceof Error && /busy|locked/i.test(`${(error as Error & { code?: string }).code ?? ''} ${error.message}`);
