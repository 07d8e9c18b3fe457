import type { Selectable } from 'kysely';
import { refuse } from '../../http/index.ts';
import { DAY_MS, instant, instantOrNull } from '../../kernel/clock.ts';
import { inTurn } from '../../store/base/index.ts';
import { erasing } from '../../store/index.ts';
import type {
  ChangeCustomer,
  CreateCustomer,
  CustomerExport,
  CustomerRecord,
  ErasedCustomer,
} from '../../wire/partner/desk.ts';
import {
  type CustomerTable,
  customerTurn,
  type DeskCall,
  findRow,
  linkCustomer,
  requireCustomer,
  requirePartner,
  type Tx,
} from '../base/index.ts';
import { loadPolicy, NO_SEALS, OVER, openData, openReason, removeData } from '../compliance/index.ts';
import { historyOf, type OrderRow, orderRecord } from '../orders/index.ts';
import { createOutboundAudit } from '../platforms/index.ts';

/** Customers at the operator's desk. Each act is in the audit trail. */

type CustomerRow = Selectable<CustomerTable>;

async function partnersOf(tx: Tx, customerId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('customer_partners')
    .select('partner_id')
    .where('customer_id', '=', customerId)
    .orderBy('partner_id')
    .execute();
  return rows.map(({ partner_id }) => partner_id);
}

/** @throws Problem `partner_not_found` */
async function linkAll({ ports }: DeskCall, tx: Tx, customerId: string, partnerIds: readonly string[]): Promise<void> {
  for (const partnerId of partnerIds) {
    await requirePartner(ports, tx, partnerId);
    await linkCustomer(tx, customerId, partnerId, ports.clock.now());
  }
}

const recordOf = (row: CustomerRow, partnerIds: readonly string[]): CustomerRecord => ({
  customer_id: row.customer_id,
  environment: row.environment,
  country: row.country,
  partner_ids: [...partnerIds],
  blocked_at: instantOrNull(row.blocked_at_ms),
  created_at: instant(row.created_at_ms),
});

/** @throws Problem `partner_not_found`, `invalid_request` for an id that is taken */
export const createCustomer = (desk: DeskCall, given: CreateCustomer): Promise<CustomerRecord> => {
  const { environment, clock, ids, store } = desk.ports;
  const { customer_id = ids.next('cus'), country } = given;
  return inTurn(store, [customerTurn(customer_id)], async (tx) => {
    const partner_ids = [...new Set(given.partner_ids)];
    if (await findRow(tx, 'customers', { customer_id })) refuse([{ path: 'customer_id', message: 'is taken.' }]);
    const row: CustomerRow = { customer_id, environment, country, created_at_ms: clock.now(), blocked_at_ms: null };
    await tx.insertInto('customers').values(row).execute();
    await linkAll(desk, tx, customer_id, partner_ids);
    await desk.note(tx, 'customer.create', customer_id, { country, partner_ids });
    return recordOf(row, partner_ids);
  });
};

/** @throws Problem `customer_not_found`, `partner_not_found` */
export const changeCustomer = (desk: DeskCall, customerId: string, given: ChangeCustomer): Promise<CustomerRecord> =>
  inTurn(desk.ports.store, [customerTurn(customerId)], async (tx) => {
    const row = await requireCustomer(desk.ports, tx, customerId);
    const linked = await partnersOf(tx, customerId);
    const wanted = given.partner_ids === undefined ? linked : [...new Set(given.partner_ids)].sort();
    const added = wanted.filter((one) => !linked.includes(one));
    await linkAll(desk, tx, customerId, added);
    const gone = linked.filter((one) => !wanted.includes(one));
    // A partner's requirements end with the link.
    for (const table of ['customer_partners', 'partner_requirements'] as const)
      if (gone.length > 0)
        await tx.deleteFrom(table).where('customer_id', '=', customerId).where('partner_id', 'in', gone).execute();
    const country = given.country ?? row.country;
    await tx.updateTable('customers').set({ country }).where('customer_id', '=', customerId).execute();
    await desk.note(tx, 'customer.change', customerId, {
      before: { country: row.country, partner_ids: linked },
      after: { country, partner_ids: wanted },
    });
    return recordOf({ ...row, country }, wanted);
  });

