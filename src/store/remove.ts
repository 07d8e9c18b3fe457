import { type Kysely, type SqlBool, sql } from 'kysely';
import type { ServiceTables } from './tables/schema.ts';

/** Rows that nobody can ask for any more once a time has passed. Each table has an index on that time. */
const OLD = {
  customer_tokens: { key: 'token_hmac', at: 'expires_at_ms' },
  partner_answers: { key: 'handle', at: 'expires_at_ms' },
  quotes: { key: 'quote_id', at: 'expires_at_ms' },
  search_completions: { key: 'id', at: 'at_ms' },
  searches: { key: 'search_id', at: 'expires_at_ms' },
  sponsored_signatures: { key: 'signature', at: 'expires_at_ms' },
  wrong_codes: { key: 'id', at: 'at_ms' },
} as const;

/** A bite that holds up no request: a few milliseconds, whatever lies there. */
export const BITE = 50;

/**
 * Removes the oldest rows of a table up to a time, at most a bite of them: who finds a heap takes some of it, and
 * leaves the rest to those who come after.
 * @param unless rows that stay
 * @returns how many are gone
 */
export async function removeOld(
  database: Kysely<ServiceTables>,
  table: keyof typeof OLD,
  untilMs: number,
  unless = sql<SqlBool>`1 = 0`,
): Promise<number> {
  const { key, at } = OLD[table];
  const { numAffectedRows } = await sql`delete from ${sql.table(table)} where ${sql.ref(key)} in (
    select ${sql.ref(key)} from ${sql.table(table)} where ${sql.ref(at)} <= ${untilMs} and not (${unless})
    order by ${sql.ref(at)} limit ${BITE})`.execute(database);
  return Number(numAffectedRows ?? 0n);
}
