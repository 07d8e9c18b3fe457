import { dueOf, firstDueAtMs } from '../store/leases.ts';
import { FARTHEST_MS, LEASE_MS } from './claims.ts';
import type { FlightsPorts } from './ports.ts';

/** When the worker has something to do about a refund request (epoch ms), or null. One small read. */
export async function refundsDueAtMs({
  store,
  clock,
}: Pick<FlightsPorts, 'store' | 'clock'>): Promise<number | null> {
  const row = await store
    .selectFrom('refund_requests')
    .select(firstDueAtMs(clock.now(), LEASE_MS, FARTHEST_MS).as('due'))
    .where('state', 'in', ['settling', 'approved'])
    .executeTakeFirst();
  return dueOf(row);
}
