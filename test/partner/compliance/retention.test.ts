import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import { openStore, type Store } from '../../../src/service/home.ts';
import { openPlatform, railOf } from '../platform-server.ts';
import { ANA, ORDER, type OrderAnswer, openStack, type Stack } from '../stack.ts';

/** What is kept of people has an end, in every table of the partner service. */

const DAY_MS = 86_400_000;
const RETENTION_DAYS = 1_825;
const WALLET = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Kept {
  readonly table: string;
  readonly column: string;
}

/** Tables whose rows say something of customers or of their orders. */
const OF_PEOPLE = [
  'customers',
  'customer_partners',
  'customer_tokens',
  'customer_data',
  'customer_data_fields',
  'attestation_runs',
  'terms_acceptances',
  'wanted_orders',
  'partner_requirements',
  'partner_orders',
  'partner_order_changes',
  'partner_answers',
  'partner_outbound',
] as const;

/** Columns that name nobody and may stay: ids, codes, amounts, times, states, keyed hashes. A new column is to be thought about. */
const MAY_STAY: Readonly<Record<(typeof OF_PEOPLE)[number], string>> = {
  customers: 'customer_id environment country blocked_at_ms created_at_ms',
  customer_partners: 'customer_id partner_id created_at_ms',
  customer_tokens: '',
  customer_data: '',
  customer_data_fields: '',
  attestation_runs:
    'attestation_id customer_id type input_key rank state live_key due_at_ms lease_until_ms fence attempts started_at_ms finished_at_ms decided_by',
  terms_acceptances: 'acceptance_id customer_id version terms_url privacy_policy_url accepted_at_ms',
  wanted_orders: '',
  partner_requirements:
    'requirement_id customer_id partner_id data_type attestation_type max_age_days ask_key created_at_ms',
  partner_orders:
    'order_id environment partner_id customer_id external_id begun_as platform_url creation status transaction_type country_code source_currency source_amount destination_currency destination_amount network payment_method customer_payment_details_data_id customer_wallet_data_id source_transaction_id destination_transaction_id funds_seen payment_processed version creation_key request_digest due_at_ms lease_until_ms fence attempts last_error created_at_ms updated_at_ms',
  partner_order_changes: 'order_id version from_status to_status fields actor request_id at_ms',
  partner_answers: '',
  partner_outbound: 'outbound_id partner_id order_id kind attempt outcome status duration_ms reason at_ms',
};

