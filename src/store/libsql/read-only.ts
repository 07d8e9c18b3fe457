import { copyFileSync, existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Sqlite from 'libsql';
import { HOUR_MS } from '../../kernel/clock.ts';
import type { SqliteDatabase } from './file.ts';

const WAIT_MS = 500;
const MOST_COPIED_BYTES = 256 * 1024 * 1024;
const ASIDE = 'farelock-look-';
/** A look takes seconds: older copies were left by a killed process. */
const LEFT_MS = HOUR_MS;

/** Reads a file's rows, if any, without migrating, writing or creating it; `sql` takes no parameters. */
export function readRows(path: string, sql: string): Record<string, unknown>[] {
  if (!existsSync(path)) return [];
  const database = openForReading(path);
  try {
    return database.prepare(sql).all() as Record<string, unknown>[];
  } finally {
    database.close();
  }
}

/** Opens a file for reading only. Copies one with a journal but no users: SQLite would rewrite its index. */
export function openForReading(path: string): SqliteDatabase {
  const hasJournal = existsSync(`${path}-wal`);
  const isQuiet = usersOf(path).users?.length === 0 && statSync(path).size <= MOST_COPIED_BYTES;
  if (!hasJournal || !isQuiet) return openAt(path, !hasJournal);
  const aside = mkdtempSync(join(tmpdir(), ASIDE));
  sweepBeside(aside);
  const remove = () => rmSync(aside, { recursive: true, force: true });
  try {
    for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, join(aside, `copy.db${suffix}`));
    const copy = openAt(join(aside, 'copy.db'), false);
    return {
      inTransaction: false,
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

/** Removes copies that this user's killed processes left. */
function sweepBeside(aside: string): void {
  try {
    const { uid, mtimeMs } = lstatSync(aside);
    for (const name of readdirSync(tmpdir())) {
      if (!name.startsWith(ASIDE)) continue;
      const path = join(tmpdir(), name);
      const found = lstatSync(path, { throwIfNoEntry: false });
      const isLeft = found?.isDirectory() && found.uid === uid && mtimeMs - found.mtimeMs > LEFT_MS;
      if (isLeft) rmSync(path, { recursive: true, force: true });
    }
  } catch {
    // The temporary folder may be unlistable.
  }
}

/** `isAtRest`: the file is closed and has no journal, and SQLite would make one. */
const openAt = (path: string, isAtRest: boolean): SqliteDatabase =>
  new Sqlite(`${pathToFileURL(path).href}?mode=ro${isAtRest ? '&immutable=1' : ''}`, { timeout: WAIT_MS });

/** SQLite's writer lock byte of `-shm` (https://sqlite.org/walformat.html, section 2.3). */
const WRITER_BYTE = 120;

export interface FileUsers {
  /** Processes that hold a lock on it; null if the system does not say. */
  readonly users: readonly number[] | null;
  readonly writer: number | null;
}

/** Finds the processes that lock a file in Linux's own list. */
export function usersOf(path: string): FileUsers {
  let list: string;
  let mounts: string;
  try {
    list = readFileSync('/proc/locks', 'utf8');
    mounts = readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return { users: null, writer: null };
  }
  const files = [path, `${path}-shm`].map((file) => {
    const found = statSync(file, { throwIfNoEntry: false });
    return found && { inode: found.ino, device: deviceOf(found.dev, mounts) };
  });
  const users = new Set<number>();
  let writer: number | null = null;
  for (const line of list.split('\n')) {
    const [, , , mode, pid, place, from, to] = line.trim().split(/\s+/);
    const [major, minor, inode] = place?.split(':') ?? [];
    const device = `${major}:${minor}`;
    const at = files.findIndex((one) => one?.inode === Number(inode) && (one.device ?? device) === device);
    if (at < 0 || !(Number(pid) > 0)) continue;
    users.add(Number(pid));
    const isWriter = Number(from) <= WRITER_BYTE && Number(to) >= WRITER_BYTE && at === 1;
    if (mode === 'WRITE' && isWriter) writer = Number(pid);
  }
  return { users: [...users], writer };
}

/** Names a device as the list of locks does; null where `stat` may name another one, as on btrfs and overlays. */
function deviceOf(dev: number, mounts: string): string | null {
  const numbers = [(dev >>> 8) & 0xfff, (dev & 0xff) | ((dev >>> 12) & 0xfff00)];
  if (!mounts.includes(` ${numbers.join(':')} `)) return null;
  return numbers.map((each) => each.toString(16).padStart(2, '0')).join(':');
}
