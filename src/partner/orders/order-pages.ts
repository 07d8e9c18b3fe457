import { type SqlBool, sql } from 'kysely';
import { refuse } from '../../http/index.ts';
import { instant } from '../../kernel/clock.ts';
import type {
  GetOrderDetailsRequest,
  GetOrderDetailsResponse,
  GetOrdersRequest,
  GetOrdersResponse,
} from '../../wire/partner/schema.ts';
import type { Call, PartnerEnvironment, PartnerPorts, Store } from '../base/index.ts';
import { historyOf, orderRecord, ordersRow } from './order-record.ts';
import { allowedOf } from './order-update.ts';

/**
 * Lists a partner's orders, newest first (CONTRACT, section 11). A page continues after the last order of the previous
 * page, so that new orders do not shift it. `totalCount` counts all matches.
 * @throws Problem `invalid_request` for a page token of another list
 */
export async function pageOfOrders(
  { store, secrets, environment }: PartnerPorts,
  partnerId: string,
  { status, pageSize, pageToken }: GetOrdersRequest,
): Promise<GetOrdersResponse> {
  const after = pageToken === undefined ? null : readToken(pageToken, status ?? '');
  const isAfter = after && sql<SqlBool>`(created_at_ms, order_id) < (${after.createdAtMs}, ${after.orderId})`;
  const rows = await store
    .selectFrom('partner_orders')
    .selectAll()
    .where('partner_id', '=', partnerId)
    .where('environment', '=', environment)
    .where('creation', '=', 'created')
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? ''))
    .$if(isAfter !== null, (query) => (isAfter ? query.where(isAfter) : query))
    .orderBy('created_at_ms', 'desc')
    .orderBy('order_id', 'desc')
    .limit(pageSize + 1)
    .execute();
  const counted = await store
    .selectFrom('partner_order_counts')
    .select('orders')
    .where('partner_id', '=', partnerId)
    .where('environment', '=', environment)
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? ''))
    .execute();
  const shown = rows.slice(0, pageSize);
  const last = shown.at(-1);
  return {
    orders: shown.map((row) => orderRecord(secrets, row, 'partner')),
    totalCount: counted.reduce((sum, { orders }) => sum + orders, 0),
    ...(rows.length > pageSize && last
      ? { nextPageToken: writeToken(last.created_at_ms, last.order_id, status ?? '') }
      : {}),
  };
}

const writeToken = (createdAtMs: number, orderId: string, status: string): string =>
  Buffer.from(JSON.stringify([1, createdAtMs, orderId, status])).toString('base64url');

function readToken(token: string, status: string): { createdAtMs: number; orderId: string } {
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
  } catch {
    read = null;
  }
  if (Array.isArray(read)) {
    const [form, createdAtMs, orderId, filter] = read as unknown[];
    if (form === 1 && Number.isSafeInteger(createdAtMs) && typeof orderId === 'string' && filter === status)
      return { createdAtMs: createdAtMs as number, orderId };
  }
  return refuse([{ path: 'pageToken', message: 'is not the nextPageToken of a list with these filters.' }]);
}

/** @throws Problem `order_not_found`, `order_in_doubt` */
export async function orderDetails(
  ports: PartnerPorts,
  { partner }: Call,
  { orderId, includeHistory }: GetOrderDetailsRequest,
): Promise<GetOrderDetailsResponse> {
  const row = await ordersRow(ports, ports.store, partner.partnerId, orderId);
  return {
    order: orderRecord(ports.secrets, row, 'partner'),
    allowedStatuses: allowedOf(row),
    ...(includeHistory ? { history: await historyOf(ports, orderId, row.version) } : {}),
  };
}

const MOST_LISTED = 200;

/** Lists orders that the service put in ERROR until their partner moves them, oldest first. @param orderId only this */
export async function ordersInError(store: Store, environment: PartnerEnvironment, orderId?: string) {
  const rows = await store
    .selectFrom('partner_orders')
    .select(['order_id', 'partner_id', 'last_error', 'attempts', 'updated_at_ms'])
    // As in the index, so that it is used.
    .where(sql<SqlBool>`status = 'ERROR' and last_error is not null`)
    .where('updated_at_ms', '>', 0)
    .where('environment', '=', environment)
    .$if(orderId !== undefined, (query) => query.where('order_id', '=', orderId ?? ''))
    .orderBy('updated_at_ms')
    .limit(MOST_LISTED)
    .execute();
  return rows.map(({ updated_at_ms, ...row }) => ({ ...row, updated_at: instant(updated_at_ms) }));
}
