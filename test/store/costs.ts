import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import Sqlite from 'libsql';
import { vi } from 'vitest';

/** Statements and waits for the disk of some work. */
export interface Costs {
  /** Every statement on any libsql file, those that begin and end transactions included. */
  readonly statements: readonly string[];
  /** The database file of each wait for the disk, in order. */
  readonly syncs: readonly string[];
}

type Run = (...given: unknown[]) => unknown;

/**
 * Counts what this process asks of its libsql files. It comes before they are opened: statements are prepared once. Of a
 * file that waits for the disk in SQLite itself, each commit counts.
 */
export function countCosts() {
  let statements: string[] = [];
  let syncs: string[] = [];
  /** Files whose commits wait for the disk by themselves. */
  const waiting = new WeakMap<object, boolean>();
  const ran = (database: Sqlite.Database, sql: string) => {
    statements.push(sql.replace(/\s+/g, ' ').trim());
    const [, how] = /pragma synchronous = (\w+)/.exec(sql) ?? [];
    if (how) waiting.set(database, how === 'full');
    const isWrite = /^\s*(insert|update|delete)\b/i.test(sql);
    if (waiting.get(database) && (sql === 'commit' || (isWrite && !database.inTransaction)))
      syncs.push(basename(database.name));
  };
  const prepare = Sqlite.prototype.prepare;
  const exec = Sqlite.prototype.exec;
  const spies = [
    vi.spyOn(Sqlite.prototype, 'prepare').mockImplementation(function (this: Sqlite.Database, sql: string) {
      const statement = prepare.call(this, sql);
      for (const name of ['all', 'get', 'run'] as const) {
        const run = statement[name].bind(statement) as Run;
        const counted: Run = (...given) => {
          ran(this, sql);
          return run(...given);
        };
        Object.assign(statement, { [name]: counted });
      }
      return statement;
    }),
    vi.spyOn(Sqlite.prototype, 'exec').mockImplementation(function (this: Sqlite.Database, sql: string) {
      ran(this, sql);
      return exec.call(this, sql);
    }),
  ];
  const { fdatasync, openSync } = fs;
  const opened = new Map<number, string>();
  const opening = (...given: Parameters<typeof openSync>): number => {
    const file = openSync(...given);
    opened.set(file, basename(String(given[0])).replace(/-wal$/, ''));
    return file;
  };
  const counting = (...given: Parameters<typeof fdatasync>) => {
    syncs.push(opened.get(given[0]) ?? 'another file');
    fdatasync(...given);
  };
  fs.openSync = opening;
  fs.fdatasync = Object.assign(counting, fdatasync);
  syncBuiltinESMExports();

  return {
    async of(work: () => Promise<unknown>): Promise<Costs> {
      statements = [];
      syncs = [];
      await work();
      return { statements, syncs };
    },
    stop() {
      for (const spy of spies) spy.mockRestore();
      Object.assign(fs, { fdatasync, openSync });
      syncBuiltinESMExports();
    },
  };
}
