import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import { type Queue, queueDueAtMs } from '../../store/index.ts';
import type { PartnerDatabase, PartnerEnvironment, Store } from '../base/index.ts';

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

/** The next due time of an attestation (epoch ms), null when none runs. */
export const attestationsDueAtMs = (
  store: Store,
  environment: PartnerEnvironment,
  clock: Clock,
): Promise<number | null> => queueDueAtMs({ store, clock }, ATTESTATIONS, ofCustomersIn(environment));

/** The life of a refused order, whose requirements are listed. */
export const REMEMBERED_MS = 30 * DAY_MS;

/** The pause between two looks for old customer data. */
export const LOOK_EVERY_MS = 6 * HOUR_MS;
export const RETENTION_DUE_AT = 'customer_data_retention_due_at_ms';

/** The time of the next look for personal data that is too old to keep; null when there is none. */
export async function retentionDueAtMs(
  store: Store,
  _environment: PartnerEnvironment,
  clock: Clock,
): Promise<number | null> {
  const known = await store.selectFrom('meta').select('value').where('key', '=', RETENTION_DUE_AT).executeTakeFirst();
  const nowMs = clock.now();
  // Further ahead than a look can be: the clock was set back since.
  if (known) return Number(known.value) > nowMs + LOOK_EVERY_MS ? nowMs : Number(known.value);
  const oldest = await store
    .selectFrom('customer_data')
    .select('last_used_at_ms')
    .where('last_used_at_ms', '>', 0)
    .orderBy('last_used_at_ms')
    .limit(1)
    .executeTakeFirst();
  if (oldest) return oldest.last_used_at_ms;
  const sent = await store.selectFrom('partner_outbound').select('at_ms').limit(1).executeTakeFirst();
  return sent?.at_ms ?? null;
}
