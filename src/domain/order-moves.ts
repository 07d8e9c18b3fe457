import { type Guard, type OrderStatus, TRANSITIONS } from './order-statuses.ts';

/**
 * Rules of UpdateOrder (CONTRACT, section 11): the service refuses by them, and the tool plans by them, so that a plan
 * promises what the service does.
 */

/** Statuses that an order has only after its customer's funds were seen. */
export const FUNDED: ReadonlySet<OrderStatus> = new Set<OrderStatus>([
  'FUNDS_RECEIVED',
  'PAYMENT_SUBMITTED',
  'PAYMENT_PROCESSED',
  'REFUNDING',
  'REFUNDED',
]);

/** An order as far as the rules look at it. */
export interface OrderStanding {
  readonly status: OrderStatus;
  /** The funds were seen: by the order's history, or by a source transaction. null: nobody here knows. */
  readonly funds: boolean | null;
  readonly paymentProcessed: boolean;
  readonly sourceTransactionId: string | null;
  readonly destinationTransactionId: string | null;
  /** It reports returned funds. */
  readonly returned: boolean;
}

/** An update as far as the rules look at it. */
interface WantedMove {
  readonly status?: OrderStatus | undefined;
  readonly sourceTransactionId?: string | undefined;
  readonly destinationTransactionId?: string | undefined;
  readonly reason?: string | undefined;
  readonly returnDetails?: object | undefined;
}

export type MoveRefusal =
  | {
      readonly kind: 'transition';
      readonly from: OrderStatus;
      readonly to: OrderStatus;
      readonly allowed: readonly OrderStatus[];
      /** Set where the table has the step, and the funds are in its way. */
      readonly funds: boolean | null;
    }
  | {
      readonly kind: 'required';
      readonly field: 'reason' | 'returnDetails' | 'sourceTransactionId';
      readonly from: OrderStatus;
      readonly to: OrderStatus;
    }
  | { readonly kind: 'fixed'; readonly field: 'sourceTransactionId' | 'destinationTransactionId' };

/** Where an order may go from here, in the table's order. What an update can bring along (details, ids) is no bar. */
export const allowedFrom = ({ status, funds }: Pick<OrderStanding, 'status' | 'funds'>): OrderStatus[] =>
  (Object.entries(TRANSITIONS[status]) as [OrderStatus, readonly Guard[]][])
    .filter(([, guards]) => funds === null || !guards.includes(funds ? 'no_funds' : 'funds'))
    .map(([to]) => to);

/** Checks that a message of an update sets a field: without one it changes nothing. */
export const saysSomething = (message: object | undefined): message is object =>
  Object.values(message ?? {}).some((value) => value !== undefined && value !== null);

/** ERROR always needs a reason, whatever the order's status is. */
export const lacksReason = ({ status, reason }: WantedMove): boolean =>
  status === 'ERROR' && reason === undefined;

/** Why an update cannot happen to an order, or null. The table decides, then the funds, then what the step needs. */
export function refusalOf(order: OrderStanding, update: WantedMove): MoveRefusal | null {
  const from = order.status;
  const to = update.status ?? from;
  if (lacksReason(update)) return { kind: 'required', field: 'reason', from, to };
  const source = update.sourceTransactionId ?? order.sourceTransactionId;
  if (to !== from) {
    const funds = update.sourceTransactionId === undefined ? order.funds : true;
    const guards = TRANSITIONS[from][to];
    const allowed = allowedFrom({ status: from, funds });
    if (!guards || !allowed.includes(to))
      return { kind: 'transition', from, to, allowed, funds: guards ? funds : null };
    if (guards.includes('return_details') && !order.returned && !saysSomething(update.returnDetails))
      return { kind: 'required', field: 'returnDetails', from, to };
    if (guards.includes('source_transaction') && source === null)
      return { kind: 'required', field: 'sourceTransactionId', from, to };
  }
  // A source transaction, once set, is the customer's money: it stays. A destination may change until it is paid.
  if (order.sourceTransactionId !== null && source !== order.sourceTransactionId)
    return { kind: 'fixed', field: 'sourceTransactionId' };
  const { destinationTransactionId: destination = order.destinationTransactionId } = update;
  if (
    order.paymentProcessed &&
    order.destinationTransactionId !== null &&
    destination !== order.destinationTransactionId
  )
    return { kind: 'fixed', field: 'destinationTransactionId' };
  return null;
}

/** The state of an order after an accepted update. */
export function standingAfter(order: OrderStanding, update: WantedMove): OrderStanding {
  const status = update.status ?? order.status;
  return {
    status,
    funds: FUNDED.has(status) || update.sourceTransactionId !== undefined ? true : order.funds,
    paymentProcessed: order.paymentProcessed || status === 'PAYMENT_PROCESSED',
    sourceTransactionId: update.sourceTransactionId ?? order.sourceTransactionId,
    destinationTransactionId: update.destinationTransactionId ?? order.destinationTransactionId,
    returned: order.returned || saysSomething(update.returnDetails),
  };
}