async function columnsOf(store: Store, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from pragma_table_info(${table})`.execute(store);
  return rows.map(({ name }) => name);
}

/** The columns that hold something, and may not stay. */
async function personal(store: Store): Promise<Kept[]> {
  const kept: Kept[] = [];
  for (const table of OF_PEOPLE) {
    const stays = MAY_STAY[table].split(' ');
    for (const column of (await columnsOf(store, table)).filter((name) => !stays.includes(name))) {
      const filled = sql<{ n: number }>`select count(*) as n from ${sql.table(table)}
        where ${sql.ref(column)} is not null`;
      if (Number((await filled.execute(store)).rows[0]?.n) > 0) kept.push({ table, column });
    }
  }
  return kept;
}

/** Runs the workers as often as they say that something is left. */
async function purge(stack: Stack): Promise<void> {
  for (let round = 0; round < 5; round++) await stack.service.worker.runDue();
}

const AS = { key: '', token: '' };
type As = typeof AS;

async function world() {
  const stack = await openStack();
  const store = await openStore(join(stack.home, 'service.db'));
  const platform = await openPlatform();
  closing.push(stack.close, () => store.destroy(), platform.close);
  const rails = [railOf('ONRAMP', 'BRL', 'SOLANA_USDC', 'BRA_PIX')];
  await platform.partner(stack, 'par_own', 'INTEGRATION', rails);
  await platform.partner(stack, 'par_own_redirect', 'REDIRECT', rails);
  const { key } = await stack.issueKey('par_own');
  const create = (body: object, as: Partial<As> = {}) =>
    stack.customer<OrderAnswer>('CreateOrder', { ...ORDER, partnerId: 'par_own', ...body }, as);
  const update = (orderId: string, body: object) =>
    stack.partner<OrderAnswer>(
      'UpdateOrder',
      { orderId, ...body },
      { key, headers: { 'idempotency-key': `${orderId}${JSON.stringify(body)}`.slice(0, 200) } },
    );
  return { stack, store, platform, create, update };
}

test('nothing of people outlives the retention, in any column of any table: orders that ended, were redirected, or failed', async () => {
  const { stack, store, platform, create, update } = await world();
  const redirect = { partnerId: 'par_own_redirect', customerIp: '203.0.113.7', walletAddress: WALLET };
  expect((await create(redirect)).status).toBe(200);
  platform.answer({ redirectUrl: 'http://not.https' });
  expect((await create(redirect)).status).toBe(503);
  platform.answer({});
  const { order } = (await create({})).body;
  await update(order.id, { status: 'FUNDS_RECEIVED', reason: 'r', customerFacingReason: 'c' });
  await update(order.id, { status: 'REFUNDING', returnDetails: { reason: 'back to Ana' } });
  await update(order.id, { status: 'REFUNDED' });
  // Every sandbox order that is seeded, and those of the customers, ends.
  await store
    .updateTable('partner_orders')
    .set({ status: 'CANCELED' })
    .where('creation', '=', 'created')
    .where('order_id', '!=', order.id)
    .execute();
  await store
    .insertInto('wanted_orders')
    .values({
      customer_id: ANA,
      ramp_type: 'ONRAMP',
      partner_id: 'par_own',
      country: 'BRA',
      usd: '1',
      network: null,
      wanted_at_ms: stack.clock.now(),
    })
    .execute();
  const columns = (await personal(store)).map(({ table, column }) => `${table}.${column}`);
  for (const held of [
    'partner_orders.creation_sealed',
    'partner_orders.redirect_url_sealed',
    'partner_orders.deposit_instructions_sealed',
    'partner_orders.reason_sealed',
    'partner_orders.customer_facing_reason_sealed',
    'partner_orders.return_details_sealed',
    'partner_outbound.request_sealed',
    'partner_outbound.raw_response_sealed',
    'partner_answers.answer_sealed',
    'customer_data_fields.value_sealed',
    'wanted_orders.customer_id',
    'customer_tokens.customer_id',
  ])
    expect(columns).toContain(held);
  const before = await store.selectFrom('partner_outbound').select('outbound_id').execute();

  stack.clock.advance((RETENTION_DAYS - 1) * DAY_MS);
  await purge(stack);
  const late = (await personal(store)).map(({ table, column }) => `${table}.${column}`);
  expect(late).toContain('partner_orders.redirect_url_sealed');
  expect(late).toContain('partner_outbound.request_sealed');
  expect(late).not.toContain('partner_answers.answer_sealed');

  stack.clock.advance(2 * DAY_MS);
  await purge(stack);
  expect(await personal(store)).toEqual([]);
  // That something was sent, when and how it ended stays on record.
  expect(await store.selectFrom('partner_outbound').select('outbound_id').execute()).toEqual(before);
  const { key } = await stack.issueKey('par_own');
  const seen = await stack.partner<OrderAnswer>('GetOrderDetails', { orderId: order.id }, { key });
  expect(seen.body.order).toMatchObject({ status: 'REFUNDED', sourceAmount: '60' });
});

test('an order that is open keeps what it needs, and its audit, however old it is', async () => {
  const { stack, store, create, update } = await world();
  const { order } = (await create({})).body;
  await update(order.id, { customerFacingReason: 'c' });
  stack.clock.advance(2 * RETENTION_DAYS * DAY_MS);
  await purge(stack);
  const row = await store
    .selectFrom('partner_orders')
    .selectAll()
    .where('order_id', '=', order.id)
    .executeTakeFirstOrThrow();
  expect(row.deposit_instructions_sealed).not.toBeNull();
  expect(row.customer_facing_reason_sealed).not.toBeNull();
  const [sent] = await store.selectFrom('partner_outbound').selectAll().where('order_id', '=', order.id).execute();
  expect(sent?.request_sealed).not.toBeNull();
});

test('every column of a table of people is thought about, and every sealed one is in such a table', async () => {
  const { store } = await world();
  for (const table of OF_PEOPLE) {
    const columns = await columnsOf(store, table);
    const unknown = MAY_STAY[table].split(' ').filter((name) => name !== '' && !columns.includes(name));
    expect([table, unknown]).toEqual([table, []]);
    expect(MAY_STAY[table]).not.toContain('_sealed');
  }
  const { rows } = await sql<{ name: string }>`
    select m.name as name from sqlite_master m where m.type = 'table'
      and exists (select 1 from pragma_table_info(m.name) c where c.name like '%\\_sealed' escape '\\')
      and (m.name like 'partner%' or m.name like 'customer%')`.execute(store);
  const sealed = rows.map(({ name }) => name).filter((name) => name !== 'partners');
  expect(OF_PEOPLE).toEqual(expect.arrayContaining(sealed));
});
