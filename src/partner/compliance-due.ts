import type { Store } from '../store/open.ts';
import type { PartnerEnvironment } from '../store/partner-tables.ts';

/** When the compliance side has something to do: small reads, without any of its code. */

/** A run that only a person finishes is never due. */
export const NEVER_MS = Number.MAX_SAFE_INTEGER;

/** When the next attestation of a customer of this environment is to be finished (epoch ms), null when none runs. */
export async function attestationsDueAtMs(
  store: Store,
  environment: PartnerEnvironment,
): Promise<number | null> {
  const row = await store
    .selectFrom('attestation_runs')
    .innerJoin('customers', 'customers.customer_id', 'attestation_runs.customer_id')
    .where('customers.environment', '=', environment)
    .select((column) =>
      column.fn
        .min<number | null>(
          column
            .case()
            .when('lease_until_ms', '>', column.ref('due_at_ms'))
            .then(column.ref('lease_until_ms'))
            .else(column.ref('due_at_ms'))
            .end(),
        )
        .as('due'),
    )
    .where('state', '=', 'running')
    .where('due_at_ms', '<', NEVER_MS)
    .executeTakeFirst();
  return row?.due === null || row?.due === undefined ? null : Number(row.due);
}

/** `meta` key of when customer data is looked through next. */
export const RETENTION_DUE_AT = 'customer_data_retention_due_at_ms';

/** When customer data is to be looked through for what may be kept no longer; null when there is none. */
export async function retentionDueAtMs(store: Store): Promise<number | null> {
  const known = await store
    .selectFrom('meta')
    .select('value')
    .where('key', '=', RETENTION_DUE_AT)
    .executeTakeFirst();
  if (known) return Number(known.value);
  const some = await store.selectFrom('customer_data').select('last_used_at_ms').limit(1).executeTakeFirst();
  return some ? some.last_used_at_ms : null;
}
