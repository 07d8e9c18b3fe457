import { existsSync } from 'node:fs';
import { type FileState, inspectFile, openForReading } from '../store/inspect.ts';
import { serviceMigrations } from '../store/migrations.ts';
import { clientMigrations } from './store-schema.ts';

export type { FileState } from '../store/inspect.ts';

/** Looks at the database files of a home, and at what is open in them, without changing anything. */

/** The tool's journal (`client.db`). */
export const inspectJournal = (path: string): FileState => inspectFile(path, clientMigrations);

/** The services' database, where it is a file. */
export const inspectServices = (path: string): FileState => inspectFile(path, serviceMigrations);

/** A file that has no migrations of its own. */
export const inspectOther = (path: string): FileState => inspectFile(path, null);

/** Payments that were signed and never answered, oldest first. Empty without a journal. */
export function openPaymentsIn(path: string): { id: string; createdAtMs: number }[] {
  if (!existsSync(path)) return [];
  return reading(path, (all) =>
    all<{ payment_id: string; created_at_ms: number }>(
      'select payment_id, created_at_ms from payments where live_key is not null order by created_at_ms',
    ).map((row) => ({ id: row.payment_id, createdAtMs: row.created_at_ms })),
  );
}

/** What waits for a person in the services' own database. Empty without one. */
export function stuckIn(path: string): string[] {
  if (!existsSync(path)) return [];
  return reading(path, (all) =>
    all<{ id: string }>(
      `select intent_id as id from bookings where state = 'stuck'
       union all select request_id as id from refund_requests where state = 'stuck'`,
    ).map((row) => row.id),
  );
}

function reading<T>(path: string, read: (all: <R>(query: string) => R[]) => T): T {
  const database = openForReading(path);
  try {
    return read(<R>(query: string) => database.prepare(query).all() as R[]);
  } finally {
    database.close();
  }
}
