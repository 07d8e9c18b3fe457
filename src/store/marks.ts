import { type Kysely, type QueryExecutorProvider, sql } from 'kysely';
import { REGAINED } from './base/index.ts';
import { readSeen, SEEN_LEDGER, type SeenLedger } from './identity.ts';

/** Single values that every room may keep: switches, identities, when something is due. */
export interface MetaTables {
  meta: { key: string; value: string };
}

export const CREATE_META = 'create table meta (key text primary key, value text not null)';

/** A row of `meta`; null where there is none. */
export async function readMark(database: QueryExecutorProvider, key: string): Promise<string | null> {
  const { rows } = await sql<{ value: string }>`select value from meta where key = ${key}`.execute(database);
  return rows[0]?.value ?? null;
}

/** Marks a database for good: the first value given for `key` stays, and everybody gets it. */
export async function markOnce(database: QueryExecutorProvider, key: string, value: string): Promise<string> {
  const known = await readMark(database, key);
  if (known !== null) return known;
  await sql`insert into meta (key, value) values (${key}, ${value}) on conflict (key) do nothing`.execute(database);
  return (await readMark(database, key)) ?? value;
}

/** Notes how far the ledger has come; it never goes back. After a power cut what was known before is as true. */
export async function noteLedger<T>(database: Kysely<T>, seen: SeenLedger): Promise<void> {
  await database.transaction().execute(async (tx) => {
    const known = readSeen(await readMark(tx, SEEN_LEDGER));
    if (known && known.ledger === seen.ledger && known.seq >= seen.seq) return;
    const value = JSON.stringify(seen);
    await sql`insert into meta (key, value) values (${SEEN_LEDGER}, ${value})
      on conflict (key) do update set value = ${value} ${sql.raw(REGAINED)}`.execute(tx);
  });
}
