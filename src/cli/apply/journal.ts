import { constants, existsSync, statSync } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { loadLock } from '../../client/journal/index.ts';
import { readBounded } from '../../kernel/bounded-file.ts';
import { problem } from '../../kernel/problems.ts';
import { isRecord } from '../../terminal/index.ts';

/** The outcome of a row: a line of the result file. */
export interface RowResult {
  readonly row: number;
  readonly line: number;
  readonly orderId: string;
  /** `held`: not sent, because an earlier row of the same order was refused. */
  readonly outcome: 'applied' | 'refused' | 'held';
  readonly from: string | null;
  readonly to: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Begins with 1; each --retry-failed adds one. */
  readonly attempt: number;
  readonly idempotencyKey: string | null;
  readonly at: string;
  /** SHA-256 of the row's file. */
  readonly file: string;
}

/** A row that was about to be sent. If it has no result, its answer is unknown. */
export interface SentRow {
  readonly row: number;
  readonly attempt: number;
  readonly at: string;
}

export interface JournalPlace {
  /** NDJSON: a line for each row that has ended. */
  readonly resultsFile: string;
  /** SHA-256 of the file that is applied. */
  readonly digest: string;
  /** The environment of the service, `demo` or `live`. */
  readonly environment: string;
}

export const journalPath = (resultsFile: string): string => `${resultsFile}.journal`;

export type Progress = ReturnType<typeof readProgress>;

/**
 * Reads the results of earlier runs, without changing the files. A line that a crash has torn counts as not written.
 * @returns the latest result of each row, and the rows whose last attempt was sent but has no result
 * @throws Problem `apply_conflict` if the result file belongs to something else
 */
export function readProgress(place: JournalPlace) {
  const results = new Map<number, RowResult>();
  for (const line of wholeLines(place.resultsFile)) {
    if (!isResult(line)) throw foreign(place.resultsFile, 'has lines that are not results');
    if (line.file !== place.digest) throw foreign(place.resultsFile, 'belongs to another version of the file');
    results.set(line.row, line);
  }
  const sent = new Map<number, SentRow>();
  for (const one of readSent(place)) {
    if ((results.get(one.row)?.attempt ?? 0) < one.attempt) sent.set(one.row, one);
  }
  return { results, sent };
}

function readSent({ resultsFile, digest, environment }: JournalPlace): SentRow[] {
  const [head, ...rows] = wholeLines(journalPath(resultsFile));
  if (head === undefined) return [];
  if (!isRecord(head) || head.file !== digest) throw foreign(resultsFile, 'belongs to another version of the file');
  if (head.environment !== environment) {
    const other = String(head.environment);
    throw foreign(resultsFile, `belongs to a run against ${other}, but this one is against ${environment}`);
  }
  return rows.filter(isSent);
}

/** @throws Problem `apply_conflict` for a file that is too large or not regular */
function linesOf(path: string): Buffer {
  const bytes = readBounded(path, { mostBytes: MOST_BYTES, isRegular: true });
  if (!bytes) throw foreign(path, 'is too large, or no regular file');
  return bytes;
}

const MOST_BYTES = 256 * 1_048_576;

/** The complete lines of a file. */
function wholeLines(path: string): unknown[] {
  if (!existsSync(path)) return [];
  const text = linesOf(path).toString('utf8');
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  return lines.filter((line) => line !== '').map((line) => parsedLine(line, path));
}

function parsedLine(line: string, path: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) throw foreign(path, 'has lines that are not JSON');
    throw error;
  }
}

const OUTCOMES: readonly unknown[] = ['applied', 'refused', 'held'];

const isResult = (line: unknown): line is RowResult =>
  isRecord(line) &&
  Number.isInteger(line.row) &&
  Number.isInteger(line.attempt) &&
  typeof line.orderId === 'string' &&
  typeof line.file === 'string' &&
  OUTCOMES.includes(line.outcome);

const isSent = (line: unknown): line is SentRow =>
  isRecord(line) && Number.isInteger(line.row) && Number.isInteger(line.attempt);

const foreign = (path: string, why: string) =>
  problem('apply_conflict', {
    message: `${path} ${why}.`,
    fix: 'Move it away, or name another result file with --results.',
  });

/**
 * Opens a file that only grows. Once `write` has resolved, its line survives a power cut. Lines that arrive while the
 * disk is busy are written together: ten at once cost one wait, not ten. Mode 0600: it has the orders of a partner.
 */
