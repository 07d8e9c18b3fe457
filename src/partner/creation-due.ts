import type { Clock } from '../kernel/clock.ts';
import { dueOf, firstDueAtMs } from '../store/leases.ts';
import type { Store } from '../store/open.ts';
import type { PartnerEnvironment } from '../store/partner-tables.ts';

/** How long one drive of a creation keeps the others away: longer than a call can take. */
export const LEASE_MS = 13_000;
/** A platform's own `Retry-After` counts up to here, for the worker and for the customer. */
export const LONGEST_WAIT_MS = 10 * 60_000;

/**
 * When an order whose creation a crash, a lost answer or an outage left open is asked about next (epoch ms). One small
 * read, without any of its code.
 */
export async function creationsDueAtMs(
  store: Store,
  environment: PartnerEnvironment,
  clock: Clock,
): Promise<number | null> {
  const row = await store
    .selectFrom('partner_orders')
    .select(firstDueAtMs(clock.now(), LEASE_MS, LONGEST_WAIT_MS).as('due'))
    .where('environment', '=', environment)
    .where('due_at_ms', 'is not', null)
    .executeTakeFirst();
  return dueOf(row);
}
