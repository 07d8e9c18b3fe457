import { type Guard, TRANSITIONS } from '../kernel/order-statuses.ts';
import type { OrderStatus } from './schema.ts';

export { type Guard, TRANSITIONS } from '../kernel/order-statuses.ts';

/** Statuses that an order has only after its customer's funds were seen. */
export const FUNDED: ReadonlySet<OrderStatus> = new Set<OrderStatus>([
  'FUNDS_RECEIVED',
  'PAYMENT_SUBMITTED',
  'PAYMENT_PROCESSED',
  'REFUNDING',
  'REFUNDED',
]);

export interface OrderFacts {
  readonly status: OrderStatus;
  /** The funds were seen: by the order's history, or by a source transaction. */
  readonly funds: boolean;
}

/** Where an order may go from here, in the table's order. What an update can bring along (details, ids) is no bar. */
export const allowedFrom = ({ status, funds }: OrderFacts): OrderStatus[] =>
  (Object.entries(TRANSITIONS[status]) as [OrderStatus, readonly Guard[]][])
    .filter(([, guards]) => !guards.includes(funds ? 'no_funds' : 'funds'))
    .map(([to]) => to);
