import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { readBounded } from './bounded-file.ts';
import { isProblem, type Problem, type ProblemCode, problem } from './problems.ts';
import { farelock, type NextStep, shell } from './shell-word.ts';

const STORAGE_CODES = [
  'storage_full',
  'storage_failed',
  'storage_not_writable',
  'storage_locked',
  'storage_damaged',
  'too_many_open_files',
] as const satisfies readonly ProblemCode[];
type StorageCode = (typeof STORAGE_CODES)[number];

/** Seconds until a retry; after a failed write, /ready also fails for this long. */
export const STORAGE_RETRY_S = 5;

const ERRNOS: readonly (readonly [StorageCode, string])[] = [
  ['storage_full', 'ENOSPC EDQUOT EFBIG'],
  ['storage_failed', 'EIO ENXIO ESTALE'],
  ['storage_not_writable', 'EROFS EACCES EPERM ENOTDIR'],
  ['too_many_open_files', 'EMFILE ENFILE'],
];
const errnoCode = (errno: string): StorageCode | undefined =>
  ERRNOS.find(([, errnos]) => errnos.split(' ').includes(errno))?.[0];

/** Patterns of SQLite's result codes and PostgreSQL's SQLSTATEs; the first match counts. */
const BY_DATABASE: readonly (readonly [RegExp, StorageCode])[] = [
  [/^(SQLITE_FULL|53100)$/, 'storage_full'],
  [/^(SQLITE_READONLY|SQLITE_PERM|25006$)/, 'storage_not_writable'],
  [/^(SQLITE_(CORRUPT|NOTADB)|XX00[12]$)/, 'storage_damaged'],
  [/^(SQLITE_(BUSY|LOCKED)|55P03$)/, 'storage_locked'],
  [/^(SQLITE_(IOERR|CANTOPEN)|58030$)/, 'storage_failed'],
];

/** SQLite's numeric primary codes, which libsql gives when a file cannot be opened. */
const BY_NUMBER: Readonly<Record<string, StorageCode>> = {
  '5': 'storage_locked',
  '8': 'storage_not_writable',
  '10': 'storage_failed',
  '11': 'storage_damaged',
  '13': 'storage_full',
  '14': 'storage_failed',
  '26': 'storage_damaged',
};

interface NativeError extends Error {
  readonly code?: string;
  readonly path?: string;
  readonly syscall?: string;
}

/**
 * Turns a file or database error into a problem, by the system's, SQLite's or PostgreSQL's code; null for other errors.
 * The problem is public and names no path; its `cause` tells the operator file, reason and remedy (`storageTrouble`).
 * @param path the file, if the error does not name it
 */
export function storageProblem(error: unknown, path?: string): Problem | null {
  if (!(error instanceof Error) || isProblem(error)) return null;
  const native: NativeError = error;
  // A native package gives a message without a code.
  const said = /Too many open files/.test(native.message) ? 'EMFILE' : (native.code ?? '');
  const file = path ?? native.path;
  // EEXIST: a file is in the folder's place. ENOENT: Node's code for a folder that cannot be made.
  const isNoFolder = /^(ENOENT|EEXIST)$/.test(said) && native.syscall === 'mkdir';
  const ofSystem = isNoFolder ? 'storage_not_writable' : errnoCode(said);
  if (ofSystem)
    return file !== undefined || said.endsWith('MFILE') || said.endsWith('NFILE')
      ? asProblem(ofSystem, file, said, error)
      : null;
  const number = /^ConnectionFailed\("Unable to open .*: (\d+)"\)$/s.exec(native.message)?.[1];
  const found =
    number === undefined
      ? BY_DATABASE.find(([code]) => code.test(said))?.[1]
      : BY_NUMBER[String(Number(number) & 0xff)];
  if (found === undefined) return null;
  // SQLite hides the system's reason.
  const errno = path === undefined || SAYS_WHY.has(found) ? null : errnoBeside(path);
  return asProblem(errnoCode(errno ?? '') ?? found, path, errno ?? native.code ?? native.message, error);
}

const SAYS_WHY: ReadonlySet<StorageCode> = new Set(['storage_full', 'storage_locked', 'storage_damaged']);

/** Learns the system's error from a file beside it: closing `path` itself would drop this process's SQLite locks. */
function errnoBeside(path: string): string | null {
  const probe = `${path}.${process.pid}.probe`;
  try {
    const file = openSync(probe, 'w', 0o600);
    try {
      writeSync(file, Buffer.alloc(4096));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? null;
  } finally {
    removeQuietly(probe);
  }
}

/** Removes a file that may stay, and may not be there. */
export function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Its folder may be closed to us; Windows keeps open files.
  }
}

type StorageWords = { message: string; fix: string; next: readonly NextStep[] };

