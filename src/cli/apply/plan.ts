import {
  allowedFrom,
  FUNDED,
  type MoveRefusal,
  type OrderStanding,
  type OrderStatus,
  refusalOf,
  standingAfter,
} from '../../kernel/domain/order-moves.ts';
import type { GetOrderDetailsResponse } from '../../wire/partner/index.ts';
import type { CheckedRow } from './check.ts';

/** The expected effect of a row; the service has the last word. */
export interface PlannedRow {
  readonly row: number;
  readonly line: number;
  readonly orderId: string;
  /** The order's status before the row; null for an unknown order. */
  readonly from: OrderStatus | null;
  /** Its status after the row; null if the row will be refused or held. */
  readonly to: OrderStatus | null;
  /**
   * `move` changes the status, `patch` only other fields, `repeat` sets the present status again, `settle` was sent
   * before and lacks only its answer, `refuse` is not allowed, `hold` follows a refused row of the same order.
   */
  readonly kind: 'move' | 'patch' | 'repeat' | 'settle' | 'refuse' | 'hold';
  /** Why it will be refused or held. */
  readonly why: string | null;
}

/**
 * Predicts what the rows do to the orders, one after the other, by the rules of the service.
 * @param orders the orders by id, without those that the service does not know
 * @param earlier `sent`: rows that were sent but have no answer; `refused`: by order, a row that was refused and is not
 *   tried again
 */
export function planRows(
  rows: readonly CheckedRow[],
  orders: ReadonlyMap<string, OrderStanding>,
  earlier: { readonly sent?: ReadonlySet<number>; readonly refused?: ReadonlyMap<string, number> } = {},
): PlannedRow[] {
  const states = new Map(orders);
  const refused = new Map<string, number>(earlier.refused);
  const { sent = new Set() } = earlier;
  return rows.map(({ row, line, update }) => {
    const { orderId } = update;
    const order = states.get(orderId);
    const common = { row, line, orderId, from: order?.status ?? null };
    const first = refused.get(orderId);
    if (first !== undefined)
      return { ...common, to: null, kind: 'hold', why: `row ${first} of this order comes first` };
    const refusal = order && (sent.has(row) ? null : refusalOf(order, update));
    if (!order || refusal) {
      refused.set(orderId, row);
      const why = refusal ? refusalWords(refusal) : 'unknown order';
      return { ...common, to: null, kind: 'refuse', why };
    }
    const next = standingAfter(order, update);
    states.set(orderId, next);
    return { ...common, to: next.status, kind: kindOf(order, update, sent.has(row)), why: null };
  });
}

function kindOf(order: OrderStanding, update: CheckedRow['update'], wasSent: boolean): PlannedRow['kind'] {
  if (wasSent) return 'settle';
  if (update.status !== undefined && update.status !== order.status) return 'move';
  const { orderId: _order, status: _status, ...more } = update;
  return Object.keys(more).length > 0 ? 'patch' : 'repeat';
}

function refusalWords(refusal: MoveRefusal): string {
  if (refusal.kind === 'fixed') {
    const ends = refusal.field === 'sourceTransactionId' ? 'never changes' : 'stays once the payment is processed';
    return `the order already has another ${refusal.field}, which ${ends}`;
  }
  if (refusal.kind === 'finished') return `the order has ended, its ${refusal.field} is fixed`;
  if (refusal.kind === 'deposit')
    return refusal.faults.map(({ field, message }) => `depositInstructions.${field} ${message}`).join(' ');
  const { from, to } = refusal;
  if (refusal.kind === 'required')
    return from === to ? `${to} needs ${refusal.field}` : `${from} to ${to} needs ${refusal.field}`;
  const { allowed, funds } = refusal;
  const because = funds === null ? '' : funds ? ', its funds were seen' : ', its funds were not seen';
  const only = allowed.length === 0 ? ', it is final' : `, only to ${allowed.join(', ')}`;
  return `${from} cannot go to ${to}${because}${only}`;
}

/** The statuses that may follow a status, whether or not the funds were seen. */
export const statusesAfter = (status: OrderStatus): OrderStatus[] => allowedFrom({ status, funds: null });

/** Counts the rows of each kind of move, the most frequent first. */
export function planSummary(plan: readonly PlannedRow[]) {
  const counted = new Map<string, Pick<PlannedRow, 'from' | 'to' | 'kind'> & { readonly rows: number }>();
  for (const { from, to, kind } of plan) {
    const key = `${kind} ${from} ${to}`;
    counted.set(key, { from, to, kind, rows: (counted.get(key)?.rows ?? 0) + 1 });
  }
  return [...counted.values()].sort((a, b) => b.rows - a.rows);
}

/**
 * Reads what the rules of UpdateOrder need to know of an order. Another deployment sends neither history nor allowed
 * statuses; then the status alone may leave open whether the funds were seen (null).
 */
export function standingOf({ order, allowedStatuses, history }: GetOrderDetailsResponse): OrderStanding {
  const { status } = order;
  const reached = new Set([status, ...(history ?? []).map(({ toStatus }) => toStatus)]);
  const seen = order.sourceTransactionId !== undefined || [...reached].some((one) => FUNDED.has(one));
  // IN_REVIEW and ERROR leave it open, but allow REFUNDING only once the funds were seen.
  const isKnown = history !== undefined || (status !== 'IN_REVIEW' && status !== 'ERROR');
  const byMoves = isKnown ? false : (allowedStatuses?.includes('REFUNDING') ?? null);
  return {
    status,
    funds: seen || byMoves,
    paymentProcessed: reached.has('PAYMENT_PROCESSED'),
    sourceTransactionId: order.sourceTransactionId ?? null,
    destinationTransactionId: order.destinationTransactionId ?? null,
    returned: order.returnDetails !== undefined,
    details: {
      sourceAmount: order.sourceAmount,
      sourceCurrency: order.sourceCurrency,
      toAmount: order.destinationAmount ?? null,
      depositInstructions: order.depositInstructions,
      returnDetails: order.returnDetails,
    },
  };
}
