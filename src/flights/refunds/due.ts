import { type SqlBool, sql } from 'kysely';
import { type Queue, queueDueAtMs } from '../../store/queue.ts';
import type { RetryPolicy } from '../../store/retry.ts';
import { FARTHEST_MS, LEASE_MS, STEP_MS } from '../bookings/booking-queue.ts';
import type { FlightsPorts } from '../ports.ts';
import type { FlightsDatabase } from '../tables.ts';

/** An approved refund that keeps failing waits for a person, who may start it again. */
const RETRY: RetryPolicy = {
  firstMs: 1_000,
  factor: 2,
  mostMs: 60_000,
  jitter: 'none',
  tellAfter: null,
  giveUp: { after: 'failures', most: 24 },
};
/** An order that only a person can cancel is theirs at once. */
export const BY_HAND: RetryPolicy = { ...RETRY, giveUp: { after: 'failures', most: 1 } };
/** Whether a payment settled is asked until the journal knows. */
export const UNSETTLED: RetryPolicy = { ...RETRY, giveUp: { after: 'never' } };

/** Requests whose payment is open, and those that an operator approved. */
export const REFUNDS: Queue<FlightsDatabase, 'refund_requests'> = {
  table: 'refund_requests',
  key: 'request_id',
  due: 'due_at_ms',
  open: sql<SqlBool>`state in ('settling', 'approved')`,
  leaseMs: LEASE_MS,
  mostMs: STEP_MS,
  farthestMs: FARTHEST_MS,
  counts: 'failures',
  retry: RETRY,
};

/** When the worker has something to do about a refund request (epoch ms), or null. One small read. */
export const refundsDueAtMs = ({
  store,
  clock,
}: Pick<FlightsPorts, 'store' | 'clock'>): Promise<number | null> => queueDueAtMs({ store, clock }, REFUNDS);
