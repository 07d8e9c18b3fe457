import type { Clock } from '../kernel/clock.ts';
import { dueOf, firstDueAtMs, NEVER_MS } from '../store/leases.ts';
import type { Store } from '../store/open.ts';
import type { PartnerEnvironment } from '../store/partner-tables.ts';

/** When the compliance side has something to do: small reads, without any of its code. */

/** Longer than an attester takes; a process that died is overtaken after it. */
export const LEASE_MS = 30_000;
/** No attestation is ever put off for longer. */
export const FARTHEST_MS = 10 * 60_000;

/** When the next attestation of a customer of this environment is to be finished (epoch ms), null when none runs. */
export async function attestationsDueAtMs(
  store: Store,
  environment: PartnerEnvironment,
  clock: Clock,
): Promise<number | null> {
  const row = await store
    .selectFrom('attestation_runs')
    .innerJoin('customers', 'customers.customer_id', 'attestation_runs.customer_id')
    .where('customers.environment', '=', environment)
    .select(firstDueAtMs(clock.now(), LEASE_MS, FARTHEST_MS).as('due'))
    .where('state', '=', 'running')
    .where('due_at_ms', '<', NEVER_MS)
    .executeTakeFirst();
  return dueOf(row);
}

/** `meta` key of when customer data is looked through next. */
export const RETENTION_DUE_AT = 'customer_data_retention_due_at_ms';

/** When what is kept of people is to be looked through for what may be kept no longer; null when there is nothing. */
export async function retentionDueAtMs(store: Store): Promise<number | null> {
  const known = await store
    .selectFrom('meta')
    .select('value')
    .where('key', '=', RETENTION_DUE_AT)
    .executeTakeFirst();
  if (known) return Number(known.value);
  const some =
    (await store
      .selectFrom('customer_data')
      .select('last_used_at_ms as at_ms')
      .limit(1)
      .executeTakeFirst()) ??
    (await store.selectFrom('partner_outbound').select('at_ms').limit(1).executeTakeFirst());
  return some ? some.at_ms : null;
}
