/**
 * The statuses of a partner order and the moves between them, as data: the service, the tool and their tests read this
 * one table (CONTRACT, section 11).
 */
export const ORDER_STATUSES = [
  'AWAITING_FUNDS',
  'FUNDS_RECEIVED',
  'PAYMENT_SUBMITTED',
  'PAYMENT_PROCESSED',
  'REFUNDING',
  'REFUNDED',
  'CANCELED',
  'ERROR',
  'IN_REVIEW',
] as const;

export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** Checks that a text is a status. */
export const isOrderStatus = (text: unknown): text is OrderStatus =>
  ORDER_STATUSES.some((status) => status === text);

/** A condition of a transition beside the status that it starts from (CONTRACT, section 11). */
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
