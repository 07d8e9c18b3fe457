import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { type Journal, LEASE_MS, type Settlement } from './journal.ts';

/**
 * Runs `work` while the lease of `row` is renewed, and gives the lease up afterwards unless the row is finished: a
 * retry then goes on at once. After a crash it waits for the lease, a few seconds.
 */
export async function holding<T>(
  ports: { journal: Journal; clock: Clock; log: Log },
  row: Settlement,
  work: () => Promise<T>,
): Promise<T> {
  const { journal, clock, log } = ports;
  const done = new AbortController();
  const renewing = (async () => {
    for (;;) {
      await clock.sleep(LEASE_MS / 4, done.signal);
      if (done.signal.aborted) return;
      await journal.renew(row);
    }
  })().catch((error: unknown) => {
    // The fence keeps the journal right without a lease; only somebody else may now do the same work.
    log('warn', 'lease_not_renewed', { payment: row.payment_key, error_name: nameOf(error) });
  });
  try {
    return await work();
  } finally {
    done.abort();
    await renewing;
    await journal.release(row);
  }
}

export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
