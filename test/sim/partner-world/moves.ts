import type { OrderStatus } from '../../../src/kernel/domain/order-moves.ts';

type Guard = 'funds' | 'no funds' | 'returned' | 'source';

/** The moves of an order as the contract prints them (section 11), by hand: nothing of the product is asked. */
const MOVES: Readonly<Record<OrderStatus, Readonly<Partial<Record<OrderStatus, Guard | null>>>>> = {
  AWAITING_FUNDS: { FUNDS_RECEIVED: null, IN_REVIEW: null, CANCELED: null, ERROR: null },
  IN_REVIEW: {
    AWAITING_FUNDS: 'no funds',
    FUNDS_RECEIVED: null,
    ERROR: null,
    REFUNDING: 'funds',
    CANCELED: 'no funds',
  },
  FUNDS_RECEIVED: { IN_REVIEW: null, PAYMENT_SUBMITTED: null, PAYMENT_PROCESSED: null, REFUNDING: null, ERROR: null },
  PAYMENT_SUBMITTED: { PAYMENT_PROCESSED: null, REFUNDING: null, ERROR: null },
  PAYMENT_PROCESSED: { REFUNDING: 'returned' },
  REFUNDING: { REFUNDED: null, ERROR: null },
  CANCELED: { REFUNDING: 'source' },
  ERROR: { IN_REVIEW: null, FUNDS_RECEIVED: 'funds', REFUNDING: 'funds', CANCELED: 'no funds' },
  REFUNDED: {},
};

/** What the rows before and after a move say of money. */
interface Moved {
  readonly from: OrderStatus;
  readonly to: OrderStatus;
  /** Funds were seen before. */
  readonly wasFunded: boolean;
  /** A source transaction is known after it. */
  readonly hasSource: boolean;
  readonly isReturned: boolean;
}

/** True for a move of the contract's table, or for none. */
export function isLegal({ from, to, wasFunded, hasSource, isReturned }: Moved): boolean {
  if (from === to) return true;
  const guard = MOVES[from][to];
  if (guard === undefined) return false;
  if (guard === 'funds') return wasFunded || hasSource;
  if (guard === 'no funds') return !wasFunded;
  if (guard === 'returned') return isReturned;
  return guard === null || hasSource;
}
