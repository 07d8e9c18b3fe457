import { REGAINED } from '../regained.ts';
import type { SqliteDatabase } from './file.ts';

/** A statement that was prepared, and what its text says about it. */
export interface KeptStatement {
  readonly run: (parameters: readonly unknown[]) => Ran;
  /** It changes nothing. */
  readonly isRead: boolean;
  /** A power failure may take what it wrote (`REGAINED`). */
  readonly isRegained: boolean;
}

export interface Ran {
  readonly rows: unknown[];
  /** null for a statement that gives rows. */
  readonly changes: number | null;
  readonly lastInsertRowid: number | bigint;
}

export interface KeptStatements {
  of(sql: string): KeptStatement;
  /** Forgets a statement that failed: libsql may have left it half-run. */
  drop(sql: string): void;
}

/** More than the services have; lists of values make texts that differ by their lengths. */
const MOST_KEPT = 400;

/** Prepares each statement once, and keeps those that were used last. */
export function keepStatements(database: Pick<SqliteDatabase, 'prepare'>): KeptStatements {
  const kept = new Map<string, KeptStatement>();
  return {
    of(sql) {
      const known = kept.get(sql);
      if (known && kept.size < MOST_KEPT) return known;
      const statement = known ?? prepared(database, sql);
      kept.delete(sql);
      kept.set(sql, statement);
      if (kept.size > MOST_KEPT)
        for (const oldest of [...kept.keys()].slice(0, MOST_KEPT / 4)) kept.delete(oldest);
      return statement;
    },
    drop: (sql) => void kept.delete(sql),
  };
}

function prepared(database: Pick<SqliteDatabase, 'prepare'>, sql: string): KeptStatement {
  const statement = database.prepare(sql);
  const { reader } = statement;
  return {
    isRead: /^\s*(?:select|pragma|explain)\b/i.test(sql),
    isRegained: sql.endsWith(REGAINED),
    run(parameters) {
      if (reader) return { rows: statement.all(...parameters), changes: null, lastInsertRowid: 0 };
      return { rows: [], ...statement.run(...parameters) };
    },
  };
}
