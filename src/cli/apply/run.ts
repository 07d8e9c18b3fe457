import { type Clock, instant } from '../../kernel/clock.ts';
import { isProblem, type Problem } from '../../kernel/problems.ts';
import type { CheckedRow, OrderUpdate } from './check.ts';
import type { Journal, RowResult } from './journal.ts';

export interface RunPorts {
  /** Calls UpdateOrder under an idempotency key; returns the new status of the order. */
  readonly update: (update: OrderUpdate, idempotencyKey: string, signal: AbortSignal) => Promise<string>;
  readonly journal: Journal;
  readonly clock: Clock;
  /** Aborted by Ctrl-C and --timeout: nothing new is sent, and calls under way get a moment to end. */
  readonly signal: AbortSignal;
  readonly onRow?: ((result: RowResult) => void) | undefined;
}

interface RunTask {
  readonly rows: readonly CheckedRow[];
  readonly digest: string;
  /** Number of orders that are updated at once. */
  readonly concurrency: number;
  /** The status of each order before the run. */
  readonly statuses: ReadonlyMap<string, string>;
  /** True to send rows again that were refused or held before. */
  readonly retryFailed: boolean;
}

const MOST_TRIES = 6;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
const GRACE_MS = 3000;

/** The idempotency key of a row, the same in every run, so that the service recognises a repetition. */
const rowKey = (digest: string, row: number, attempt: number): string =>
  `apply-${digest.slice(0, 40)}-${row}${attempt > 1 ? `-${attempt}` : ''}`;

/** A row to send, with the number of the attempt. */
interface OpenRow extends CheckedRow {
  readonly attempt: number;
}

/** Returns the rows without a result and, with `retryFailed`, those that were refused or held. */
export function openRows(
  rows: readonly CheckedRow[],
  { results, sent }: Pick<Journal, 'results' | 'sent'>,
  retryFailed: boolean,
): OpenRow[] {
  return rows.flatMap((row): OpenRow[] => {
    const result = results.get(row.row);
    const pending = sent.get(row.row);
    if (pending) return [{ ...row, attempt: pending.attempt }];
    if (!result) return [{ ...row, attempt: 1 }];
    return retryFailed && result.outcome !== 'applied' ? [{ ...row, attempt: result.attempt + 1 }] : [];
  });
}

/** Finds, by order, the row that was refused earlier and is not tried again: it holds later rows back. */
export function refusedEarlier(
  rows: readonly CheckedRow[],
  { results }: Pick<Journal, 'results'>,
  retryFailed: boolean,
): Map<string, number> {
  if (retryFailed) return new Map();
  const refused = rows.filter(({ row }) => results.get(row)?.outcome === 'refused');
  return new Map(refused.map(({ row, update }) => [update.orderId, row]));
}

/**
 * Sends the open rows. Rows of one order go one after the other, in the order of the file, until one is refused;
 * several orders go at once. The journal notes each row before it is sent and after it is answered.
 * @returns the problem that ended the run early, such as the network or a refused key; null if none did
 */
export async function runRows(task: RunTask, ports: RunPorts): Promise<{ readonly stopped: Problem | null }> {
  const { journal, clock, signal } = ports;
  const open = openRows(task.rows, journal, task.retryFailed);
  const lanes = lanesOf(open);
  const statuses = new Map(task.statuses);
  const earlier = refusedEarlier(task.rows, journal, task.retryFailed);
  const calls = new AbortController();
  const stop = new AbortController();
  let stopped: Problem | null = null;
  const isStopped = () => signal.aborted || stop.signal.aborted;
  const giveUpLater = () => {
    void clock.sleep(GRACE_MS, calls.signal).then(() => calls.abort());
  };
  if (signal.aborted) giveUpLater();
  else signal.addEventListener('abort', giveUpLater, { once: true });

  async function runLane(lane: readonly OpenRow[]): Promise<void> {
    const [{ update: first } = { update: null }] = lane;
    let refused = first === null ? null : (earlier.get(first.orderId) ?? null);
    for (const row of lane) {
      if (isStopped()) return;
      const { orderId } = row.update;
      const from = statuses.get(orderId) ?? null;
      const common = { row: row.row, line: row.line, orderId, from, attempt: row.attempt, file: task.digest };
      const key = rowKey(task.digest, row.row, row.attempt);
      const end = async (result: Pick<RowResult, 'outcome' | 'to' | 'error' | 'idempotencyKey'>) => {
        const ended: RowResult = { ...common, ...result, at: instant(clock.now()) };
        await journal.ended(ended);
        ports.onRow?.(ended);
      };
      if (refused !== null) {
        const message = `Row ${refused} of this order comes first and was refused.`;
        await end({ outcome: 'held', to: null, error: { code: 'held', message }, idempotencyKey: null });
        continue;
      }
      await journal.sending({ row: row.row, attempt: row.attempt, at: instant(clock.now()) });
      const answer = await send(row.update, key);
      if ('status' in answer) {
        statuses.set(orderId, answer.status);
        await end({ outcome: 'applied', to: answer.status, error: null, idempotencyKey: key });
      } else if (answer.stops) {
        // The row may have arrived. It stays open, and the next run settles it under the same key.
        if (!isStopped()) stopped = answer.problem;
        stop.abort();
        return;
      } else {
        const { code, message } = answer.problem;
        await end({ outcome: 'refused', to: null, error: { code, message }, idempotencyKey: key });
        refused = row.row;
      }
    }
  }

  async function send(
    update: OrderUpdate,
    key: string,
  ): Promise<{ status: string } | { problem: Problem; stops: boolean }> {
    for (let tries = 1; ; tries++) {
      try {
        return { status: await ports.update(update, key, calls.signal) };
      } catch (error) {
        if (!isProblem(error)) throw error;
        const isOurs = error.kind.exit === 4;
        if (error.kind.retryable !== true) return { problem: error, stops: isOurs || error.code === 'interrupted' };
        if (tries >= MOST_TRIES || isStopped()) {
          return { problem: error, stops: error.code !== 'internal_error' || isStopped() };
        }
        await clock.sleep(pauseMs(tries, error.retryAfter), AbortSignal.any([signal, stop.signal]));
      }
    }
  }

  let next = 0;
  const worker = async () => {
    while (next < lanes.length && !isStopped()) await runLane(lanes[next++] ?? []);
  };
  try {
    const workers = Array.from({ length: Math.min(task.concurrency, lanes.length) }, () =>
      worker().catch((error: unknown) => {
        stop.abort();
        throw error;
      }),
    );
    // Wait for the other workers first: they still write to the journal.
    await Promise.allSettled(workers);
    await Promise.all(workers);
  } finally {
    signal.removeEventListener('abort', giveUpLater);
    calls.abort();
  }
  return { stopped };
}

function lanesOf(rows: readonly OpenRow[]): OpenRow[][] {
  const lanes = new Map<string, OpenRow[]>();
  for (const row of rows) {
    const lane = lanes.get(row.update.orderId);
    if (lane) lane.push(row);
    else lanes.set(row.update.orderId, [row]);
  }
  return [...lanes.values()];
}

/** Full jitter, so that orders do not all retry at the same moment. */
function pauseMs(tries: number, retryAfterSeconds: number | undefined): number {
  const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1));
  return Math.max(Math.random() * most, Math.min(60, retryAfterSeconds ?? 0) * 1000);
}
