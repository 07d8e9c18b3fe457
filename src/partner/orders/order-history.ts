import { instant } from '../../kernel/clock.ts';
import type { OrderChange, OrderStatus } from '../../wire/partner/schema.ts';
import type { PartnerEnvironment, PartnerPorts, Store, Tx } from '../base/index.ts';

interface RecordedChange {
  readonly partnerId: string;
  readonly environment: PartnerEnvironment;
  readonly orderId: string;
  readonly version: number;
  /** null: the order came into being. */
  readonly from: OrderStatus | null;
  readonly to: OrderStatus;
  /** Names of the fields that changed. */
  readonly fields: readonly string[];
  /** The values that they had, where they had one. */
  readonly previous?: Readonly<Record<string, unknown>>;
  /** `key:<key id>`, `platform`, `seed`. */
  readonly actor: string;
  readonly requestId: string;
  readonly atMs: number;
}

/**
 * Adds to an order's history, in the transaction of the change. A version has one row, so that a change that was
 * applied twice would fail here; there is nothing that changes a row. Whoever moves an order to another status is
 * counted.
 */
export async function recordChange(
  { secrets }: Pick<PartnerPorts, 'secrets'>,
  tx: Tx,
  change: RecordedChange,
): Promise<void> {
  const { previous = {} } = change;
  await tx
    .insertInto('partner_order_changes')
    .values({
      order_id: change.orderId,
      version: change.version,
      from_status: change.from,
      to_status: change.to,
      fields: JSON.stringify(change.fields),
      previous_sealed:
        Object.keys(previous).length === 0
          ? null
          : secrets.encrypt(place(change.orderId, change.version), JSON.stringify(previous)),
      actor: change.actor,
      request_id: change.requestId,
      at_ms: change.atMs,
    })
    .execute();
  await countMove(tx, change);
}

const place = (orderId: string, version: number): string =>
  `partner_order_changes.previous_sealed.${orderId}.${version}`;

/** Counts an order in its new status, and no more in the one before. */
export async function countMove(
  tx: Tx | Store,
  { partnerId, environment, from, to }: Pick<RecordedChange, 'partnerId' | 'environment' | 'from' | 'to'>,
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

/** Up to a version, oldest first: what came after the order was read is not of the same moment. */
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
  return rows.map((row) => ({
    version: row.version,
    ...(row.from_status === null ? {} : { fromStatus: row.from_status as OrderStatus }),
    toStatus: row.to_status as OrderStatus,
    fields: JSON.parse(row.fields) as string[],
    at: instant(row.at_ms),
    actor: row.actor,
    ...(row.previous_sealed === null
      ? {}
      : {
          previous: JSON.parse(
            secrets.decrypt(place(orderId, row.version), row.previous_sealed),
          ) as OrderChange['previous'],
        }),
  }));
}
