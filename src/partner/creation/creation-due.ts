import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import type { Store } from '../../store/open.ts';
import { type Queue, queueDueAtMs } from '../../store/queue.ts';
import type { PartnerEnvironment } from '../../store/tables/partner-tables.ts';

/** How long one drive of a creation keeps the others away: longer than a call can take. */
export const LEASE_MS = 13_000;
/** A platform's own `Retry-After` counts up to here, for the worker and for the customer. */
export const LONGEST_WAIT_MS = 10 * 60_000;

/** Orders that their platform has not been heard about. */
export const CREATIONS: Queue = {
  table: 'partner_orders',
  key: 'order_id',
  due: 'due_at_ms',
  open: sql<SqlBool>`due_at_ms is not null`,
  leaseMs: LEASE_MS,
  farthestMs: LONGEST_WAIT_MS,
};

export const creationsIn = (environment: PartnerEnvironment): RawBuilder<SqlBool> =>
  sql<SqlBool>`environment = ${environment} and creation = 'creating'`;

/**
 * When an order whose creation a crash, a lost answer or an outage left open is asked about next (epoch ms). One small
 * read, without any of its code.
 */
export const creationsDueAtMs = (
  store: Store,
  environment: PartnerEnvironment,
  clock: Clock,
): Promise<number | null> => queueDueAtMs(store, CREATIONS, clock.now(), creationsIn(environment));