/** Blocks or unblocks a customer's calls; orders already begun go on. @throws Problem `customer_not_found` */
export const blockCustomer = (
  { ports, note }: DeskCall,
  customerId: string,
  blocked: boolean,
): Promise<CustomerRecord> =>
  inTurn(ports.store, [customerTurn(customerId)], async (tx) => {
    const row = await requireCustomer(ports, tx, customerId);
    const blocked_at_ms = blocked ? (row.blocked_at_ms ?? ports.clock.now()) : null;
    await tx.updateTable('customers').set({ blocked_at_ms }).where('customer_id', '=', customerId).execute();
    const detail = { before: { blocked: row.blocked_at_ms !== null }, after: { blocked } };
    await note(tx, blocked ? 'customer.block' : 'customer.unblock', customerId, detail);
    return recordOf({ ...row, blocked_at_ms }, await partnersOf(tx, customerId));
  });

const ordersOf = (tx: Tx, customerId: string): Promise<OrderRow[]> =>
  tx
    .selectFrom('partner_orders')
    .selectAll()
    .where('customer_id', '=', customerId)
    .orderBy('created_at_ms')
    .orderBy('order_id')
    .execute();

/** @throws Problem `customer_not_found` */
export const exportCustomer = ({ ports, note }: DeskCall, customerId: string): Promise<CustomerExport> =>
  inTurn(ports.store, [customerTurn(customerId)], async (tx) => {
    const customer = recordOf(await requireCustomer(ports, tx, customerId), await partnersOf(tx, customerId));
    const rowsOf = async (table: 'terms_acceptances' | 'partner_requirements') =>
      (await tx.selectFrom(table).selectAll().where('customer_id', '=', customerId).execute()).map(
        (row): Record<string, unknown> => ({ ...row }),
      );
    const ofCustomer = tx.selectFrom('customer_data').selectAll().where('customer_id', '=', customerId);
    const pieces = await ofCustomer.orderBy('rank').execute();
    const dataIds = pieces.map(({ data_id }) => data_id);
    const opened = await openData(ports, tx, customerId, dataIds, { files: true });
    const data = pieces.map(({ data_id, submitted_at_ms }) => ({
      data_id,
      submitted_at: instant(submitted_at_ms),
      ...opened.get(data_id),
    }));
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
    const runs = await tx.selectFrom('attestation_runs').selectAll().where('customer_id', '=', customerId).execute();
    await note(tx, 'customer.export', customerId, { data: data.length, orders: orders.length });
    return {
      customer,
      data,
      attestations: runs.map(({ reason_sealed: sealed, ...run }) => ({
        ...run,
        reason: openReason(ports, { ...run, reason_sealed: sealed }),
      })),
      terms: await rowsOf('terms_acceptances'),
      requirements: await rowsOf('partner_requirements'),
      orders,
    };
  });

/** Erases data that no open order and no books need, from the file too. @throws Problem `customer_not_found` */
export async function eraseCustomer(desk: DeskCall, customerId: string): Promise<ErasedCustomer> {
  let erased: ErasedCustomer | undefined;
  await erasing(desk.ports.store, async () => {
    erased = await inTurn(desk.ports.store, [customerTurn(customerId)], (tx) => erase(desk, tx, customerId));
  });
  if (!erased) throw new Error('an erasure without an end');
  return erased;
}

async function erase({ ports, note }: DeskCall, tx: Tx, customerId: string): Promise<ErasedCustomer> {
  await requireCustomer(ports, tx, customerId);
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
  const dataIds = await removeData(tx, (removal) => {
    const own = removal.where('customer_id', '=', customerId);
    return keptData.length > 0 ? own.where('data_id', 'not in', keptData) : own;
  });
  // Failed creations and redirections hold no money.
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
  const runs = tx.deleteFrom('attestation_runs').where('customer_id', '=', customerId);
  await runs.where('state', '=', 'running').execute();
  const erased = { data: dataIds, orders };
  await note(tx, 'customer.erase', customerId, { erased, kept });
  return { customer_id: customerId, erased, kept };
}
