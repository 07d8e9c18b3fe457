import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OrderAnswer, openStack, type Stack } from './stack.ts';

/**
 * All ordered pairs of order statuses over HTTP. The table stands here a second time, copied by hand from what was
 * decided (CONTRACT, section 11), so that a slip in the service's own table is a failure and not a new rule.
 */

const STATUSES = [
  ...['AWAITING_FUNDS', 'FUNDS_RECEIVED', 'PAYMENT_SUBMITTED', 'PAYMENT_PROCESSED', 'REFUNDING', 'REFUNDED'],
  ...['CANCELED', 'ERROR', 'IN_REVIEW'],
];

/** How to come to a status, and where it leads on to. Of IN_REVIEW and ERROR there are two: with funds and without. */
const SITUATIONS: readonly {
  readonly name: string;
  readonly path: readonly string[];
  readonly to: readonly string[];
}[] = [
  { name: 'AWAITING_FUNDS', path: [], to: ['FUNDS_RECEIVED', 'IN_REVIEW', 'CANCELED', 'ERROR'] },
  {
    name: 'IN_REVIEW without funds',
    path: ['IN_REVIEW'],
    to: ['AWAITING_FUNDS', 'FUNDS_RECEIVED', 'ERROR', 'CANCELED'],
  },
  { name: 'IN_REVIEW with funds', path: ['FUNDS_RECEIVED', 'IN_REVIEW'], to: ['FUNDS_RECEIVED', 'ERROR', 'REFUNDING'] },
  {
    name: 'FUNDS_RECEIVED',
    path: ['FUNDS_RECEIVED'],
    to: ['IN_REVIEW', 'PAYMENT_SUBMITTED', 'PAYMENT_PROCESSED', 'REFUNDING', 'ERROR'],
  },
  {
    name: 'PAYMENT_SUBMITTED',
    path: ['FUNDS_RECEIVED', 'PAYMENT_SUBMITTED'],
    to: ['PAYMENT_PROCESSED', 'REFUNDING', 'ERROR'],
  },
  { name: 'PAYMENT_PROCESSED', path: ['FUNDS_RECEIVED', 'PAYMENT_SUBMITTED', 'PAYMENT_PROCESSED'], to: ['REFUNDING'] },
  { name: 'REFUNDING', path: ['FUNDS_RECEIVED', 'REFUNDING'], to: ['REFUNDED', 'ERROR'] },
  { name: 'CANCELED', path: ['CANCELED'], to: ['REFUNDING'] },
  { name: 'ERROR without funds', path: ['ERROR'], to: ['IN_REVIEW', 'CANCELED'] },
  { name: 'ERROR with funds', path: ['FUNDS_RECEIVED', 'ERROR'], to: ['IN_REVIEW', 'FUNDS_RECEIVED', 'REFUNDING'] },
  { name: 'REFUNDED', path: ['FUNDS_RECEIVED', 'REFUNDING', 'REFUNDED'], to: [] },
];

/** What goes with a move, where the table asks for something. */
const withNeeds = (from: string, to: string): Record<string, unknown> => ({
  status: to,
  ...(to === 'ERROR' ? { reason: 'The bank refused the transfer.' } : {}),
  ...(from === 'PAYMENT_PROCESSED' && to === 'REFUNDING'
    ? { returnDetails: { reason: 'Returned by the receiving bank.', refundReferenceId: 'rf_1' } }
    : {}),
  ...(from === 'CANCELED' && to === 'REFUNDING' ? { sourceTransactionId: 'late-funds-1' } : {}),
});

let stack: Stack;
beforeAll(async () => {
  stack = await openStack();
});
afterAll(() => stack.close());

const update = (orderId: string, body: object) => stack.partner<OrderAnswer>('UpdateOrder', { orderId, ...body });

async function orderAt(path: readonly string[]): Promise<{ id: string; status: string }> {
  const { id } = await stack.order();
  let status = 'AWAITING_FUNDS';
  for (const to of path) {
    const moved = await update(id, withNeeds(status, to));
    if (moved.status !== 200) throw new Error(`${status} -> ${to}: ${JSON.stringify(moved.body)}`);
    status = to;
  }
  return { id, status };
}

test('every status is a situation', () => {
  const reached = new Set(SITUATIONS.map(({ path }) => path.at(-1) ?? 'AWAITING_FUNDS'));
  expect([...reached].sort()).toEqual([...STATUSES].sort());
});

describe.each(SITUATIONS)('from $name', ({ path, to: allowed }) => {
  test('the table decides over all nine, and a refusal tells from, to and the allowed ones', async () => {
    for (const to of STATUSES) {
      const { id, status: from } = await orderAt(path);
      const before = await stack.show(id);
      const answer = await update(id, withNeeds(from, to));
      const after = await stack.show(id);
      const pair = `${from} -> ${to}`;
      if (to === from) {
        expect([pair, answer.status]).toEqual([pair, 200]);
        expect(after.status).toBe(from);
      } else if (allowed.includes(to)) {
        expect([pair, answer.status, answer.body.order?.status]).toEqual([pair, 200, to]);
        expect(after).toEqual(answer.body.order);
      } else {
        expect([pair, answer.status, answer.body.code]).toEqual([pair, 409, 'aborted']);
        expect(answer.body.detail).toMatchObject({ reason: 'invalid_status_transition', from, to });
        expect([...(answer.body.detail?.allowed ?? [])].sort()).toEqual([...allowed].sort());
        expect(after).toEqual(before);
      }
    }
  });
});

describe('what goes with a move', () => {
  test.each([
    ['ERROR without reason', ['FUNDS_RECEIVED'], { status: 'ERROR' }, 'reason'],
    ['ERROR with an empty reason', ['FUNDS_RECEIVED'], { status: 'ERROR', reason: '' }, 'reason'],
    [
      'PAYMENT_PROCESSED to REFUNDING without returnDetails',
      ['FUNDS_RECEIVED', 'PAYMENT_PROCESSED'],
      { status: 'REFUNDING' },
      'returnDetails',
    ],
    [
      'PAYMENT_PROCESSED to REFUNDING with empty returnDetails',
      ['FUNDS_RECEIVED', 'PAYMENT_PROCESSED'],
      { status: 'REFUNDING', returnDetails: {} },
      'returnDetails',
    ],
    ['CANCELED to REFUNDING without sourceTransactionId', ['CANCELED'], { status: 'REFUNDING' }, 'sourceTransactionId'],
  ] as const)('%s is 400 that names the field, and nothing moves', async (_, path, body, field) => {
    const { id, status } = await orderAt(path);
    const answer = await update(id, body);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_argument']);
    expect(JSON.stringify(answer.body)).toContain(field);
    expect((await stack.show(id)).status).toBe(status);
  });

  test('funds once received stay received: through review, error and back', async () => {
    const { id } = await orderAt(['IN_REVIEW', 'FUNDS_RECEIVED', 'ERROR', 'IN_REVIEW']);
    expect((await update(id, { status: 'CANCELED' })).status).toBe(409);
    expect((await update(id, { status: 'AWAITING_FUNDS' })).status).toBe(409);
    expect((await update(id, { status: 'REFUNDING' })).status).toBe(200);
  });
});
