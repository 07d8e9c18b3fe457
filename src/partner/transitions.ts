import type { OrderStatus } from './schema.ts';

/** What a transition needs beside the status that it starts from (CONTRACT, section 11). */
export type Guard =
  /** Only where the customer's funds were seen. */
  | 'funds'
  /** Only where they were not. */
  | 'no_funds'
  /** The update, or the order, holds returnDetails. */
  | 'return_details'
  /** The update, or the order, holds a sourceTransactionId. */
  | 'source_transaction';

/** The table of CONTRACT, section 11, as data: from, to, and what the step needs. What is not here is refused. */
export const TRANSITIONS: Readonly<
  Record<OrderStatus, Readonly<Partial<Record<OrderStatus, readonly Guard[]>>>>
> = {
  AWAITING_FUNDS: { FUNDS_RECEIVED: [], IN_REVIEW: [], CANCELED: [], ERROR: [] },
  IN_REVIEW: {
    AWAITING_FUNDS: ['no_funds'],
    FUNDS_RECEIVED: [],
    ERROR: [],
    REFUNDING: ['funds'],
    CANCELED: ['no_funds'],
  },
  FUNDS_RECEIVED: { IN_REVIEW: [], PAYMENT_SUBMITTED: [], PAYMENT_PROCESSED: [], REFUNDING: [], ERROR: [] },
  PAYMENT_SUBMITTED: { PAYMENT_PROCESSED: [], REFUNDING: [], ERROR: [] },
  PAYMENT_PROCESSED: { REFUNDING: ['return_details'] },
  REFUNDING: { REFUNDED: [], ERROR: [] },
  CANCELED: { REFUNDING: ['source_transaction'] },
  ERROR: {
    IN_REVIEW: [],
    FUNDS_RECEIVED: ['funds'],
    REFUNDING: ['funds'],
    CANCELED: ['no_funds'],
  },
  REFUNDED: {},
};

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
