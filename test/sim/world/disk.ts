import { copyFileSync, existsSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import Sqlite from 'libsql';
import { openSqlite, type SqliteDatabase } from '../../../src/store/libsql/file.ts';
import type { Process } from './computer.ts';
import type { World } from './world.ts';

/** Places in the index of SQLite's journal (https://sqlite.org/walformat.html, section 2.1), and in the journal. */
const LAST_FRAME_AT = 16;
const SALTS_AT = 32;
const ATTEMPTED_AT = 128;
const HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4096;
const LONGEST_SYNC_MS = 4;

/** How far a journal goes: its salts change when it begins again. */
interface Reach {
  readonly salts: string;
  readonly frames: number;
}

export type Disk = ReturnType<typeof createDisk>;

/**
 * A disk with one database file, and what a failure of its power leaves of it: the file, and of the journal beside it
 * what somebody has waited for. SQLite brings the journal to the disk before it moves anything into the file, so the end
 * of the journal is all that can be lost. Some of that end may survive, torn at any byte.
 *
 * The file goes on under a new name after each failure: connections of the dead keep the old one.
 */
export function createDisk(world: World, name: string, first: string) {
  const { chance } = world;
  const users = new Set<Process>();
  const renewals: (() => void)[] = [];
  let path = first;
  let failures = 0;
  let synced: Reach | null = null;
  // A connection of the dead ends when its memory is collected, whenever that is; the last one would take the journal along.
  let held = openSqlite(path);

  const reachOf = (): (Reach & { readonly moved: number }) | null => {
    const index = `${path}-shm`;
    if (!existsSync(index)) return null;
    const bytes = readFileSync(index);
    return {
      salts: bytes.toString('hex', SALTS_AT, SALTS_AT + 8),
      frames: bytes.readUInt32LE(LAST_FRAME_AT),
      moved: bytes.readUInt32LE(ATTEMPTED_AT),
    };
  };
  /** How many frames of the journal are on the disk. */
  const safeFrames = (now: Reach & { readonly moved: number }): number =>
    Math.max(now.moved, synced?.salts === now.salts ? synced.frames : 0);

  /** Copies what a failure right now would leave. @param tail how much of the rest survives, 0 to 1 */
  function leaveAt(to: string, tail: number): void {
    copyFileSync(path, to);
    const now = reachOf();
    if (!now || !existsSync(`${path}-wal`)) return;
    const journal = readFileSync(`${path}-wal`);
    const whole = HEADER_BYTES + now.frames * FRAME_BYTES;
    const safe = HEADER_BYTES + safeFrames(now) * FRAME_BYTES;
    writeFileSync(`${to}-wal`, journal.subarray(0, safe + Math.floor((whole - safe) * tail)));
  }

  return {
    path: () => path,
    users,
    attach(process: Process): void {
      users.add(process);
      process.atEnd(() => users.delete(process));
    },
    /** Called when the file goes on under a new name. */
    onRenewal: (call: () => void) => void renewals.push(call),
    /** Somebody waits for the disk: what is committed now is on it when that has ended. */
    async sync(journal: string): Promise<void> {
      if (journal !== `${path}-wal`) return;
      const { frames, salts } = reachOf() ?? { frames: 0, salts: '' };
      await world.sleep(chance.pauseMs(chance.numbered(`${name} sync`), LONGEST_SYNC_MS));
      // Of two waits that overlap, the one that began first may end last. Frames of an earlier journal are in the file.
      if (journal !== `${path}-wal` || salts !== reachOf()?.salts) return;
      synced = { salts, frames: Math.max(frames, synced?.salts === salts ? synced.frames : 0) };
    },
    /** Reads what a failure of the power right now would leave. */
    survives<T>(read: (database: Pick<SqliteDatabase, 'prepare'>) => T): T {
      const copy = `${first}.look`;
      leaveAt(copy, 0);
      const database = new Sqlite(copy);
      try {
        return read(database);
      } finally {
        database.close();
        for (const suffix of ['', '-wal', '-shm']) rmSync(`${copy}${suffix}`, { force: true });
      }
    },
    close: () => held.close(),
    /** The power fails: everything that runs here dies, and finds what was on the disk when it is started again. */
    fail(): void {
      failures++;
      world.tell(name, 'the power fails');
      world.saw('the power fails');
      const now = reachOf();
      if (now && safeFrames(now) < now.frames) world.saw('the power takes what nobody waited for');
      const next = `${first}.${failures}`;
      const luck = chance.part(`${name} power ${failures}`);
      leaveAt(next, luck < 0.5 ? 0 : (luck - 0.5) * 2);
      const before = path;
      path = next;
      synced = null;
      held.close();
      held = openSqlite(path);
      for (const process of [...users]) process.crash();
      for (const call of renewals) call();
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${before}${suffix}`, { force: true });
    },
  };
}

/** Sends each wait for a disk to the disk that has the file. Anything else is on the disk at once. */
export const syncsOf =
  (disks: () => Iterable<Disk>) =>
  (file: number): Promise<void> => {
    const path = existsSync('/proc/self/fd') ? readlinkSync(`/proc/self/fd/${file}`) : '';
    return Promise.all([...disks()].map((disk) => disk.sync(path))).then(() => undefined);
  };
