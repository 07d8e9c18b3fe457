import { allowedFrom } from '../../domain/order-moves.ts';
import { type Call, type Procedure, procedure } from '../call.ts';
import type { PartnerPorts } from '../ports.ts';
import * as schema from '../schema.ts';
import { historyOf } from './order-history.ts';
import { pageOfOrders } from './order-pages.ts';
import { orderNotFound, orderRecord } from './order-record.ts';
import { standingOf, updateOrder } from './order-update.ts';

/** A partner's calls about its orders (spec/partner-service.md, UpdateOrder, GetOrders, GetOrderDetails). */
export function orderProcedures(ports: PartnerPorts): readonly Procedure[] {
  return [
    procedure({
      service: 'partner',
      name: 'UpdateOrder',
      input: schema.updateOrderRequest,
      output: schema.updateOrderResponse,
      concerns: 'partner',
      writes: true,
      headers: etag,
      run: (call, input) => updateOrder(ports, call, input),
    }),
    procedure({
      service: 'partner',
      name: 'GetOrders',
      input: schema.getOrdersRequest,
      output: schema.getOrdersResponse,
      concerns: 'partner',
      writes: false,
      run: (call, input) => pageOfOrders(ports, call.partner.partnerId, input),
    }),
    procedure({
      service: 'partner',
      name: 'GetOrderDetails',
      input: schema.getOrderDetailsRequest,
      output: schema.getOrderDetailsResponse,
      concerns: 'partner',
      writes: false,
      headers: etag,
      run: (call, input) => orderDetails(ports, call, input),
    }),
  ];
}

/** @throws Problem `order_not_found`, also for an order of another partner: 404, never 403 (CONTRACT, section 10) */
async function orderDetails(
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
    ...(includeHistory ? { history: await historyOf(store, orderId) } : {}),
  };
}

/** The version for If-Match. */
const etag = (answer: object): Record<string, string> =>
  'order' in answer ? { ETag: `"${(answer.order as schema.Order).version}"` } : {};
