import { existsSync, statSync } from 'node:fs';
import { open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openDurableLog, syncFolder } from './append.ts';
import { lockFile } from './lock.ts';
import {
  type JournalPlace,
  journalPath,
  linesOf,
  type Progress,
  type RowResult,
  readProgress,
  type SentRow,
} from './results.ts';

/** The journal that keeps a run from repeating a row. */
export interface Journal extends Progress {
  /** To be awaited before a row is sent. */
  sending(row: SentRow): Promise<void>;
  /** To be awaited before the next row of the same order. */
  ended(result: RowResult): Promise<void>;
  /** Every row has ended: the results stand in the order of the rows, one line each, and the journal goes. */
  finish(): Promise<void>;
  /** Leaves everything as it is, for the next run. */
  close(): Promise<void>;
}

/**
 * Opens the result file of a run, new or interrupted. A line that a crash has torn is dropped: its row is settled
 * again, under the same key.
 * @throws Problem `apply_conflict` when another process is at it, or when it belongs to another file
 */
export async function openJournal(place: JournalPlace): Promise<Journal> {
  const unlock = await lockFile(place.resultsFile);
  try {
    return await openLocked(place, unlock);
  } catch (error) {
    await unlock();
    throw error;
  }
}

async function openLocked(place: JournalPlace, unlock: () => Promise<void>): Promise<Journal> {
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
    sending: (row) => journal.write(row),
    async ended(result) {
      await ended.write(result);
      latest.set(result.row, result);
    },
    async finish() {
      shutting ??= shut();
      await shutting;
      await rewrite(resultsFile, [...latest.values()]);
      await unlink(path);
      await unlock();
    },
    async close() {
      if (shutting) return;
      shutting = shut();
      await shutting;
      await unlock();
    },
  };
}

/** Either the old file stands there or the whole new one. */
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
