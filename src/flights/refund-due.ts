import type { FlightsPorts } from './ports.ts';

/** When the worker has something to do about a refund request (epoch ms), or null. One small read. */
export async function refundsDueAtMs({ store }: Pick<FlightsPorts, 'store'>): Promise<number | null> {
  const rows = await store
    .selectFrom('refund_requests')
    .select(['due_at_ms', 'lease_until_ms'])
    .where('state', 'in', ['settling', 'approved'])
    .orderBy('due_at_ms')
    .limit(20)
    .execute();
  if (rows.length === 0) return null;
  return Math.min(...rows.map((row) => Math.max(row.due_at_ms, row.lease_until_ms)));
}
