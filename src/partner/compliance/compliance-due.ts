import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import { type Queue, queueDue } from '../../store/index.ts';
import type { DuePorts, PartnerDatabase, PartnerEnvironment } from '../base/index.ts';

/** The due times of the compliance side: small reads, without any of its code. */

/** The longest delay of an attestation. */
export const FARTHEST_MS = 10 * 60_000;

/** Attestations that run; those that a person decides are due never. */
export const ATTESTATIONS: Queue<PartnerDatabase, 'attestation_runs'> = {
  table: 'attestation_runs',
  key: 'attestation_id',
  due: 'due_at_ms',
  open: sql<SqlBool>`state = 'running'`,
  // Longer than an attester takes; a process that died is overtaken after it.
  leaseMs: 30_000,
  mostMs: 30_000,
  farthestMs: FARTHEST_MS,
  counts: 'failures',
  retry: { firstMs: 500, factor: 2, mostMs: 60_000, jitter: 'none', tellAfter: null, giveUp: { after: 'never' } },
};

/** Keeps the attestations of an environment's customers. */
export const ofCustomersIn = (environment: PartnerEnvironment): RawBuilder<SqlBool> =>
  sql<SqlBool>`exists (select 1 from customers where customers.customer_id = attestation_runs.customer_id
    and customers.environment = ${environment})`;

/** The next due time of an attestation (epoch ms); null when none runs. */
export const attestationsDue = (ports: DuePorts) => queueDue(ports, ATTESTATIONS, ofCustomersIn(ports.environment));

/** The life of a refused order, whose requirements are listed. */
export const REMEMBERED_MS = 30 * DAY_MS;

/** The pause between two looks for old customer data. */
export const LOOK_EVERY_MS = 6 * HOUR_MS;
export const RETENTION_DUE_AT = 'customer_data_retention_due_at_ms';

/** The time of the next look for personal data that is too old to keep (epoch ms); null when there is none. */
export function retentionDue({ clock }: DuePorts): RawBuilder<number | null> {
  const nowMs = clock.now();
  const known = sql`cast(value as bigint)`;
  // Further ahead than a look can be: the clock was set back since.
  return sql`coalesce(
    (select case when ${known} > ${nowMs + LOOK_EVERY_MS} then ${nowMs} else ${known} end
      from meta where key = ${RETENTION_DUE_AT}),
    (select last_used_at_ms from customer_data where last_used_at_ms > 0 order by last_used_at_ms limit 1),
    (select at_ms from partner_outbound where partner_id > '' limit 1))`;
}
