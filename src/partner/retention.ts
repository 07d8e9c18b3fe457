import { sql } from 'kysely';
import { erasing } from '../store/erase.ts';
import { LOOK_EVERY_MS, RETENTION_DUE_AT } from './compliance-due.ts';
import { loadPolicy } from './policy.ts';
import type { PartnerPorts } from './ports.ts';

const DAY_MS = 86_400_000;
const MOST_AT_ONCE = 200;
/** Refused orders are told of for 30 days (wanted-orders.ts). */
const WANTED_MS = 30 * DAY_MS;
/** Where an order is over. */
const OVER = ['PAYMENT_PROCESSED', 'REFUNDED', 'CANCELED'];

/**
 * Removes the data of customers that was neither given nor used for an order for as long as the policy keeps it
 * (`retentionDays`), so that it is gone from the file too. Not while an order of the customer is open. What is kept
 * names nobody: that an attestation passed, which terms were accepted, what partners asked.
 * @returns how many pieces were removed
 */
export async function purgeCustomerData(
  ports: Pick<PartnerPorts, 'store' | 'clock' | 'log' | 'options'>,
): Promise<number> {
  const { store, clock, log } = ports;
  const nowMs = clock.now();
  await lookAgain(LOOK_EVERY_MS);
  const { retentionDays } = loadPolicy(ports.options.compliancePolicyFile);
  await sql`delete from wanted_orders where (customer_id, ramp_type) in (
    select customer_id, ramp_type from wanted_orders where wanted_at_ms <= ${nowMs - WANTED_MS}
    order by wanted_at_ms limit ${MOST_AT_ONCE})`.execute(store);
  const sinceMs = nowMs - retentionDays * DAY_MS;
  const rows = await store
    .selectFrom('customer_data')
    .select('data_id')
    .where('last_used_at_ms', '<=', sinceMs)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('partner_orders')
            .select('partner_orders.order_id')
            .whereRef('partner_orders.customer_id', '=', 'customer_data.customer_id')
            .where('partner_orders.creation', 'in', ['creating', 'created'])
            .where((is) =>
              is.or([is('partner_orders.status', 'is', null), is('partner_orders.status', 'not in', OVER)]),
            ),
        ),
      ),
    )
    .orderBy('last_used_at_ms')
    .limit(MOST_AT_ONCE)
    .execute();
  const dataIds = rows.map(({ data_id }) => data_id);
  if (dataIds.length === 0) return 0;
  let removed = 0;
  await erasing(store, () =>
    store.transaction().execute(async (tx) => {
      // Once more under the lock: it may have been given again in the meantime.
      const gone = await tx
        .deleteFrom('customer_data')
        .where('data_id', 'in', dataIds)
        .where('last_used_at_ms', '<=', sinceMs)
        .returning('data_id')
        .execute();
      removed = gone.length;
      if (removed === 0) return;
      await tx
        .deleteFrom('customer_data_fields')
        .where(
          'data_id',
          'in',
          gone.map(({ data_id }) => data_id),
        )
        .execute();
    }),
  );
  if (dataIds.length === MOST_AT_ONCE) await lookAgain(0);
  log('info', 'customer_data_purged', { pieces: removed });
  return removed;

  async function lookAgain(afterMs: number): Promise<void> {
    const value = String(nowMs + afterMs);
    await store
      .insertInto('meta')
      .values({ key: RETENTION_DUE_AT, value })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
      .execute();
  }
}
