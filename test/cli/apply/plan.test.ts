import { expect, test } from 'vitest';
import type { OrderUpdate } from '../../../src/cli/apply/check.ts';
import { planRows, planSummary } from '../../../src/cli/apply/plan.ts';
import {
  FUNDED,
  ORDER_STATUSES,
  type OrderStanding,
  type OrderStatus,
  TRANSITIONS,
} from '../../../src/kernel/domain/order-moves.ts';

const rowsOf = (...updates: OrderUpdate[]) =>
  updates.map((update, index) => ({ row: index + 1, line: index + 2, update }));
/** An order as its status alone tells. */
const order = (status: OrderStatus, more: Partial<OrderStanding> = {}): OrderStanding => ({
  status,
  funds: FUNDED.has(status),
  paymentProcessed: status === 'PAYMENT_PROCESSED',
  sourceTransactionId: null,
  destinationTransactionId: null,
  returned: false,
  ...more,
});
const said = (plan: ReturnType<typeof planRows>) =>
  plan.map(({ row, kind, from, to }) => `${row} ${kind} ${from ?? '?'} ${to ?? '-'}`);

test('rows of one order are planned one after the other', () => {
  const plan = planRows(
    rowsOf(
      { orderId: 'a', status: 'FUNDS_RECEIVED' },
      { orderId: 'b', status: 'CANCELED' },
      { orderId: 'a', status: 'PAYMENT_SUBMITTED' },
      { orderId: 'a', destinationTransactionId: '0x1' },
      { orderId: 'a', status: 'PAYMENT_SUBMITTED' },
    ),
    new Map([
      ['a', order('AWAITING_FUNDS')],
      ['b', order('AWAITING_FUNDS')],
    ]),
  );
  expect(said(plan)).toEqual([
    '1 move AWAITING_FUNDS FUNDS_RECEIVED',
    '2 move AWAITING_FUNDS CANCELED',
    '3 move FUNDS_RECEIVED PAYMENT_SUBMITTED',
    '4 patch PAYMENT_SUBMITTED PAYMENT_SUBMITTED',
    '5 repeat PAYMENT_SUBMITTED PAYMENT_SUBMITTED',
  ]);
});

test('a row that is not allowed names what is, and holds the rows of its order behind it', () => {
  const plan = planRows(
    rowsOf(
      { orderId: 'a', status: 'PAYMENT_PROCESSED' },
      { orderId: 'a', status: 'FUNDS_RECEIVED' },
      { orderId: 'x', status: 'CANCELED' },
    ),
    new Map([['a', order('AWAITING_FUNDS')]]),
  );
  expect(said(plan)).toEqual(['1 refuse AWAITING_FUNDS -', '2 hold AWAITING_FUNDS -', '3 refuse ? -']);
  expect(plan[0]?.why).toContain('only to FUNDS_RECEIVED, IN_REVIEW, CANCELED, ERROR');
  expect(plan[1]?.why).toContain('row 1');
});

test('what a move needs may be on the order, in the row, or in a row before', () => {
  const refunding = { orderId: 'a', status: 'REFUNDING' } as const;
  const processed = order('PAYMENT_PROCESSED');
  const only = (update: OrderUpdate, orders: Parameters<typeof planRows>[1]) =>
    said(planRows(rowsOf(update), orders)).join();
  expect(only(refunding, new Map([['a', processed]]))).toContain('refuse');
  expect(only({ ...refunding, returnDetails: { reason: 'r' } }, new Map([['a', processed]]))).toContain('move');
  expect(only(refunding, new Map([['a', { ...processed, returned: true }]]))).toContain('move');
  const canceled = new Map([['a', order('CANCELED')]]);
  expect(only(refunding, canceled)).toContain('refuse');
  const twice = rowsOf({ orderId: 'a', sourceTransactionId: '0x1' }, refunding);
  expect(said(planRows(twice, canceled))).toEqual(['1 patch CANCELED CANCELED', '2 move CANCELED REFUNDING']);
});

test('a source transaction that is set cannot be planned away', () => {
  const orders = new Map([['a', order('FUNDS_RECEIVED', { sourceTransactionId: '0x1' })]]);
  const [row] = planRows(rowsOf({ orderId: 'a', sourceTransactionId: '0x2' }), orders);
  expect(row).toMatchObject({ kind: 'refuse', why: expect.stringContaining('never changes') });
});

test('a row that was sent before is settled, wherever its order stands now', () => {
  const orders = new Map([['a', order('PAYMENT_PROCESSED')]]);
  const plan = planRows(rowsOf({ orderId: 'a', status: 'FUNDS_RECEIVED' }), orders, { sent: new Set([1]) });
  expect(said(plan)).toEqual(['1 settle PAYMENT_PROCESSED FUNDS_RECEIVED']);
});

test('every one of the 81 pairs is planned as the table says', () => {
  for (const from of ORDER_STATUSES) {
    for (const to of ORDER_STATUSES) {
      for (const funds of [true, false, null]) {
        const update = { orderId: 'a', status: to, reason: 'r', returnDetails: { reason: 'r' } };
        const orders = new Map([['a', order(from, { funds, sourceTransactionId: '0x1' })]]);
        const [row] = planRows(rowsOf(update), orders);
        const guards = TRANSITIONS[from][to];
        const barred = funds !== null && guards?.includes(funds ? 'no_funds' : 'funds');
        const kind = from === to ? 'patch' : guards && !barred ? 'move' : 'refuse';
        expect(row?.kind, `${from} ${to} ${funds}`).toBe(kind);
      }
    }
  }
});

test('the summary counts equal moves', () => {
  const orders = new Map(['a', 'b', 'c'].map((id) => [id, order('AWAITING_FUNDS')] as const));
  const plan = planRows(
    rowsOf(
      { orderId: 'a', status: 'FUNDS_RECEIVED' },
      { orderId: 'b', status: 'CANCELED' },
      { orderId: 'c', status: 'FUNDS_RECEIVED' },
    ),
    orders,
  );
  expect(planSummary(plan)).toEqual([
    { from: 'AWAITING_FUNDS', to: 'FUNDS_RECEIVED', kind: 'move', rows: 2 },
    { from: 'AWAITING_FUNDS', to: 'CANCELED', kind: 'move', rows: 1 },
  ]);
});
