import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkRows } from '../../../src/cli/apply/check.ts';
import { planRows, standingOf } from '../../../src/cli/apply/plan.ts';
import { rowOf } from '../../../src/cli/apply/read.ts';
import { ORDER_STATUSES } from '../../../src/kernel/domain/order-moves.ts';
import type { GetOrderDetailsResponse } from '../../../src/wire/partner/index.ts';
import { openStack, type Stack } from '../../partner/stack.ts';

/** A plan promises what the service does: rows of any kind, to orders that have come any way. */

let stack: Stack;
beforeAll(async () => {
  stack = await openStack();
});
afterAll(() => stack.close());

const maybe = <T>(...values: readonly T[]) => fc.constantFrom<T | undefined>(undefined, undefined, ...values);
/** Most rows have none. */
const FAULTS: readonly object[] = [
  ...Array.from({ length: 30 }, () => ({})),
  { status: 'DONE' },
  { status: 'error', reason: ' ' },
  { sourceTransactionId: ' ' },
  { destinationTransactionId: 'x'.repeat(201) },
  { reason: '\u200b' },
  { returnDetails: { reason: ' ' } },
  { returnDetails: { no: 1 } },
  { depositInstructions: { bankName: '' } },
  { depositInstructions: { reference: 'a', depositMessage: 'b' } },
  { depositInstructions: { accountNumber: 'a', bankAccountNumber: 'a' } },
  { toAmount: '1e3' },
  { toAmount: '-1' },
];
const anyUpdate = fc
  .record({
    status: maybe(...ORDER_STATUSES),
    sourceTransactionId: fc.constantFrom(...Array.from({ length: 8 }, () => undefined), 's1', 's1', 's2'),
    destinationTransactionId: maybe('d1', 'd1', 'd2'),
    reason: maybe('r', 'r', 'r', 'r'),
    returnDetails: maybe<object>({}, { reason: 'back' }, { refundReferenceId: 'rf' }),
    depositInstructions: maybe<object>({}, { iban: 'x' }, { reference: 'a', bankName: 'b' }),
    toAmount: maybe('1', '1.50'),
    fault: fc.constantFrom(...FAULTS),
  })
  .map(
    ({ fault, ...fields }): Record<string, unknown> => ({
      customerFacingReason: 'words',
      ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
      ...fault,
    }),
  );

/** What a dry run says of an update to an order as it is shown. */
async function planned(update: Record<string, unknown> & { orderId: string }): Promise<boolean> {
  const seen = await stack.partner<GetOrderDetailsResponse>('GetOrderDetails', {
    orderId: update.orderId,
    includeHistory: true,
  });
  const { rows, issues } = rowOf({ row: 1, line: 1 }, update);
  const { checked, issues: wrong } = checkRows(rows);
  if (issues.length + wrong.length > 0) return false;
  const [row] = planRows(checked, new Map([[update.orderId, standingOf(seen.body)]]));
  return row?.why === null;
}

test('what a plan lets through the service takes, and what it refuses the service refuses', async () => {
  let refused = 0;
  let taken = 0;
  const wrong: unknown[] = [];
  for (const updates of fc.sample(fc.array(anyUpdate, { minLength: 4, maxLength: 14 }), {
    numRuns: 30,
    seed: 20261122,
  })) {
    const { id: orderId } = await stack.order();
    for (const update of updates) {
      // `error` is understood from a file; the service is sent what the plan was made of.
      const asked = { orderId, ...update, ...(update.status === 'error' ? { status: 'ERROR' } : {}) };
      const promise = await planned(asked);
      const answer = await stack.partner('UpdateOrder', asked);
      if (promise !== (answer.status === 200)) wrong.push([asked, promise, answer.status, answer.body]);
      if (answer.status === 200) taken++;
      else refused++;
    }
  }
  expect(wrong).toEqual([]);
  expect(refused).toBeGreaterThan(50);
  expect(taken).toBeGreaterThan(50);
});

test('a plan of several rows of one order goes on from row to row as the service does', async () => {
  for (const updates of fc.sample(fc.array(anyUpdate, { minLength: 3, maxLength: 8 }), { numRuns: 30, seed: 7 })) {
    const { id: orderId } = await stack.order();
    const seen = await stack.partner<GetOrderDetailsResponse>('GetOrderDetails', { orderId, includeHistory: true });
    const { checked } = checkRows(
      updates.flatMap((update, index) => rowOf({ row: index + 1, line: index + 1 }, { orderId, ...update }).rows),
    );
    const plan = planRows(
      checked.filter(({ update }) => !JSON.stringify(update).includes('"no"')),
      new Map([[orderId, standingOf(seen.body)]]),
    );
    for (const { row, kind, to } of plan) {
      if (kind === 'hold') break;
      const { update } = checked.find((one) => one.row === row) ?? {};
      const answer = await stack.partner<{ order?: { status: string } }>('UpdateOrder', update);
      expect([kind, answer.status, answer.body.order?.status]).toEqual(
        kind === 'refuse' ? [kind, expect.any(Number), undefined] : [kind, 200, to],
      );
    }
  }
});
