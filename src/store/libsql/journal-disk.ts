import { closeSync, fdatasync, openSync, statSync } from 'node:fs';
import type { SqliteDatabase } from './file.ts';

export type JournalDisk = ReturnType<typeof journalDisk>;

/**
 * Flushes SQLite's write-ahead journal off the main thread, once for all commits meanwhile. `synchronous = normal`
 * writes commits to the journal, safe from kills and visible to all processes, but waits for the disk only to move them
 * into the file. @param database an open connection, which keeps the journal file @param inWords rewords system
 * errors for users
 */
export function journalDisk(
  database: Pick<SqliteDatabase, 'prepare'>,
  path: string,
  inWords: (error: unknown) => unknown,
) {
  let file: number | null = null;
  /** The error of a failed flush: the system reports it once, then takes the pages for clean. */
  let lost: unknown = null;
  let running: Promise<void> | null = null;
  /** The flush after the running one, which may have begun before the last commit. */
  let next: Promise<void> | null = null;
  const others = commitsOfOthers(database, `${path}-wal`);

  const start = (): Promise<void> => {
    next = null;
    const begun = new Promise<void>((resolve, reject) => {
      // SQLite has no locks on the journal, so opening and closing it is safe.
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
    /** Waits until rows that were read are on disk, null if they are: their writer may die before its own flush. */
    ofWhatWasRead(): Promise<void> | null {
      if (!others.areNew()) return next ?? running;
      const done = sync();
      done.catch(others.forget);
      return done;
    },
    async close(): Promise<void> {
      // Its failure goes to the callers that wait for it.
      await (next ?? running)?.catch(() => undefined);
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}

/** Notices commits of others, and a journal that was there at the start: its process may have died before a flush. */
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
