import { type Kysely, SqliteAdapter, sql } from 'kysely';

/**
 * Runs deletions so that what they remove is gone from the file too. SQLite leaves removed text in freed pages and in
 * its write-ahead log: here it is overwritten, and the log emptied when no reader holds it. PostgreSQL reclaims
 * removed rows by its own vacuum.
 */
export async function erasing<T>(database: Kysely<T>, work: () => Promise<void>): Promise<void> {
  if (!(database.getExecutor().adapter instanceof SqliteAdapter)) return work();
  await sql`pragma secure_delete = on`.execute(database);
  try {
    await work();
  } finally {
    await sql`pragma secure_delete = off`.execute(database);
    await sql`pragma wal_checkpoint(truncate)`.execute(database);
  }
}
