import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { DAY_MS } from '../../kernel/clock.ts';
import { type Queue, queueDue } from '../../store/index.ts';
import type { DuePorts, PartnerDatabase, PartnerEnvironment } from '../base/index.ts';

/** The lease for one run of `drive`: longer than a call can take. */
export const LEASE_MS = 13_000;

/** The limit of a platform's `Retry-After`, for the worker and the customer. */
export const LONGEST_WAIT_MS = 10 * 60_000;

/** An order goes to an operator after a day without a clear answer from its platform. */
export const SILENT = { giveUp: { after: 'age', ms: DAY_MS } } as const;

export const CREATIONS: Queue<PartnerDatabase, 'partner_orders'> = {
  table: 'partner_orders',
  key: 'order_id',
  due: 'due_at_ms',
  open: sql<SqlBool>`due_at_ms is not null and creation = 'creating'`,
  leaseMs: LEASE_MS,
  mostMs: LEASE_MS,
  farthestMs: LONGEST_WAIT_MS,
  counts: 'claims',
  // Tells a waiting customer when the next try is, in case this process dies.
  claimed: (nowMs) => ({ due_at_ms: nowMs + LEASE_MS }),
  retry: {
    firstMs: 5_000,
    factor: 2,
    mostMs: LONGEST_WAIT_MS,
    jitter: 'none',
    tellAfter: null,
    giveUp: { after: 'never' },
  },
};

export const creationsIn = (environment: PartnerEnvironment): RawBuilder<SqlBool> =>
  sql<SqlBool>`environment = ${environment}`;

/** The next due time (epoch ms) of an open creation. Loads none of its code. */
export const creationsDue = (ports: DuePorts) => queueDue(ports, CREATIONS, creationsIn(ports.environment));
