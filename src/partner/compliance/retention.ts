import { sql } from 'kysely';
import { DAY_MS } from '../../kernel/clock.ts';
import { inTurn } from '../../store/base/index.ts';
import { erasing } from '../../store/index.ts';
import type { PartnerPorts, SealedColumn, Store, Tx } from '../base/index.ts';
import { removeReasons } from './attestations.ts';
import { LOOK_EVERY_MS, REMEMBERED_MS, RETENTION_DUE_AT } from './compliance-due.ts';
import { loadPolicy } from './policy.ts';

const MOST_AT_ONCE = 200;
export const OVER = ['PAYMENT_PROCESSED', 'REFUNDED', 'CANCELED'];

/** Matches orders with personal data; worded as in the index (migrations.ts), so that it is used. */
const ORDER_SEALS = sql<boolean>`(creation_sealed is not null or redirect_url_sealed is not null
  or deposit_instructions_sealed is not null or reason_sealed is not null
  or customer_facing_reason_sealed is not null or return_details_sealed is not null)`;
const OUTBOUND_SEALS = sql<boolean>`(request_sealed is not null or raw_response_sealed is not null)`;

/** Ids to remove; each list has at most `MOST_AT_ONCE`. */
type Found = Awaited<ReturnType<typeof findOld>>;

/**
 * Removes personal data after the policy's `retentionDays`, also from the database file: customer data neither given
 * nor used for an order since, the sealed columns of finished, redirected and failed orders, and what was exchanged
 * with platforms about them. Data of open orders stays, as do amounts, codes, ids, times, passed attestations, accepted
 * terms and requirements. Expired tokens and expired answers by Idempotency-Key are removed too.
 * @returns how many pieces were removed
 */
export async function purgeCustomerData(ports: PartnerPorts): Promise<number> {
  const { store, clock, log } = ports;
  const nowMs = clock.now();
  await lookAgain(LOOK_EVERY_MS);
  const { retentionDays } = loadPolicy(ports.options.compliancePolicyFile);
  await sql`delete from wanted_orders where (customer_id, ramp_type) in (
    select customer_id, ramp_type from wanted_orders where wanted_at_ms <= ${nowMs - REMEMBERED_MS}
    order by wanted_at_ms limit ${MOST_AT_ONCE})`.execute(store);
  const sinceMs = nowMs - retentionDays * DAY_MS;
  const found = await findOld(store, sinceMs, nowMs);
  const pieces = Object.values(found).flat().length;
  if (pieces === 0) return 0;
  await erasing(store, () => remove(store, found, sinceMs, nowMs));
  if (Object.values(found).some(({ length }) => length === MOST_AT_ONCE)) await lookAgain(0);
  log('info', 'customer_data_purged', { pieces });
  return pieces;

  async function lookAgain(afterMs: number): Promise<void> {
    const value = String(nowMs + afterMs);
    await store
      .insertInto('meta')
      .values({ key: RETENTION_DUE_AT, value })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
      .execute();
  }
}

async function findOld(store: Store, sinceMs: number, nowMs: number) {
  const open = openOrders(store);
  const data = await store
    .selectFrom('customer_data')
    .select('data_id as id')
    .where('last_used_at_ms', '<=', sinceMs)
    .where(({ not, exists }) =>
      not(exists(open.where('mine.customer_id', '=', sql.ref<string>('customer_data.customer_id')))),
    )
    .orderBy('last_used_at_ms')
    .limit(MOST_AT_ONCE)
    .execute();
  const orders = await store
    .selectFrom('partner_orders')
    .select('order_id as id')
    .where('updated_at_ms', '<=', sinceMs)
    .where(ORDER_SEALS)
    .where((is) => {
      const isOver = is.and([is('creation', '=', 'created'), is('status', 'in', OVER)]);
      return is.or([is('creation', 'in', ['redirected', 'failed']), isOver]);
    })
    .orderBy('updated_at_ms')
    .limit(MOST_AT_ONCE)
    .execute();
  const outbound = await store
    .selectFrom('partner_outbound')
    .select('outbound_id as id')
    .where('at_ms', '<=', sinceMs)
    .where(OUTBOUND_SEALS)
    .where(({ not, exists }) =>
      not(exists(open.where('mine.order_id', '=', sql.ref<string>('partner_outbound.order_id')))),
    )
    .orderBy('at_ms')
    .limit(MOST_AT_ONCE)
    .execute();
  const answers = await store
    .selectFrom('partner_answers')
    .select('handle as id')
    .where('expires_at_ms', '<=', nowMs)
    .limit(MOST_AT_ONCE)
    .execute();
  const tokens = await store
    .selectFrom('customer_tokens')
    .select('token_hmac as id')
    .where('expires_at_ms', '<=', nowMs)
    .limit(MOST_AT_ONCE)
    .execute();
  const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
  return { data: ids(data), orders: ids(orders), outbound: ids(outbound), answers: ids(answers), tokens: ids(tokens) };
}

const openOrders = (store: Store) =>
  store
    .selectFrom('partner_orders as mine')
    .select('mine.order_id')
    .where('mine.creation', 'in', ['creating', 'created'])
    .where((is) => is.or([is('mine.status', 'is', null), is('mine.status', 'not in', OVER)]));

/** Removes found rows if they are still old: data may have been used since, or an order changed. */
const remove = (store: Store, found: Found, sinceMs: number, nowMs: number): Promise<void> =>
  inTurn(store, [], async (tx) => {
    if (found.data.length > 0)
      await removeData(tx, (query) => query.where('data_id', 'in', found.data).where('last_used_at_ms', '<=', sinceMs));
    if (found.orders.length > 0) {
      const purged = await tx
        .updateTable('partner_orders')
        .set(NO_SEALS)
        .where('order_id', 'in', found.orders)
        .where('updated_at_ms', '<=', sinceMs)
        .where('creation', '!=', 'creating')
        .returning('order_id')
        .execute();
      const ids = purged.map(({ order_id }) => order_id);
      const changes = tx.updateTable('partner_order_changes').set({ previous_sealed: null });
      if (ids.length > 0) await changes.where('order_id', 'in', ids).execute();
    }
    const outbound = tx.updateTable('partner_outbound').set({ request_sealed: null, raw_response_sealed: null });
    if (found.outbound.length > 0) await outbound.where('outbound_id', 'in', found.outbound).execute();
    if (found.answers.length > 0)
      await tx
        .deleteFrom('partner_answers')
        .where('handle', 'in', found.answers)
        .where('expires_at_ms', '<=', nowMs)
        .execute();
    if (found.tokens.length > 0)
      await tx.deleteFrom('customer_tokens').where('token_hmac', 'in', found.tokens).execute();
  });

export const NO_SEALS = {
  creation_sealed: null,
  redirect_url_sealed: null,
  deposit_instructions_sealed: null,
  reason_sealed: null,
  customer_facing_reason_sealed: null,
  return_details_sealed: null,
} satisfies Record<SealedColumn, null>;

type Removal = ReturnType<typeof removalOf>;
const removalOf = (tx: Tx) => tx.deleteFrom('customer_data').returning(['data_id', 'customer_id']);

/** Removes pieces of customer data with their fields and the reasons of attestations about them. @returns their ids */
export async function removeData(tx: Tx, which: (removal: Removal) => Removal): Promise<string[]> {
  const gone = await which(removalOf(tx)).execute();
  await removeReasons(tx, gone);
  const ids = gone.map(({ data_id }) => data_id);
  if (ids.length > 0) await tx.deleteFrom('customer_data_fields').where('data_id', 'in', ids).execute();
  return ids;
}
