import { type Kysely, type SqlBool, SqliteAdapter, sql, type Transaction } from 'kysely';
import { REGAINED } from './base/index.ts';

/** Runs `work`, then empties SQLite's journal of deleted rows: `secure_delete` clears only the file itself. */
export async function erasing<T>(database: Kysely<T>, work: () => Promise<void>): Promise<void> {
  if (!(database.getExecutor().adapter instanceof SqliteAdapter)) return work();
  try {
    await work();
  } finally {
    await sql`pragma wal_checkpoint(truncate)`.execute(database);
  }
}

/** Rows deleted at a time: in a few milliseconds, so requests are not held up. */
export const BITE = 50;

/** Removes up to `BITE` of the oldest expired rows, none of `unless`. A power cut may undo it. @returns how many */
export async function removeOld<Tables, Name extends keyof Tables & string>(
  database: Kysely<Tables> | Transaction<Tables>,
  { table, key, at }: { readonly table: Name } & Readonly<Record<'key' | 'at', keyof Tables[Name] & string>>,
  untilMs: number,
  unless = sql<SqlBool>`1 = 0`,
): Promise<number> {
  const { numAffectedRows } = await sql`delete from ${sql.table(table)} where ${sql.ref(key)} in (
    select ${sql.ref(key)} from ${sql.table(table)} where ${sql.ref(at)} <= ${untilMs} and not (${unless})
    order by ${sql.ref(at)} limit ${BITE}) ${sql.raw(REGAINED)}`.execute(database);
  return Number(numAffectedRows ?? 0n);
}
