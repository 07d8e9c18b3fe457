import type { OrderStatus } from '../../../kernel/domain/order-moves.ts';
import {
  capital,
  fieldLines,
  listLines,
  type Paint,
  type Screen,
  textWidth,
  utcMinute,
  utcTime,
  type View,
  wrap,
  wrapBehind,
} from '../../../terminal/index.ts';
import type { Order, OrderChange } from '../../../wire/partner/index.ts';

/** An order with the fields that only this service adds. */
export type ShownOrder = Order & {
  readonly allowedStatuses?: readonly OrderStatus[] | undefined;
  readonly history?: readonly OrderChange[] | undefined;
};

export interface OrderPage {
  readonly orders: readonly Order[];
  readonly totalCount: number;
  readonly nextPageToken?: string;
}

/** Statuses that end `watch`: `done` where the order ended as intended. */
export const ENDS: Readonly<Partial<Record<OrderStatus, 'done' | 'failed'>>> = {
  PAYMENT_PROCESSED: 'done',
  REFUNDED: 'failed',
  CANCELED: 'failed',
  ERROR: 'failed',
};

/** `AWAITING_FUNDS` reads as `Awaiting funds`. */
export const statusWords = (status: string): string => capital(status.toLowerCase().replaceAll('_', ' '));

function statusText(status: string, paint: Paint): string {
  const words = statusWords(status);
  if (status === 'PAYMENT_PROCESSED') return paint.good(words);
  if (status === 'ERROR') return paint.bad(words);
  if (status === 'REFUNDED' || status === 'CANCELED') return paint.dim(words);
  return paint.warn(words);
}

/** Pads decimals at their end, so that their points align. */
export function alignedAmounts(amounts: readonly (string | undefined)[]): string[] {
  const behind = (amount: string) => amount.length - (amount.includes('.') ? amount.indexOf('.') : amount.length);
  const most = Math.max(0, ...amounts.map((amount) => (amount === undefined ? 0 : behind(amount))));
  return amounts.map((amount) =>
    amount === undefined ? `–${' '.repeat(most)}` : amount + ' '.repeat(most - behind(amount)),
  );
}

const typeWords = (type: string): string => (type === 'OFFRAMP' ? 'Off-ramp' : 'On-ramp');

export const ordersView: View<OrderPage> = {
  list: 'orders',
  lines({ orders, totalCount }, screen) {
    if (orders.length === 0) return ['No orders.'];
    const pays = alignedAmounts(orders.map((order) => order.sourceAmount));
    const receives = alignedAmounts(orders.map((order) => order.destinationAmount));
    const lines = listLines(screen, orders, [
      { title: 'Order', cuts: true, cell: ({ id }) => id },
      { title: 'Status', cell: ({ status }) => statusText(status, screen.paint) },
      { title: 'Type', rank: 4, cell: (order) => typeWords(order.transactionType) },
      { title: 'Pays', align: 'right', rank: 1, cell: (_order, index) => pays[index] ?? '' },
      { title: '', rank: 1, cell: (order) => order.sourceCurrency },
      { title: 'Receives', align: 'right', rank: 2, cell: (_order, index) => receives[index] ?? '' },
      { title: '', rank: 2, cell: (order) => order.destinationCurrency },
      { title: 'Updated, UTC', rank: 3, cell: (order) => utcMinute(order.updatedAt) },
      { title: 'Method', rank: 5, cell: (order) => order.paymentMethod },
      { title: 'Customer', rank: 6, cell: (order) => order.customerId ?? '' },
    ]);
    return totalCount > orders.length ? [...lines, screen.paint.dim(`${orders.length} of ${totalCount}`)] : lines;
  },
  rows: ({ orders }) =>
    orders.map((order) => [
      order.id,
      order.status,
      order.transactionType,
      order.sourceAmount,
      order.sourceCurrency,
      order.destinationAmount ?? null,
      order.destinationCurrency,
      order.paymentMethod,
      order.updatedAt,
    ]),
};

const amountOf = (amount: string | undefined, currency: string): string => `${amount ?? '–'} ${currency}`;

