import { type Kysely, SqliteAdapter, sql } from 'kysely';

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
