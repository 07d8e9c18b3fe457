import { closeSync, fdatasync, openSync, statSync } from 'node:fs';
import type { SqliteDatabase } from './file.ts';

export type JournalDisk = ReturnType<typeof journalDisk>;

/**
 * Flushes SQLite's write-ahead journal beside the main thread, once for all commits meanwhile. `synchronous = normal`
 * writes commits to the journal, safe from kills and visible to all processes, but waits for the disk only on moving
 * them into the file. @param database an open connection, which keeps the journal file @param inWords rewords system
 * errors for users
 */
export function journalDisk(
  database: Pick<SqliteDatabase, 'prepare'>,
  path: string,
  inWords: (error: unknown) => unknown,
) {
  let file: number | null = null;
  /** The system reports a failed write once, then takes it for clean. */
  let lost: unknown = null;
  let running: Promise<void> | null = null;
  /** Follows the running one, which may have begun before a commit. */
  let next: Promise<void> | null = null;
  const others = commitsOfOthers(database, `${path}-wal`);

  const start = (): Promise<void> => {
    next = null;
    const begun = new Promise<void>((resolve, reject) => {
      // SQLite locks nothing on the journal: opening and closing it is safe.
      file ??= openSync(`${path}-wal`, 'r+');
      if (lost !== null && !movedIntoFile(database)) return reject(inWords(lost));
      fdatasync(file, (error) => {
        lost = error;
        return error ? reject(inWords(error)) : resolve();
      });
    });
    const ended = () => {
      if (running === begun) running = null;
    };
    running = begun;
    begun.then(ended, ended);
    return begun;
  };

  const sync = (): Promise<void> => {
    if (!running) return start();
    next ??= running.then(start, start);
    return next;
  };

  return {
    /** Waits until current commits are on disk. */
    sync,
    /** Waits for read rows; null when on disk. Another process may die after its commit, before the disk has it. */
    ofWhatWasRead(): Promise<void> | null {
      if (!others.areNew()) return next ?? running;
      const done = sync();
      done.catch(others.forget);
      return done;
    },
    async close(): Promise<void> {
      // Those waiting for it get its failure.
      await (next ?? running)?.catch(() => undefined);
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}

/** Notices others' commits, and the journal's content at the start: a killed process may not have synced it. */
function commitsOfOthers(database: Pick<SqliteDatabase, 'prepare'>, journal: string) {
  const version = database.prepare('pragma data_version');
  const look = () => {
    try {
      return (version.get() as { readonly data_version: number }).data_version;
    } catch {
      // A process with exclusive access may have written anything.
      return null;
    }
  };
  const first = look();
  let known = sizeOf(journal) === 0 ? first : null;
  return {
    areNew(): boolean {
      const before = known;
      known = look();
      return known === null || known !== before;
    },
    forget(): void {
      known = null;
    },
  };
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Moves the whole journal into the file and waits for the disk. */
function movedIntoFile(database: Pick<SqliteDatabase, 'prepare'>): boolean {
  try {
    const { busy } = database.prepare('pragma wal_checkpoint(truncate)').get() as { readonly busy: number };
    return busy === 0;
  } catch {
    // A transaction is open, or the disk refuses: the next waiter retries.
    return false;
  }
}
