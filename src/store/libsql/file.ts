import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'libsql';
import type { Problem } from '../../kernel/problems.ts';
import { makeFolder, storageProblem } from '../../kernel/storage.ts';

/** The part of libsql (and of better-sqlite3, whose interface it has) that is used here. */
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
  /** How long a writer waits for its turn, holding the thread: never await inside a transaction of such a one. */
  readonly waitMs?: number;
  /** Called for each trouble with the file. */
  readonly onTrouble?: OnTrouble | undefined;
  /** Translates trouble with the file for its users; the result carries the trouble as its cause. */
  readonly thrownAs?: (trouble: Problem) => Problem;
}

export type OnTrouble = (trouble: Problem) => void;

/**
 * Opens a libsql file that several processes may share: WAL, every commit on the disk before it is acknowledged,
 * a writer waits for its turn. The file and its folder are private to the user.
 * @throws Problem of storage, here and from every statement; with `waitMs` 0 a lock stays SQLite's own error
 */
export function openSqlite(path: string, options: FileOptions = {}): SqliteDatabase {
  const { waitMs = BUSY_TIMEOUT_MS, ...atOpening } = options;
  const telling = tellingOf(path, options);
  const database = tellingOf(
    path,
    atOpening,
  )((): SqliteDatabase => {
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
      // A caller that does its own waiting asks again.
      if (waitMs === 0 && isBusy(error)) throw error;
      throw troubleWith(path, error, rest);
    }
  };

/** Reports an error as a problem that names the file; any other error stays as it is. */
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
  error instanceof Error && /busy|locked/i.test(`${(error as Error & { code?: string }).code ?? ''} ${error.message}`);
