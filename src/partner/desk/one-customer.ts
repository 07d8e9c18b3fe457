import type { Selectable } from 'kysely';
import { DAY_MS, instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { erasing } from '../../store/index.ts';
import type { ChangeCustomer, CustomerExport, CustomerRecord, ErasedCustomer } from '../../wire/partner/desk.ts';
import { type CustomerTable, type Doing, linkCustomer, type PartnerPorts, type Store, type Tx } from '../base/index.ts';
import { createSubmissions, loadPolicy, NO_SEALS, OVER, reasonPlace, removeReasons } from '../compliance/index.ts';
import { historyOf, type OrderRow, orderRecord } from '../orders/index.ts';
import { createOutboundAudit } from '../platforms/index.ts';

type CustomerRow = Selectable<CustomerTable>;

/** One customer at the operator's desk. Each act is in the audit trail, with what was before and after. */
export const createOneCustomer = (ports: PartnerPorts) => ({
  change: (by: Doing, customerId: string, given: ChangeCustomer): Promise<CustomerRecord> =>
    ports.store.transaction().execute((tx) => change(ports, tx, by, customerId, given)),

  /** From this moment every call with a token of the customer is refused; orders that were begun go on. */
  block: (by: Doing, customerId: string, isBlocked: boolean): Promise<CustomerRecord> =>
    ports.store.transaction().execute((tx) => block(ports, tx, by, customerId, isBlocked)),

  export: (by: Doing, customerId: string): Promise<CustomerExport> =>
    ports.store.transaction().execute((tx) => exported(ports, tx, by, customerId)),

  async erase(by: Doing, customerId: string): Promise<ErasedCustomer> {
    let erased: ErasedCustomer | undefined;
    // Gone from the file too.
    await erasing(ports.store, async () => {
      erased = await ports.store.transaction().execute((tx) => erase(ports, tx, by, customerId));
    });
    if (!erased) throw new Error('an erasure without an end');
    return erased;
  },
});

/** @throws Problem `customer_not_found` */
async function find({ environment }: PartnerPorts, tx: Tx, customerId: string): Promise<CustomerRow> {
  const row = await tx
    .selectFrom('customers')
    .selectAll()
    .where('customer_id', '=', customerId)
    .where('environment', '=', environment)
    .executeTakeFirst();
  if (!row) throw problem('customer_not_found');
  return row;
}

async function partnersOf(tx: Tx, customerId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('customer_partners')
    .select('partner_id')
    .where('customer_id', '=', customerId)
    .orderBy('partner_id')
    .execute();
  return rows.map(({ partner_id }) => partner_id);
}

const recordOf = (row: CustomerRow, partnerIds: readonly string[]): CustomerRecord => ({
  customer_id: row.customer_id,
  environment: row.environment,
  country: row.country,
  partner_ids: [...partnerIds],
  blocked_at: row.blocked_at_ms === null ? null : instant(row.blocked_at_ms),
  created_at: instant(row.created_at_ms),
});

async function change(
  ports: PartnerPorts,
  tx: Tx,
  by: Doing,
  customerId: string,
  { country, partner_ids }: ChangeCustomer,
): Promise<CustomerRecord> {
  const row = await find(ports, tx, customerId);
  const linked = await partnersOf(tx, customerId);
  const wanted = partner_ids === undefined ? linked : [...new Set(partner_ids)].sort();
  for (const partnerId of wanted.filter((one) => !linked.includes(one))) {
    const partner = await tx
      .selectFrom('partners')
      .select('partner_id')
      .where('partner_id', '=', partnerId)
      .where('environment', '=', ports.environment)
      .executeTakeFirst();
    if (!partner) throw problem('partner_not_found');
    await linkCustomer(tx, customerId, partnerId, ports.clock.now());
  }
  const gone = linked.filter((one) => !wanted.includes(one));
  // What a partner asks of a customer ends with their link.
  for (const table of ['customer_partners', 'partner_requirements'] as const)
    if (gone.length > 0)
      await tx.deleteFrom(table).where('customer_id', '=', customerId).where('partner_id', 'in', gone).execute();
  const next = { ...row, country: country ?? row.country };
  await tx.updateTable('customers').set({ country: next.country }).where('customer_id', '=', customerId).execute();
  await ports.desk.audit(tx, {
    ...by,
    action: 'customer.change',
    subject: customerId,
    detail: {
      before: { country: row.country, partner_ids: linked },
      after: { country: next.country, partner_ids: wanted },
    },
  });
  return recordOf(next, wanted);
}

async function block(
  ports: PartnerPorts,
  tx: Tx,
  by: Doing,
  customerId: string,
  isBlocked: boolean,
): Promise<CustomerRecord> {
  const row = await find(ports, tx, customerId);
  const blocked_at_ms = isBlocked ? (row.blocked_at_ms ?? ports.clock.now()) : null;
  await tx.updateTable('customers').set({ blocked_at_ms }).where('customer_id', '=', customerId).execute();
  await ports.desk.audit(tx, {
    ...by,
    action: isBlocked ? 'customer.block' : 'customer.unblock',
    subject: customerId,
    detail: { before: { blocked: row.blocked_at_ms !== null }, after: { blocked: isBlocked } },
  });
  return recordOf({ ...row, blocked_at_ms }, await partnersOf(tx, customerId));
}

const ordersOf = (tx: Store | Tx, customerId: string): Promise<OrderRow[]> =>
  tx
    .selectFrom('partner_orders')
    .selectAll()
    .where('customer_id', '=', customerId)
    .orderBy('created_at_ms')
    .orderBy('order_id')
    .execute();

async function exported(ports: PartnerPorts, tx: Tx, by: Doing, customerId: string): Promise<CustomerExport> {
  const customer = recordOf(await find(ports, tx, customerId), await partnersOf(tx, customerId));
  const of = <T extends 'customer_data' | 'terms_acceptances' | 'partner_requirements'>(table: T) =>
    tx.selectFrom(table as 'customer_data').where('customer_id', '=', customerId);
  const submissions = createSubmissions(ports);
  const data: Record<string, unknown>[] = [];
  for (const row of await of('customer_data').selectAll().orderBy('rank').execute()) {
    const value = await submissions.open(tx, customerId, row.data_id, { files: true });
    data.push({ data_id: row.data_id, submitted_at: instant(row.submitted_at_ms), ...value });
  }
  const inTx = { ...ports, store: tx };
  const orders: Record<string, unknown>[] = [];
  for (const row of await ordersOf(tx, customerId))
    orders.push({
      ...(row.status === null
        ? { id: row.order_id, partnerId: row.partner_id, creation: row.creation }
        : orderRecord(ports.secrets, row, 'partner')),
      history: await historyOf(inTx, row.order_id, row.version),
      sent: await createOutboundAudit(inTx).read(row.order_id),
    });
  const runs = tx.selectFrom('attestation_runs').where('customer_id', '=', customerId);
  const rowsOf = async (table: 'terms_acceptances' | 'partner_requirements') =>
    (await of(table).selectAll().execute()).map((row): Record<string, unknown> => ({ ...row }));
  await ports.desk.audit(tx, {
    ...by,
    action: 'customer.export',
    subject: customerId,
    detail: { data: data.length, orders: orders.length },
  });
  return {
    customer,
    data,
    attestations: (await runs.selectAll().execute()).map(
      ({ reason_sealed: sealed, ...run }): Record<string, unknown> => ({
        ...run,
        reason: sealed === null ? null : ports.secrets.decrypt(reasonPlace(run.attestation_id), sealed),
      }),
    ),
    terms: await rowsOf('terms_acceptances'),
    requirements: await rowsOf('partner_requirements'),
    orders,
  };
}

async function erase(ports: PartnerPorts, tx: Tx, by: Doing, customerId: string): Promise<ErasedCustomer> {
  await find(ports, tx, customerId);
  const rows = await ordersOf(tx, customerId);
  const { retentionDays } = loadPolicy(ports.options.compliancePolicyFile);
  const isOrder = ({ creation }: OrderRow) => creation === 'creating' || creation === 'created';
  const kept = rows.filter(isOrder).flatMap((row): ErasedCustomer['kept'] => {
    const isOver = row.status !== null && OVER.includes(row.status);
    const why = isOver ? ('books' as const) : ('open_order' as const);
    const until = isOver ? instant(row.updated_at_ms + retentionDays * DAY_MS) : null;
    const used = [row.customer_payment_details_data_id, row.customer_wallet_data_id];
    return [
      { kind: 'order', id: row.order_id, why, until },
      ...used.flatMap((id) => (id === null ? [] : [{ kind: 'data' as const, id, why, until }])),
    ];
  });
  const keptData = kept.flatMap(({ kind, id }) => (kind === 'data' ? [id] : []));
  const data = await tx
    .deleteFrom('customer_data')
    .where('customer_id', '=', customerId)
    .$if(keptData.length > 0, (query) => query.where('data_id', 'not in', keptData))
    .returning(['data_id', 'customer_id'])
    .execute();
  await removeReasons(tx, data);
  const dataIds = data.map(({ data_id }) => data_id);
  if (dataIds.length > 0) await tx.deleteFrom('customer_data_fields').where('data_id', 'in', dataIds).execute();
  // What came to nothing, or was redirected, has no money in it.
  const orders = rows.filter((row) => !isOrder(row)).map(({ order_id }) => order_id);
  if (orders.length > 0) {
    await tx.updateTable('partner_orders').set(NO_SEALS).where('order_id', 'in', orders).execute();
    await tx
      .updateTable('partner_outbound')
      .set({ request_sealed: null, raw_response_sealed: null })
      .where('order_id', 'in', orders)
      .execute();
  }
  for (const table of ['customer_tokens', 'wanted_orders'] as const)
    await tx.deleteFrom(table).where('customer_id', '=', customerId).execute();
  await tx
    .deleteFrom('attestation_runs')
    .where('customer_id', '=', customerId)
    .where('state', '=', 'running')
    .execute();
  const erased = { data: dataIds, orders };
  await ports.desk.audit(tx, { ...by, action: 'customer.erase', subject: customerId, detail: { erased, kept } });
  return { customer_id: customerId, erased, kept };
}
