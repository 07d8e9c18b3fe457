import type { Selectable } from 'kysely';
import { instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import type { DepositInstructions, Order, OrderChange, OrderStatus, ReturnDetails } from '../../wire/partner/schema.ts';
import type { PartnerEnvironment, PartnerOrderTable, PartnerPorts, SealedColumn, Store, Tx } from '../base/index.ts';
import { LONGEST_WAIT_MS } from './creation-due.ts';

export type OrderRow = Selectable<PartnerOrderTable>;

const place = (column: SealedColumn, orderId: string) => `partner_orders.${column}.${orderId}`;

/** Seals a text or a JSON value for its column and row. */
export const sealColumn = (secrets: Secrets, column: SealedColumn, orderId: string, value: unknown): string =>
  secrets.encrypt(place(column, orderId), JSON.stringify(value));

/** Opens what `sealColumn` sealed; undefined if the column is empty. */
export function openColumn(secrets: Secrets, column: SealedColumn, row: OrderRow): unknown {
  const sealed = row[column];
  return sealed === null ? undefined : JSON.parse(secrets.decrypt(place(column, row.order_id), sealed));
}

export const contentOf = (secrets: Secrets, row: OrderRow) => ({
  depositInstructions: openColumn(secrets, 'deposit_instructions_sealed', row) as DepositInstructions | undefined,
  reason: openColumn(secrets, 'reason_sealed', row) as string | undefined,
  customerFacingReason: openColumn(secrets, 'customer_facing_reason_sealed', row) as string | undefined,
  returnDetails: openColumn(secrets, 'return_details_sealed', row) as ReturnDetails | undefined,
});

/** An order on the wire (spec/partner-service.md, Order). Customers see no `customerId`, `externalId` or `reason`. */
export function orderRecord(secrets: Secrets, row: OrderRow, audience: 'partner' | 'customer'): Order {
  if (row.status === null) throw new Error('cannot show an order without a status');
  const content = contentOf(secrets, row);
  return withoutUnset<Order>({
    id: row.order_id,
    customerId: audience === 'partner' ? row.customer_id : null,
    externalId: audience === 'partner' ? row.external_id : null,
    partnerId: row.partner_id,
    status: row.status as OrderStatus,
    sourceCurrency: row.source_currency,
    sourceAmount: row.source_amount,
    destinationCurrency: row.destination_currency,
    destinationAmount: row.destination_amount,
    transactionType: row.transaction_type,
    network: row.network,
    depositInstructions: content.depositInstructions,
    customerPaymentDetailsDataId: row.customer_payment_details_data_id,
    customerWalletDataId: row.customer_wallet_data_id,
    sourceTransactionId: row.source_transaction_id,
    destinationTransactionId: row.destination_transaction_id,
    paymentMethod: row.payment_method,
    reason: audience === 'partner' ? content.reason : null,
    customerFacingReason: content.customerFacingReason,
    returnDetails: content.returnDetails,
    createdAt: instant(row.created_at_ms),
    updatedAt: instant(row.updated_at_ms),
    version: row.version,
  });
}

/**
 * Finds the row of a partner's order.
 * @throws Problem `order_not_found`, also for an order of another partner: 404, never 403 (CONTRACT, section 10);
 *   `order_in_doubt` while it is not known whether the platform took it
 */
export async function ordersRow(
  { environment, clock }: PartnerPorts,
  store: Store | Tx,
  partnerId: string,
  orderId: string,
): Promise<OrderRow> {
  const row = await store
    .selectFrom('partner_orders')
    .selectAll()
    .where('order_id', '=', orderId)
    .where('partner_id', '=', partnerId)
    .where('environment', '=', environment)
    .where('creation', 'in', ['created', 'creating'])
    .executeTakeFirst();
  if (!row) throw orderNotFound();
  if (row.creation === 'created') return row;
  // A redirection is not an order, and an order that was not sent yet cannot be at the platform.
  if (row.begun_as === 'REDIRECT' || row.attempts === 0) throw orderNotFound();
  const waitMs = Math.min(LONGEST_WAIT_MS, (row.due_at_ms ?? 0) - clock.now());
  throw problem('order_in_doubt', { retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) });
}

