import { STUCK } from '../flights/look.ts';
import { NEWEST_SETTLED } from '../payments/look.ts';
import { serviceMigrations } from '../service/index.ts';
import {
  type Belonging,
  IDENTITY,
  OPERATOR_KEYS,
  readIdentity,
  readKeys,
  readSeen,
  SEEN_LEDGER,
} from '../store/index.ts';
import { type FileState, inspectFile, readRows } from '../store/libsql/index.ts';
import {
  loadPostgresInspect,
  type PostgresLook,
  type PostgresRefused,
  type PostgresState,
} from '../store/postgres/index.ts';
import { clientMigrations } from './journal/index.ts';

export { differences, keyFilesOf, RING_PURPOSE, whyLedgerLost } from '../store/index.ts';
export type { FileState } from '../store/libsql/index.ts';
export type { PostgresPlace, PostgresRefused, PostgresState } from '../store/postgres/index.ts';

/** Inspects a home's database files without changing them. */

export const inspectJournal = (path: string, full: boolean): FileState => inspectFile(path, clientMigrations, full);

export const inspectServices = (path: string, full: boolean): FileState => inspectFile(path, serviceMigrations, full);

/** Inspects PostgreSQL and the rows that wait for a person. */
export async function inspectServer(
  url: string,
  look: Pick<PostgresLook, 'now' | 'timeoutMs' | 'signal'>,
): Promise<PostgresState | PostgresRefused | null> {
  const { inspectPostgres } = await loadPostgresInspect();
  return inspectPostgres(url, { ...look, migrations: serviceMigrations, stuckQuery: STUCK });
}

/** Inspects a file without migrations. */
export const inspectOther = (path: string, full: boolean): FileState => inspectFile(path, null, full);

/** Signed, unanswered payments, oldest first; empty without a journal. */
export const openPaymentsIn = (path: string): { id: string; createdAtMs: number }[] =>
  readRows(
    path,
    `select payment_id, created_at_ms from payments where live_key is not null and state <> 'answered'
      and created_at_ms > 0 order by created_at_ms`,
  ).map((row) => ({ id: String(row.payment_id), createdAtMs: Number(row.created_at_ms) }));

/** Rows that wait for a person; empty without a database. */
export const stuckIn = (path: string): string[] => readRows(path, STUCK).map((row) => String(row.id));

/** The keys and ledger of the services' database; null without one. */
export function belongingIn(path: string): Belonging | null {
  const meta = readRows(path, 'select name from sqlite_master').some(({ name }) => name === 'meta');
  if (!meta) return null;
  const rows = new Map(
    readRows(path, 'select key, value from meta').map(({ key, value }) => [String(key), String(value)]),
  );
  const [newest] = readRows(path, NEWEST_SETTLED);
  return {
    identity: readIdentity(rows.get(IDENTITY) ?? null),
    keys: readKeys(rows.get(OPERATOR_KEYS) ?? null),
    seen: readSeen(rows.get(SEEN_LEDGER) ?? null),
    newest: newest ? String(newest.signature) : null,
  };
}
