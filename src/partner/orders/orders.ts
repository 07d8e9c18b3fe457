import { allowedFrom } from '../../domain/order-moves.ts';
import type { Call } from '../call.ts';
import type { PartnerPorts } from '../ports.ts';
import type * as schema from '../schema.ts';
import { historyOf } from './order-history.ts';
import { orderNotFound, orderRecord } from './order-record.ts';
import { standingOf } from './order-update.ts';

/** @throws Problem `order_not_found`, also for an order of another partner: 404, never 403 (CONTRACT, section 10) */
export async function orderDetails(
  { store, secrets, environment }: PartnerPorts,
  { partner }: Call,
  { orderId, includeHistory }: schema.GetOrderDetailsRequest,
): Promise<schema.GetOrderDetailsResponse> {
  const row = await store
    .selectFrom('partner_orders')
    .selectAll()
    .where('order_id', '=', orderId)
    .where('partner_id', '=', partner.partnerId)
    .where('environment', '=', environment)
    .where('creation', '=', 'created')
    .executeTakeFirst();
  if (!row) throw orderNotFound();
  return {
    order: orderRecord(secrets, row, 'partner'),
    allowedStatuses: allowedFrom(standingOf(row)),
    ...(includeHistory ? { history: await historyOf(store, orderId, row.version) } : {}),
  };
}
