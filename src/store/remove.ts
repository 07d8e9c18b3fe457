import { type Kysely, type SqlBool, SqliteAdapter, sql, type Transaction } from 'kysely';
import { REGAINED } from './base/index.ts';

/** Erases deleted rows from the unread write-ahead log; `secure_delete` clears the file, PostgreSQL vacuums. */
export async function erasing<T>(database: Kysely<T>, work: () => Promise<void>): Promise<void> {
  if (!(database.getExecutor().adapter instanceof SqliteAdapter)) return work();
  try {
    await work();
  } finally {
    await sql`pragma wal_checkpoint(truncate)`.execute(database);
  }
}

/** A table whose rows expire, with an index on that time. */
interface Passing<Tables, Name extends keyof Tables & string> {
  readonly table: Name;
  readonly key: keyof Tables[Name] & string;
  readonly at: keyof Tables[Name] & string;
}

/** Deletes in a few milliseconds, so requests are not held up. */
export const BITE = 50;

/** Removes a bite of the oldest expired rows, not those of `unless`; a power cut may restore them. @returns how many */
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
