import { type Kysely, type SqlBool, SqliteAdapter, sql, type Transaction } from 'kysely';
import { REGAINED } from './base/index.ts';

/**
 * Runs deletions so that what they remove is gone from the write-ahead log too, once no reader holds it. The file itself
 * overwrites what is removed (`openDatabase`). PostgreSQL reclaims removed rows by its own vacuum.
 */
export async function erasing<T>(database: Kysely<T>, work: () => Promise<void>): Promise<void> {
  if (!(database.getExecutor().adapter instanceof SqliteAdapter)) return work();
  try {
    await work();
  } finally {
    await sql`pragma wal_checkpoint(truncate)`.execute(database);
  }
}

/** A table whose rows are of no use once a time has passed; it has an index on that time. */
interface Passing<Tables, Name extends keyof Tables & string> {
  readonly table: Name;
  readonly key: keyof Tables[Name] & string;
  readonly at: keyof Tables[Name] & string;
}

/** A bite that holds up no request: a few milliseconds, whatever lies there. */
export const BITE = 50;

/**
 * Removes the oldest rows of a table up to a time, at most a bite of them: the rest is for later callers. A row that a
 * power cut brings back is found again.
 * @param unless rows that stay
 * @returns how many are gone
 */
export async function removeOld<Tables, Name extends keyof Tables & string>(
  database: Kysely<Tables> | Transaction<Tables>,
  { table, key, at }: Passing<Tables, Name>,
  untilMs: number,
  unless = sql<SqlBool>`1 = 0`,
): Promise<number> {
  const { numAffectedRows } = await sql`delete from ${sql.table(table)} where ${sql.ref(key)} in (
    select ${sql.ref(key)} from ${sql.table(table)} where ${sql.ref(at)} <= ${untilMs} and not (${unless})
    order by ${sql.ref(at)} limit ${BITE}) ${sql.raw(REGAINED)}`.execute(database);
  return Number(numAffectedRows ?? 0n);
}
