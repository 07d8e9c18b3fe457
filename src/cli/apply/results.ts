import { existsSync } from 'node:fs';
import { readBounded } from '../../kernel/bounded-file.ts';
import { problem } from '../../kernel/problems.ts';
import { isRecord } from '../../terminal/index.ts';

/** The outcome of a row: a line of the result file. */
export interface RowResult {
  readonly row: number;
  readonly line: number;
  readonly orderId: string;
  /** `held`: not sent, for a row of the same order before it was refused. */
  readonly outcome: 'applied' | 'refused' | 'held';
  readonly from: string | null;
  readonly to: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** 1, and one more with each --retry-failed. */
  readonly attempt: number;
  readonly idempotencyKey: string | null;
  readonly at: string;
  /** SHA-256 of the file that the row stands in. */
  readonly file: string;
}

/** A row that was about to be sent; without a result its answer is not known. */
export interface SentRow {
  readonly row: number;
  readonly attempt: number;
  readonly at: string;
}

export interface JournalPlace {
  /** A line of NDJSON for each row that has ended. */
  readonly resultsFile: string;
  /** SHA-256 of the file that is applied. */
  readonly digest: string;
  /** `demo`, `live` or another name of where the rows are sent. */
  readonly environment: string;
}

/** The results of earlier runs. */
export interface Progress {
  /** The latest result of each row that has one. */
  readonly results: ReadonlyMap<number, RowResult>;
  /** Rows that were about to be sent when a run ended, and have no result of that attempt. */
  readonly sent: ReadonlyMap<number, SentRow>;
}

export const journalPath = (resultsFile: string): string => `${resultsFile}.journal`;

/**
 * Reads what earlier runs have left, without touching it. A line that a crash has torn counts as not written.
 * @throws Problem `apply_conflict` when the result file belongs to something else
 */
export function readProgress(place: JournalPlace): Progress {
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
  if (!isRecord(head) || head.file !== digest) {
    throw foreign(resultsFile, 'belongs to another version of the file');
  }
  if (head.environment !== environment) {
    const other = String(head.environment);
    throw foreign(resultsFile, `belongs to a run against ${other}, but this one is against ${environment}`);
  }
  return rows.filter(isSent);
}

/** @throws Problem for a file that no run has written */
export function linesOf(path: string): Buffer {
  const bytes = readBounded(path, { mostBytes: MOST_BYTES, isRegular: true });
  if (!bytes) throw foreign(path, 'is too large, or no regular file');
  return bytes;
}

const MOST_BYTES = 256 * 1_048_576;

/** The lines that were written to their end. */
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