const orderNotFound = () => problem('order_not_found', { fix: 'Check the order id; GetOrders lists your orders.' });

/** ProtoJSON leaves out unset fields. */
const withoutUnset = <T extends object>(given: { [K in keyof T]: T[K] | undefined | null }): T =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null)) as T;

interface RecordedChange {
  readonly order: Pick<OrderRow, 'order_id' | 'partner_id' | 'environment'>;
  readonly version: number;
  /** Null for a new order. */
  readonly from: OrderStatus | null;
  readonly to: OrderStatus;
  readonly fields: readonly string[];
  readonly previous?: Readonly<Record<string, unknown>>;
  readonly actor: string;
  readonly requestId: string;
  readonly atMs: number;
}

/**
 * Adds a change to an order's history, in the transaction of the change, and counts the status. A version has one row,
 * so a change that is applied twice fails here.
 */
export async function recordChange(
  { secrets }: Pick<PartnerPorts, 'secrets'>,
  tx: Tx,
  change: RecordedChange,
): Promise<void> {
  const { order, version, from, to, previous = {} } = change;
  await tx
    .insertInto('partner_order_changes')
    .values({
      order_id: order.order_id,
      version,
      from_status: from,
      to_status: to,
      fields: JSON.stringify(change.fields),
      previous_sealed:
        Object.keys(previous).length === 0
          ? null
          : secrets.encrypt(changePlace(order.order_id, version), JSON.stringify(previous)),
      actor: change.actor,
      request_id: change.requestId,
      at_ms: change.atMs,
    })
    .execute();
  await countMove(tx, { partnerId: order.partner_id, environment: order.environment, from, to });
}

const changePlace = (orderId: string, version: number): string =>
  `partner_order_changes.previous_sealed.${orderId}.${version}`;

/** Moves an order from the count of one status to that of another. */
export async function countMove(
  tx: Tx | Store,
  {
    partnerId,
    environment,
    from,
    to,
  }: Pick<RecordedChange, 'from' | 'to'> & { readonly partnerId: string; readonly environment: PartnerEnvironment },
): Promise<void> {
  if (from === to) return;
  const moved = [{ status: to, orders: 1 }, ...(from === null ? [] : [{ status: from, orders: -1 }])];
  await tx
    .insertInto('partner_order_counts')
    .values(moved.map((one) => ({ partner_id: partnerId, environment, ...one })))
    .onConflict((conflict) =>
      conflict
        .columns(['partner_id', 'environment', 'status'])
        .doUpdateSet((column) => ({
          orders: column('partner_order_counts.orders', '+', column.ref('excluded.orders')),
        })),
    )
    .execute();
}

/** Lists an order's changes up to the version that was read, oldest first. */
export async function historyOf(
  { store, secrets }: Pick<PartnerPorts, 'store' | 'secrets'>,
  orderId: string,
  version: number,
): Promise<OrderChange[]> {
  const rows = await store
    .selectFrom('partner_order_changes')
    .selectAll()
    .where('order_id', '=', orderId)
    .where('version', '<=', version)
    .orderBy('version')
    .execute();
  return rows.map(({ version, previous_sealed: sealed, ...row }) =>
    withoutUnset<OrderChange>({
      version,
      fromStatus: row.from_status as OrderStatus | null,
      toStatus: row.to_status as OrderStatus,
      fields: JSON.parse(row.fields) as string[],
      at: instant(row.at_ms),
      actor: row.actor,
      previous: sealed === null ? null : JSON.parse(secrets.decrypt(changePlace(orderId, version), sealed)),
    }),
  );
}
