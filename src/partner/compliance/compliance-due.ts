import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import { type Queue, queueDue } from '../../store/index.ts';
import type { DuePorts, PartnerDatabase, PartnerEnvironment } from '../base/index.ts';

/** Due times of compliance work: small queries that load none of its code. */

/** The longest delay of an attestation. */
export const FARTHEST_MS = 10 * 60_000;

/** The queue of running attestations; those that an operator decides are never due. */
export const ATTESTATIONS: Queue<PartnerDatabase, 'attestation_runs'> = {
  table: 'attestation_runs',
  key: 'attestation_id',
  due: 'due_at_ms',
  open: sql<SqlBool>`state = 'running'`,
  // Longer than an attester takes. Afterwards another process takes over from one that died.
  leaseMs: 30_000,
  mostMs: 30_000,
  farthestMs: FARTHEST_MS,
  counts: 'failures',
  retry: { firstMs: 500, factor: 2, mostMs: 60_000, jitter: 'none', tellAfter: null, giveUp: { after: 'never' } },
};

/** Filters attestations by the environment of their customers. */
export const ofCustomersIn = (environment: PartnerEnvironment): RawBuilder<SqlBool> =>
  sql<SqlBool>`exists (select 1 from customers where customers.customer_id = attestation_runs.customer_id
    and customers.environment = ${environment})`;

/** The next due time of an attestation (epoch ms); null when none runs. */
export const attestationsDue = (ports: DuePorts) => queueDue(ports, ATTESTATIONS, ofCustomersIn(ports.environment));

/** How long the requirements of a refused order are listed. */
export const REMEMBERED_MS = 30 * DAY_MS;

/** The pause between two searches for old customer data. */
export const LOOK_EVERY_MS = 6 * HOUR_MS;
export const RETENTION_DUE_AT = 'customer_data_retention_due_at_ms';

/** The time of the next search for personal data that is too old to keep (epoch ms); null if there is none to find. */
export function retentionDue({ clock }: DuePorts): RawBuilder<number | null> {
  const nowMs = clock.now();
  const known = sql`cast(value as bigint)`;
  // Further ahead than the pause: the clock was set back, so search now.
  return sql`coalesce(
    (select case when ${known} > ${nowMs + LOOK_EVERY_MS} then ${nowMs} else ${known} end
      from meta where key = ${RETENTION_DUE_AT}),
    (select last_used_at_ms from customer_data where last_used_at_ms > 0 order by last_used_at_ms limit 1),
    (select at_ms from partner_outbound where partner_id > '' limit 1))`;
}
