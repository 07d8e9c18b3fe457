import { closeSync, fdatasync, openSync, statSync } from 'node:fs';
import type { SqliteDatabase } from './file.ts';

export type JournalDisk = ReturnType<typeof journalDisk>;

/**
 * Brings SQLite's write-ahead journal to the disk beside the thread that everything runs on, once for all who have
 * committed meanwhile. SQLite itself (`synchronous = normal`) writes a commit into the journal, where no kill takes it
 * and every process sees it, and waits for the disk only where it moves the journal into the file.
 * @param database a connection to it: its journal stays the same file for as long as somebody has it open
 * @param inWords makes an error of the system one for the database's users
 */
export function journalDisk(
  database: Pick<SqliteDatabase, 'prepare'>,
  path: string,
  inWords: (error: unknown) => unknown,
) {
  let file: number | null = null;
  /** The system reports a write that it could not carry out once, and takes it for clean from then on. */
  let lost: unknown = null;
  let running: Promise<void> | null = null;
  /** Begins after the running one, which may have begun before a commit. */
  let next: Promise<void> | null = null;
  const others = commitsOfOthers(database, `${path}-wal`);

  const start = (): Promise<void> => {
    next = null;
    const begun = new Promise<void>((resolve, reject) => {
      // No lock of SQLite's is on the journal: it may be opened and closed beside it.
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
    /** Returns when everything that is committed now is on the disk. */
    sync,
    /**
     * The same for what was read; null when it is on the disk. Another process may have committed it and died, or may
     * still wait: an act on it would outlive its cause.
     */
    ofWhatWasRead(): Promise<void> | null {
      if (!others.areNew()) return next ?? running;
      const done = sync();
      done.catch(others.forget);
      return done;
    },
    async close(): Promise<void> {
      // Its failure goes to those who wait for it.
      await (next ?? running)?.catch(() => undefined);
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}

/**
 * Notices commits of other connections, in any process. What lies in the journal at the start counts as theirs: a
 * process may have been killed before the disk had it.
 */
function commitsOfOthers(database: Pick<SqliteDatabase, 'prepare'>, journal: string) {
  const version = database.prepare('pragma data_version');
  const look = () => {
    try {
      return (version.get() as { readonly data_version: number }).data_version;
    } catch {
      // Another process has the file to itself for a moment: it may have written anything.
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

/** Writes everything that the journal holds once more, into the file, and waits for the disk there. */
function movedIntoFile(database: Pick<SqliteDatabase, 'prepare'>): boolean {
  try {
    const { busy } = database.prepare('pragma wal_checkpoint(truncate)').get() as { readonly busy: number };
    return busy === 0;
  } catch {
    // A transaction is open, or the disk refuses: the next who waits tries again.
    return false;
  }
}
