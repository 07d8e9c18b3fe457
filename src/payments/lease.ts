import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { whileRenewed } from '../store/leases.ts';
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
  try {
    return await whileRenewed(
      {
        clock,
        leaseMs: LEASE_MS,
        mostMs: Number.POSITIVE_INFINITY,
        renew: () => journal.renew(row),
        failed: (error) =>
          log('warn', 'lease_not_renewed', { payment: row.payment_key, error_name: nameOf(error) }),
      },
      work,
    );
  } finally {
    await journal.release(row);
  }
}

export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
