import { type Guard, isOrderStatus, type OrderStatus, TRANSITIONS } from '../../kernel/order-statuses.ts';
import type { CheckedRow } from './check.ts';

/** An order as far as a plan looks at it. */
export interface PlannedOrder {
  readonly status: OrderStatus;
  readonly sourceTransactionId?: string | undefined;
  readonly returnDetails?: object | undefined;
}

/** What a row is going to do, as far as can be told before it is sent; the service has the last word. */
export interface PlannedRow {
  readonly row: number;
  readonly line: number;
  readonly orderId: string;
  /** Where the order will stand when the row's turn comes; null for an order that is not known. */
  readonly from: OrderStatus | null;
  /** Where it will stand then; null when the row will be refused. */
  readonly to: OrderStatus | null;
  /**
   * `move` changes the status, `patch` only other fields, `repeat` asks for the status that it has, `settle` was sent
   * before and only its answer is missing, `refuse` is not allowed, `hold` follows a refused row of the same order.
   */
  readonly kind: 'move' | 'patch' | 'repeat' | 'settle' | 'refuse' | 'hold';
  /** Why it will be refused or held. */
  readonly why: string | null;
}

/**
 * What the rows will do, one after the other, to the orders as they are. `orders` lacks those that the service does
 * not know; `sent` are rows whose answer was lost.
 */
export function planRows(
  rows: readonly CheckedRow[],
  orders: ReadonlyMap<string, PlannedOrder>,
  sent: ReadonlySet<number> = new Set(),
): PlannedRow[] {
  const states = new Map<string, PlannedOrder>(orders);
  const refused = new Map<string, number>();
  return rows.map(({ row, line, update }) => {
    const { orderId } = update;
    const order = states.get(orderId);
    const common = { row, line, orderId, from: order?.status ?? null };
    if (!order) return { ...common, to: null, kind: 'refuse', why: 'the order is not known' };
    const first = refused.get(orderId);
    if (first !== undefined) {
      return { ...common, to: null, kind: 'hold', why: `row ${first} of this order comes first` };
    }
    const target = update.status ?? order.status;
    const why = sent.has(row) ? null : refusalOf(order, update);
    if (why !== null) {
      refused.set(orderId, row);
      return { ...common, to: null, kind: 'refuse', why };
    }
    states.set(orderId, {
      status: target,
      sourceTransactionId: order.sourceTransactionId ?? update.sourceTransactionId,
      returnDetails: update.returnDetails ?? order.returnDetails,
    });
    return { ...common, to: target, kind: kindOf(order, update, sent.has(row)), why: null };
  });
}

function kindOf(order: PlannedOrder, update: CheckedRow['update'], wasSent: boolean): PlannedRow['kind'] {
  if (wasSent) return 'settle';
  if (update.status !== undefined && update.status !== order.status) return 'move';
  const { orderId: _order, status: _status, ...more } = update;
  return Object.keys(more).length > 0 ? 'patch' : 'repeat';
}

/** Why an update cannot happen to an order as it is, or null. Whether its funds are here is only known to the service. */
function refusalOf(order: PlannedOrder, update: CheckedRow['update']): string | null {
  const { status, sourceTransactionId } = update;
  if (
    sourceTransactionId !== undefined &&
    order.sourceTransactionId !== undefined &&
    sourceTransactionId !== order.sourceTransactionId
  ) {
    return 'the order has another sourceTransactionId, which never changes';
  }
  if (status === undefined || status === order.status) return null;
  const guards = TRANSITIONS[order.status][status];
  if (!guards) return `${order.status} does not go to ${status}${allowedText(order.status)}`;
  const lacking = guards
    .flatMap((guard) => NEEDED[guard] ?? [])
    .find((field) => (update[field] ?? order[field]) === undefined);
  return lacking === undefined ? null : `${order.status} to ${status} needs ${lacking}`;
}

/** The fields that guards look at; whether funds are here is for the service to know. */
const NEEDED: Readonly<Partial<Record<Guard, 'returnDetails' | 'sourceTransactionId'>>> = {
  return_details: 'returnDetails',
  source_transaction: 'sourceTransactionId',
};

/** The statuses that may follow one, as far as the table alone says. */
export const statusesAfter = (status: OrderStatus): OrderStatus[] =>
  Object.keys(TRANSITIONS[status]).filter(isOrderStatus);

function allowedText(status: OrderStatus): string {
  const allowed = statusesAfter(status);
  return allowed.length === 0 ? ', it is final' : `, only to ${allowed.join(', ')}`;
}

/** How many rows make which move, most first: the plan on a few lines. */
export function planSummary(
  plan: readonly PlannedRow[],
): { from: OrderStatus | null; to: OrderStatus | null; kind: PlannedRow['kind']; rows: number }[] {
  const counted = new Map<string, { plan: PlannedRow; rows: number }>();
  for (const one of plan) {
    const key = `${one.kind} ${one.from} ${one.to}`;
    const seen = counted.get(key);
    counted.set(key, { plan: one, rows: (seen?.rows ?? 0) + 1 });
  }
  return [...counted.values()]
    .map(({ plan: { from, to, kind }, rows }) => ({ from, to, kind, rows }))
    .sort((a, b) => b.rows - a.rows);
}