const HERE: Readonly<Record<StorageCode, (file: string) => StorageWords>> = {
  storage_full: (file) => ({
    message: `No space is left to write ${file}`,
    fix: 'Free some space on that disk, then run the command again to resume.',
    next: [shell`df -h ${dirname(file)}`],
  }),
  storage_failed: (file) => ({
    message: `The disk failed at ${file}`,
    fix: 'Check the disk (see the system log), then run the command again to resume.',
    next: [farelock`doctor`],
  }),
  storage_not_writable: (file) => ({
    message: `Cannot write ${file}`,
    fix: 'Make it writable for you, or set FARELOCK_HOME to a folder that is.',
    next: [shell`ls -ld ${dirname(file)} ${file}`],
  }),
  storage_locked: (file) => ({
    message: `Another process has locked ${file}`,
    fix: 'Wait for it or stop it, then run the command again. Nothing is lost.',
    next: [shell`fuser -v ${file}`],
  }),
  storage_damaged: (file) => ({
    message: `${file} is damaged`,
    fix: 'Stop whatever uses it, keep a copy, and restore it from a backup.',
    next: [shell`cp ${file} ${`${file}.damaged`}`, farelock`doctor`],
  }),
  too_many_open_files: (file) => ({
    message: `Too many open files: cannot open ${file}`,
    fix: 'Raise the limit, then run the command again to resume.',
    next: [shell`ulimit -n 4096`],
  }),
};

function asProblem(code: StorageCode, file: string | undefined, why: string, cause: unknown): Problem {
  const words = HERE[code](file ?? 'what it was to write');
  const here = problem(code, {
    ...words,
    // Windows has none of these programs.
    ...(process.platform === 'win32' && { next: [farelock`doctor`] }),
    message: `${words.message} (${why}).`,
    detail: { ...(file === undefined ? {} : { file }), reason: why },
    cause,
  });
  return problem(code, { retryAfter: STORAGE_RETRY_S, cause: here });
}

/** The problem of a file of ours with unexpected content. */
export const damaged = (path: string, why: string): Problem => asProblem('storage_damaged', path, why, new Error(why));

const WRAPPING = ['network_unreachable', 'cluster_failed', 'internal_error'] as const;

/** Finds the storage problem behind an error, in the operator's words. */
export function storageTrouble(error: unknown): Problem | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (isProblem(at, ...STORAGE_CODES)) return isProblem(at.cause, at.code) ? at.cause : at;
    const native = storageProblem(at);
    if (native) return native.cause as Problem;
    if (isProblem(at) && !isProblem(at, ...WRAPPING)) return null;
  }
  return null;
}

/** The storage problem behind an error in public words, without paths. */
export function publicTrouble(error: unknown): Problem | null {
  const here = storageTrouble(error);
  return here && problem(here.code, { retryAfter: STORAGE_RETRY_S, cause: here });
}

/** Runs `work`, raising system errors as problems that name the file. */
export function onFile<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storageProblem(error, path) ?? error;
  }
}

/** The folder in a home that has files of a backup until its restore ends. */
export const unfinishedRestore = (home: string): string => join(home, '.restore');

/** Makes a private folder (0700) and its parents. Node's `recursive` loops where a parent denies it (/proc). */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const above = dirname(path);
    // Another process was quicker.
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || above === path || existsSync(above)) throw error;
    makeFolder(above);
    makeFolder(path);
  }
}

/** Writes a private temporary file (0600), then moves it into place. @throws Problem of storage */
function writeAside<T>(path: string, content: string | Uint8Array, mayBeLost: boolean, place: (aside: string) => T): T {
  const aside = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  return onFile(path, () => {
    makeFolder(dirname(path));
    try {
      const file = openSync(aside, 'wx', 0o600);
      try {
        writeFileSync(file, content);
        if (!mayBeLost) fsyncSync(file);
      } finally {
        closeSync(file);
      }
      return place(aside);
    } finally {
      removeQuietly(aside);
    }
  });
}

/** Writes or replaces a private file atomically. `mayBeLost` skips fsync: a power cut may then damage the file. */
export const writeWhole = (path: string, content: string | Uint8Array, { mayBeLost = false } = {}): void =>
  writeAside(path, content, mayBeLost, (aside) => renameSync(aside, path));

/** Writes a private file atomically, never over an existing one. @returns false if there is one */
export const writeOnce = (path: string, content: string): boolean =>
  writeAside(path, content, false, (aside) => {
    try {
      linkSync(aside, path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  });

const MOST_JSON_BYTES = 64 * 1_048_576;

/** Reads a JSON file of ours; null if there is none. @throws Problem `storage_damaged` for other content */
export function readJsonOf(path: string): unknown {
  let bytes: Buffer | null;
  try {
    bytes = readBounded(path, { mostBytes: MOST_JSON_BYTES, isRegular: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw storageProblem(error, path) ?? error;
  }
  if (!bytes) throw damaged(path, 'it is too large, or no regular file');
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    // The parser's message would quote the content.
    throw damaged(path, 'it is not JSON');
  }
}