async function openDurableLog(path: string) {
  const file = await open(path, constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY, 0o600);
  await syncFolder(dirname(path));
  let waiting: { text: string; done: () => void; failed: (error: unknown) => void }[] = [];
  let writing: Promise<void> | null = null;

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await file.appendFile(batch.map(({ text }) => text).join(''));
        await file.datasync();
        for (const { done } of batch) done();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    writing = null;
  }

  return {
    write: (line: object) =>
      new Promise<void>((done, failed) => {
        waiting.push({ text: `${JSON.stringify(line)}\n`, done, failed });
        writing ??= flush();
      }),
    async close() {
      await writing;
      await file.close();
    },
  };
}

/** A file's name is only as durable as its folder. */
async function syncFolder(folder: string): Promise<void> {
  let handle: FileHandle | null = null;
  try {
    handle = await open(folder, constants.O_RDONLY);
    await handle.sync();
  } catch (error) {
    // Some systems cannot open a folder; there the name is written with the file.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EISDIR', 'EPERM', 'EACCES', 'EINVAL'].includes(code)) throw error;
  } finally {
    await handle?.close();
  }
}

/**
 * Lets one run at a time work on a result file. Without the lock the keys would still keep rows from being applied
 * twice, but results would be written twice.
 * @throws Problem `apply_conflict`, or `file_unreadable` if nothing can be written
 */
async function lockResults(resultsFile: string): Promise<() => void> {
  const { lockBeside } = await loadLock();
  let unlock: (() => void) | null;
  try {
    unlock = lockBeside(resultsFile);
  } catch (error) {
    throw problem('file_unreadable', {
      message: `${resultsFile} cannot be written.`,
      fix: 'Name a result file in a folder of your own with --results.',
      cause: error,
    });
  }
  if (unlock) return unlock;
  throw problem('apply_conflict', { message: 'Another run is applying this file.', fix: 'Wait until it is done.' });
}

/** The journal that keeps a run from repeating a row. */
export type Journal = Readonly<Awaited<ReturnType<typeof openLocked>>>;

/**
 * Opens the result file of a run, new or interrupted. A line that a crash has torn is dropped: its row is sent again,
 * under the same key.
 * @throws Problem `apply_conflict` if another process works on it, or if it belongs to another file
 */
export async function openJournal(place: JournalPlace): Promise<Journal> {
  const unlock = await lockResults(place.resultsFile);
  try {
    return await openLocked(place, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function openLocked(place: JournalPlace, unlock: () => void) {
  const { resultsFile, digest, environment } = place;
  const path = journalPath(resultsFile);
  const progress = readProgress(place);
  await dropTornEnd(resultsFile);
  await dropTornEnd(path);
  const isNew = !existsSync(path) || statSync(path).size === 0;
  const journal = await openDurableLog(path);
  if (isNew) await journal.write({ file: digest, environment });
  const ended = await openDurableLog(resultsFile);
  const latest = new Map(progress.results);
  let shutting: Promise<void> | null = null;
  const shut = async () => {
    await journal.close();
    await ended.close();
  };
  return {
    ...progress,
    /** Await this before a row is sent. */
    sending: (row: SentRow) => journal.write(row),
    /** Await this before the next row of the same order. */
    async ended(result: RowResult) {
      await ended.write(result);
      latest.set(result.row, result);
    },
    /** Sorts the results by row, one line each, and removes the journal. */
    async finish() {
      shutting ??= shut();
      try {
        await shutting;
        await rewrite(resultsFile, [...latest.values()]);
        await unlink(path);
      } finally {
        unlock();
      }
    },
    /** Leaves everything as it is, for the next run. */
    async close() {
      if (shutting) return;
      shutting = shut();
      await shutting.finally(unlock);
    },
  };
}

/** Replaces the whole file or nothing. */
async function rewrite(path: string, results: readonly RowResult[]): Promise<void> {
  const sorted = [...results].sort((a, b) => a.row - b.row);
  const fresh = `${path}.new`;
  const file = await open(fresh, 'w', 0o600);
  try {
    await file.writeFile(sorted.map((result) => `${JSON.stringify(result)}\n`).join(''));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
  await syncFolder(dirname(path));
}

async function dropTornEnd(path: string): Promise<void> {
  if (!existsSync(path)) return;
  const bytes = linesOf(path);
  const whole = bytes.lastIndexOf(0x0a) + 1;
  if (whole === bytes.length) return;
  const file = await open(path, 'r+');
  try {
    await file.truncate(whole);
    await file.sync();
  } finally {
    await file.close();
  }
}
