import { type Kysely, SqliteAdapter, sql } from 'kysely';

/** SQLite's own number of it: each commit waits for the disk. */
const FULL = 2;

/**
 * Writes what a power cut may take back: it is on the disk with the next write that is, and a process that is killed
 * loses nothing. For what is made anew where it is missing, and for what another write goes on from.
 */
export async function unsynced<T, R>(database: Kysely<T>, write: (on: Kysely<T>) => Promise<R>): Promise<R> {
  if (!(database.getExecutor().adapter instanceof SqliteAdapter)) return write(database);
  return database.connection().execute(async (connection) => {
    const { rows } = await sql<{ synchronous: number }>`pragma synchronous`.execute(connection);
    if (rows[0]?.synchronous !== FULL) return write(connection);
    await sql`pragma synchronous = normal`.execute(connection);
    try {
      return await write(connection);
    } finally {
      await sql`pragma synchronous = full`.execute(connection);
    }
  });
}
