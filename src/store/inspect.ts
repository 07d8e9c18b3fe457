import { statSync } from 'node:fs';
import { isBusy, type SqliteDatabase } from './libsql.ts';
import type { Migration } from './migrate.ts';
import { type FileUsers, openForReading, usersOf } from './read-only.ts';

/** A look at a database file that changes nothing: nothing is created, brought up to date, or written back. */
export interface FileState extends FileUsers {
  readonly kind: 'fine' | 'busy' | 'damaged' | 'unreadable';
  /** What the database says of its damage, or of why it cannot be read. */
  readonly said: string | null;
  /** Steps that this version knows and the file has not seen. */
  readonly missing: readonly string[];
  /** Steps that a newer version has made. */
  readonly newer: readonly string[];
}

/** Reading all of a larger file would take long. */
const MOST_CHECKED_BYTES = 256 * 1024 * 1024;

/** `migrations` null: a file that has none. */
export function inspectFile(path: string, migrations: readonly Migration[] | null): FileState {
  const { users, writer } = usersOf(path);
  const found = { said: null, missing: [], newer: [], users, writer };
  let database: SqliteDatabase | null = null;
  try {
    database = openForReading(path);
    if (statSync(path).size <= MOST_CHECKED_BYTES) {
      const damage = database
        .prepare('pragma quick_check(3)')
        .all()
        .map((row) => String(Object.values(row as object)[0]));
      if (damage.join() !== 'ok') return { ...found, kind: 'damaged', said: damage[0] ?? null };
    }
    return { ...found, kind: 'fine', ...stepsOf(database, migrations) };
  } catch (error) {
    const { message, code = '' } = error as Error & { code?: string };
    if (isBusy(error)) return { ...found, kind: 'busy' };
    const isDamaged = /NOTADB|CORRUPT/.test(code) || /not a database|malformed/.test(message);
    return { ...found, kind: isDamaged ? 'damaged' : 'unreadable', said: message };
  } finally {
    database?.close();
  }
}

function stepsOf(
  database: SqliteDatabase,
  migrations: readonly Migration[] | null,
): Pick<FileState, 'missing' | 'newer'> {
  if (migrations === null) return { missing: [], newer: [] };
  const known = migrations.map(({ name }) => name);
  const has = database.prepare("select name from sqlite_master where name = 'schema_migrations'").all();
  const rows = has.length === 0 ? [] : database.prepare('select name from schema_migrations').all();
  const applied = rows.map((row) => (row as { name: string }).name);
  return {
    missing: known.filter((name) => !applied.includes(name)),
    newer: applied.filter((name) => !known.includes(name)),
  };
}
