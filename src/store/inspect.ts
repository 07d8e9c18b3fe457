import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Sqlite from 'libsql';
import { isBusy, type SqliteDatabase } from './libsql.ts';
import type { Migration } from './migrate.ts';

/** A look at a database file that changes nothing: nothing is created, brought up to date, or written back. */
export interface FileState {
  readonly kind: 'fine' | 'busy' | 'damaged' | 'unreadable';
  /** What the database says of its damage, or of why it cannot be read. */
  readonly said: string | null;
  /** Steps that this version knows and the file has not seen. */
  readonly missing: readonly string[];
  /** Steps that a newer version has made. */
  readonly newer: readonly string[];
  /** Processes that have it open and are in the middle of something; null where the system does not say. */
  readonly users: readonly number[] | null;
  /** The one that is writing right now. */
  readonly writer: number | null;
}

const WAIT_MS = 500;
/** Reading all of a larger file would take long. */
const MOST_CHECKED_BYTES = 256 * 1024 * 1024;

/**
 * Opens a file of ours to read, and leaves every byte beside it as it was. Of a file that nobody uses but that has a
 * journal, a private copy is read: SQLite would write the journal's index anew.
 */
export function openForReading(path: string): SqliteDatabase {
  const hasJournal = existsSync(`${path}-wal`) && existsSync(`${path}-shm`);
  const isQuiet = usersOf(path).users?.length === 0 && statSync(path).size <= MOST_CHECKED_BYTES;
  if (!hasJournal || !isQuiet) return openAt(path, !hasJournal);
  const aside = mkdtempSync(join(tmpdir(), 'farelock-look-'));
  const remove = () => rmSync(aside, { recursive: true, force: true });
  try {
    for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, join(aside, `copy.db${suffix}`));
    const copy = openAt(join(aside, 'copy.db'), false);
    return {
      exec: (sql) => copy.exec(sql),
      prepare: (sql) => copy.prepare(sql),
      close: () => {
        copy.close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** `isAtRest`: without a journal nobody has it open, and SQLite would make one. */
const openAt = (path: string, isAtRest: boolean): SqliteDatabase =>
  new Sqlite(`${pathToFileURL(path).href}?mode=ro${isAtRest ? '&immutable=1' : ''}`, { timeout: WAIT_MS });

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

/** SQLite's lock of the one writer, a byte of `-shm` (https://sqlite.org/walformat.html, section 2.3). */
const WRITER_BYTE = 120;

/** Who holds locks on a file, by the kernel's own list; Linux alone has one. */
function usersOf(path: string): Pick<FileState, 'users' | 'writer'> {
  let list: string;
  try {
    list = readFileSync('/proc/locks', 'utf8');
  } catch {
    return { users: null, writer: null };
  }
  const inodes = [path, `${path}-shm`].map((file) => statSync(file, { throwIfNoEntry: false })?.ino);
  const users = new Set<number>();
  let writer: number | null = null;
  for (const line of list.split('\n')) {
    const [, , , mode, pid, place, from, to] = line.trim().split(/\s+/);
    const inode = Number(place?.split(':')[2]);
    if (!inodes.includes(inode) || !(Number(pid) > 0)) continue;
    users.add(Number(pid));
    const isWriter = Number(from) <= WRITER_BYTE && Number(to) >= WRITER_BYTE && inode === inodes[1];
    if (mode === 'WRITE' && isWriter) writer = Number(pid);
  }
  return { users: [...users], writer };
}
