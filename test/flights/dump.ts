import { sql } from 'kysely';
import type { World } from './world.ts';

const TABLES = [
  'intents',
  'bookings',
  'effects',
  'orders',
  'refund_requests',
  'refund_notes',
  'affiliate_payouts',
  'quotes',
  'searches',
  'search_completions',
  'settlements',
  'operator_audit',
  'outbox',
  'upkeep',
  'meta',
  'duffel_attempts',
] as const;

/** All rows of money and of what waits. @returns puts them back */
export async function dump({ store }: World): Promise<() => Promise<void>> {
  const kept = await Promise.all(
    TABLES.map(async (table) => [table, await store.selectFrom(table).selectAll().execute()] as const),
  );
  return () =>
    store.transaction().execute(async (tx) => {
      for (const [table, rows] of kept) {
        await sql`delete from ${sql.table(table)}`.execute(tx);
        for (const row of rows)
          await tx
            .insertInto(table)
            .values(row as never)
            .execute();
      }
    });
}
