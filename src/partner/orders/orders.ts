import type * as schema from '../../wire/partner/schema.ts';
import type { Call } from '../call.ts';
import type { PartnerPorts } from '../ports.ts';
import { historyOf } from './order-history.ts';
import { orderRecord, ordersRow } from './order-record.ts';
import { allowedOf } from './order-update.ts';

/** @throws Problem `order_not_found`, `order_in_doubt` */
export async function orderDetails(
  ports: PartnerPorts,
  { partner }: Call,
  { orderId, includeHistory }: schema.GetOrderDetailsRequest,
): Promise<schema.GetOrderDetailsResponse> {
  const row = await ordersRow(ports, ports.store, partner.partnerId, orderId);
  return {
    order: orderRecord(ports.secrets, row, 'partner'),
    allowedStatuses: allowedOf(row),
    ...(includeHistory ? { history: await historyOf(ports, orderId, row.version) } : {}),
  };
}
