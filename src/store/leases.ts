import { type SqlBool, sql } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Store } from './open.ts';

/**
 * Leases on rows of work: `lease_until_ms` keeps others away until then, a `fence` that every write names makes
 * holders that were overtaken powerless (DESIGN, section 6).
 */

/**
 * Whether nobody holds a row. A lease that ends later than any holder could have asked for was written before the
 * clock was set back.
 */
export const leaseIsOver = (nowMs: number, leaseMs: number) =>
  sql<SqlBool>`(lease_until_ms <= ${nowMs} or lease_until_ms > ${nowMs + leaseMs})`;

/** Runs `work` while its lease is renewed, so that it may take longer than one lease, and a crash costs only one. */
export async function whileRenewed<T>(
  lease: {
    readonly clock: Clock;
    readonly leaseMs: number;
    /** Work that takes longer hangs: it is kept no more, and somebody else may do it. */
    readonly mostMs: number;
    renew(): Promise<void>;
    /** The fence keeps the row right without a lease; only somebody else may now do the same work. */
    failed(error: unknown): void;
  },
  work: () => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const untilMs = lease.clock.now() + lease.mostMs;
  const renewing = (async () => {
    for (;;) {
      await lease.clock.sleep(lease.leaseMs / 4, done.signal);
      if (done.signal.aborted || lease.clock.now() > untilMs) return;
      await lease.renew();
    }
  })().catch(lease.failed);
  try {
    return await work();
  } finally {
    done.abort();
    await renewing;
  }
}

/** A row that was claimed under `fence`. */
export interface HeldRow {
  readonly table: 'affiliate_payouts' | 'bookings' | 'refund_requests';
  readonly key: 'intent_id' | 'payout_id' | 'request_id';
  readonly id: string;
  readonly fence: number;
  readonly leaseMs: number;
  readonly mostMs: number;
}

/** Runs `work` while the claim on a row is kept. Once it was overtaken, or has ended, there is nothing to keep. */
export const whileRowIsHeld = <T>(
  { store, clock, log }: { readonly store: Store; readonly clock: Clock; readonly log: Log },
  row: HeldRow,
  work: () => Promise<T>,
): Promise<T> =>
  whileRenewed(
    {
      clock,
      leaseMs: row.leaseMs,
      mostMs: row.mostMs,
      async renew() {
        await sql`update ${sql.table(row.table)} set lease_until_ms = ${clock.now() + row.leaseMs}
          where ${sql.ref(row.key)} = ${row.id} and fence = ${row.fence} and lease_until_ms > 0`.execute(
          store,
        );
      },
      failed: (error) =>
        log('warn', 'lease_not_renewed', {
          [row.key]: row.id,
          error_name: error instanceof Error ? error.name : typeof error,
        }),
    },
    work,
  );
