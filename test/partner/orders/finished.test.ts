import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BANK, type Failure, type OrderAnswer, openStack, type SeenOrder, type Stack } from '../stack.ts';

/** What was agreed and carried out is a record: after the end nothing of it changes, and before it each change leaves its trace. */

interface Change {
  readonly version: number;
  readonly fields: readonly string[];
  readonly actor: string;
  readonly previous?: Readonly<Record<string, unknown>>;
}

let stack: Stack;
let key: { key_id: string; key: string };
beforeAll(async () => {
  stack = await openStack();
  key = await stack.issueKey(BANK);
});
afterAll(() => stack.close());

const update = (orderId: string, body: object) =>
  stack.partner<OrderAnswer & Failure>('UpdateOrder', { orderId, ...body }, { key: key.key });

async function moved(...steps: readonly object[]): Promise<SeenOrder> {
  const { id } = await stack.order();
  for (const step of steps) {
    const { status, body } = await update(id, step);
    if (status !== 200) throw new Error(JSON.stringify(body));
  }
  return stack.show(id);
}

const ACCOUNT = { bankName: 'First', iban: 'DE89370400440532013000' };
const RETURN = { reason: 'account closed', refundReferenceId: 'R-1' };
const PROCESSED = [
  { depositInstructions: ACCOUNT, toAmount: '268' },
  { status: 'FUNDS_RECEIVED', sourceTransactionId: 'sepa-1' },
  { status: 'PAYMENT_PROCESSED' },
] as const;
const REFUNDED = [
  ...PROCESSED.slice(0, 2),
  { status: 'REFUNDING', returnDetails: RETURN },
  { status: 'REFUNDED' },
] as const;

const CHANGES = {
  toAmount: '0.01',
  depositInstructions: { bankName: 'Another' },
  returnDetails: { reason: 'another' },
};

test.each([
  ['PAYMENT_PROCESSED', PROCESSED],
  ['REFUNDED', REFUNDED],
] as const)('after %s amounts, deposit account and return details are fixed', async (status, steps) => {
  const order = await moved(...steps);
  expect(order.status).toBe(status);
  for (const [field, value] of Object.entries(CHANGES)) {
    const { status: code, body } = await update(order.id, { [field]: value });
    expect([code, body.code, body.detail?.reason, body.detail?.field]).toEqual([
      409,
      'aborted',
      'order_finished',
      field,
    ]);
  }
  // What is on record already is no change.
  const same = { status, toAmount: '268.00', depositInstructions: ACCOUNT };
  expect((await update(order.id, same)).body.order).toEqual(order);
  expect(await stack.show(order.id)).toEqual(order);
});

test('a payment that is refunded has return details of its own, and the amounts stay', async () => {
  const { id } = await moved(...PROCESSED);
  const back = { status: 'REFUNDING', returnDetails: RETURN };
  expect((await update(id, { ...back, toAmount: '1' })).body.detail?.reason).toBe('order_finished');
  expect((await update(id, back)).status).toBe(200);
  const more = { returnDetails: { ...RETURN, refundReferenceId: 'R-2' } };
  expect((await update(id, more)).status).toBe(200);
  expect((await update(id, { depositInstructions: { bankName: 'Another' } })).status).toBe(409);
});

test('the history keeps what was there before, sealed, and who changed it', async () => {
  const { id } = await moved(...PROCESSED.slice(0, 1));
  const account = { bankName: 'SecondBankOnRecord', iban: 'FR7630006000011234567890189' };
  await update(id, { depositInstructions: account, toAmount: '267', reason: 'moved' });
  await update(id, { depositInstructions: ACCOUNT });
  const { history } = (
    await stack.partner<{ history: Change[] }>('GetOrderDetails', { orderId: id, includeHistory: true })
  ).body;
  expect(history.map(({ actor }) => actor)).toEqual(['platform', ...Array(3).fill(`key:${key.key_id}`)]);
  expect(history.slice(2)).toMatchObject([
    {
      fields: ['toAmount', 'depositInstructions', 'reason'],
      previous: { toAmount: '268', depositInstructions: ACCOUNT },
    },
    { fields: ['depositInstructions'], previous: { depositInstructions: account } },
  ]);
  const disk = ['', '-wal']
    .map((end) => readFileSync(join(stack.home, `service.db${end}`)).toString('latin1'))
    .join('');
  expect(disk).not.toContain('SecondBankOnRecord');
});
