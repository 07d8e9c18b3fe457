/**
 * The statuses of a partner order and the moves between them, as data: the service, the tool and the documents read
 * this one table (CONTRACT, section 11).
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

export interface OrderMove {
  readonly to: OrderStatus;
  /** Only while the customer's funds are here, or only while they are not; absent: either way. */
  readonly funds?: 'received' | 'none';
  /** What the order or the update must hold for this move. */
  readonly needs?: 'returnDetails' | 'sourceTransactionId' | 'reason';
}

/** From each status, where an order may go. */
export const ORDER_MOVES: Readonly<Record<OrderStatus, readonly OrderMove[]>> = {
  AWAITING_FUNDS: [
    { to: 'FUNDS_RECEIVED' },
    { to: 'IN_REVIEW' },
    { to: 'CANCELED' },
    { to: 'ERROR', needs: 'reason' },
  ],
  IN_REVIEW: [
    { to: 'AWAITING_FUNDS', funds: 'none' },
    { to: 'FUNDS_RECEIVED' },
    { to: 'ERROR', needs: 'reason' },
    { to: 'REFUNDING', funds: 'received' },
    { to: 'CANCELED', funds: 'none' },
  ],
  FUNDS_RECEIVED: [
    { to: 'IN_REVIEW' },
    { to: 'PAYMENT_SUBMITTED' },
    { to: 'PAYMENT_PROCESSED' },
    { to: 'REFUNDING' },
    { to: 'ERROR', needs: 'reason' },
  ],
  PAYMENT_SUBMITTED: [{ to: 'PAYMENT_PROCESSED' }, { to: 'REFUNDING' }, { to: 'ERROR', needs: 'reason' }],
  PAYMENT_PROCESSED: [{ to: 'REFUNDING', needs: 'returnDetails' }],
  REFUNDING: [{ to: 'REFUNDED' }, { to: 'ERROR', needs: 'reason' }],
  CANCELED: [{ to: 'REFUNDING', needs: 'sourceTransactionId' }],
  ERROR: [
    { to: 'IN_REVIEW' },
    { to: 'FUNDS_RECEIVED', funds: 'received' },
    { to: 'REFUNDING', funds: 'received' },
    { to: 'CANCELED', funds: 'none' },
  ],
  REFUNDED: [],
};

/** Whether a text is a status. */
export const isOrderStatus = (text: unknown): text is OrderStatus =>
  ORDER_STATUSES.some((status) => status === text);