/** Shows an order on one screen: its status, its amounts, how the customer pays, and where it may go. */
export function orderLines(order: ShownOrder, { paint, width }: Screen): string[] {
  const deposit = Object.entries(order.depositInstructions ?? {}).filter(([, value]) => value !== undefined);
  return [
    `${paint.bold(order.id)}  ${statusText(order.status, paint)}`,
    ...fieldLines(paint.dim, [
      ['Type', `${typeWords(order.transactionType)} by ${order.paymentMethod} on ${order.network}`],
      ['Pays', amountOf(order.sourceAmount, order.sourceCurrency)],
      ['Receives', amountOf(order.destinationAmount, order.destinationCurrency)],
      ['Partner', order.partnerId],
      ['Customer', order.customerId],
      ['External id', order.externalId],
      ['Source tx', order.sourceTransactionId],
      ['Destination tx', order.destinationTransactionId],
      ['Reason', order.reason],
      ['Customer sees', order.customerFacingReason],
      ['Returned', order.returnDetails?.reason],
      ['Refund', order.returnDetails?.refundReferenceId],
      ['Created', utcTime(order.createdAt)],
      ['Updated', utcTime(order.updatedAt)],
      ['Version', order.version === undefined ? null : String(order.version)],
    ]),
    ...(deposit.length > 0 ? ['', paint.bold('How the customer pays')] : []),
    ...fieldLines(
      paint.dim,
      deposit.map(([name, value]) => [fieldWords(name), String(value)] as const),
    ),
    ...(order.history
      ? ['', paint.bold('History'), ...order.history.flatMap((change) => historyLines(change, width))]
      : []),
    ...allowedLines(order, { paint, width }),
  ];
}

function allowedLines({ status, allowedStatuses }: ShownOrder, { paint, width }: Screen): string[] {
  if (allowedStatuses === undefined) return [];
  if (allowedStatuses.length === 0) return ['', paint.dim(`${status} is final.`)];
  return ['', ...wrapBehind(`${paint.dim('Can go to')}  `, allowedStatuses.join(', '), width)];
}

function historyLines({ at, fromStatus, toStatus, fields, actor }: OrderChange, width: number): string[] {
  const moved = fromStatus === undefined || fromStatus === toStatus ? toStatus : `${fromStatus} → ${toStatus}`;
  const by = actor?.startsWith('key:') ? ` by ${actor.slice(4)}` : '';
  const whole = (fields.length > 0 ? `${moved} (${fields.join(', ')})` : moved) + by;
  return wrapBehind(`${utcTime(at)}  `, whole, width);
}

/** `bankRoutingNumber` reads as `Bank routing number`; abbreviations stay. */
const fieldWords = (name: string): string =>
  /^(iban|bic|clabe)$/.test(name)
    ? name.toUpperCase()
    : capital(name.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`));

/** An entry of `watch`: every field that changed since the order was last seen (`before`; null at first). */
export function changeLines(order: ShownOrder, before: ShownOrder | null, { paint, width }: Screen): string[] {
  const time = `${utcTime(order.updatedAt)}  `;
  const moved =
    before === null || before.status === order.status
      ? statusText(order.status, paint)
      : `${statusWords(before.status)} → ${statusText(order.status, paint)}`;
  const facts = before === null ? [] : changedFields(before, order);
  const whole = [time + moved, ...facts].join('  ');
  if (textWidth(whole) <= width) return [whole];
  return [time + moved, ...facts.flatMap((fact) => wrap(fact, width - 4).map((line) => `    ${line}`))];
}

/** Fields that every change touches, or that its line shows already. */
const SAID = new Set(['status', 'version', 'updatedAt', 'allowedStatuses', 'history']);
const SHORT: Readonly<Record<string, string>> = {
  sourceTransactionId: 'source tx',
  destinationTransactionId: 'destination tx',
  destinationAmount: 'receives',
  refundReferenceId: 'refund',
};

/** `source tx tx-1`; `receives 99 (was 98)`; `reason removed`. */
function changedFields(before: object, now: object): string[] {
  const [then, given] = [before, now].map((fields) => new Map(Object.entries(fields)));
  const names = [...new Set([...(then?.keys() ?? []), ...(given?.keys() ?? [])])];
  return names.flatMap((name): string[] => {
    const [old, value]: unknown[] = [then?.get(name), given?.get(name)];
    if (SAID.has(name) || old === value) return [];
    if (isFields(old) || isFields(value)) return changedFields(isFields(old) ? old : {}, isFields(value) ? value : {});
    const words = SHORT[name] ?? fieldWords(name).replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
    if (value === undefined) return [`${words} removed`];
    return [`${words} ${String(value)}${old === undefined ? '' : ` (was ${String(old)})`}`];
  });
}

const isFields = (value: unknown): value is object => typeof value === 'object' && value !== null;
