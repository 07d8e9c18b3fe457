import { type SqlBool, sql } from 'kysely';
import { type Queue, queueDueAtMs } from '../../store/queue.ts';
import { FARTHEST_MS, LEASE_MS } from '../booking/claims.ts';
import type { FlightsPorts } from '../ports.ts';

/** Requests whose payment is open, and those that an operator approved. */
export const REFUNDS: Queue = {
  table: 'refund_requests',
  key: 'request_id',
  due: 'due_at_ms',
  open: sql<SqlBool>`state in ('settling', 'approved')`,
  leaseMs: LEASE_MS,
  farthestMs: FARTHEST_MS,
};

/** When the worker has something to do about a refund request (epoch ms), or null. One small read. */
export const refundsDueAtMs = ({
  store,
  clock,
}: Pick<FlightsPorts, 'store' | 'clock'>): Promise<number | null> =>
  queueDueAtMs(store, REFUNDS, clock.now());
