import { afterAll, beforeAll, expect, test } from 'vitest';
import { rounds } from '../rounds.ts';
import type { WebService } from '../web.ts';
import { callerOf, type OrderAnswer, openStack, pathOf, type SeenOrder, type Stack } from './stack.ts';

/** Writers at once: no update is lost, none is applied twice (CONTRACT, section 11). */

let stack: Stack;
beforeAll(async () => {
  stack = await openStack();
});
afterAll(() => stack.close());

interface History {
  readonly order: SeenOrder;
  readonly history: readonly { readonly version: number; readonly fields: readonly string[] }[];
}

/** Of each of two clients. */
const WRITES = rounds(25, 500);

test('two clients that write one order many times under If-Match: each write that is told so is one version, no other counts', async () => {
  const { id } = await stack.order();
  const start = (await stack.show(id)).version;
  const { key } = stack;
  const written: string[] = [];
  /** Reads, writes what nobody else writes, and reads again when it was too late. */
  const client = async (name: string, service: WebService) => {
    const call = callerOf(service.fetch);
    for (let number = 1; number <= WRITES; ) {
      const seen = await call<OrderAnswer>(pathOf('partner', 'GetOrderDetails'), { orderId: id }, { key });
      const { version } = seen.body.order;
      const amount = `${name}.${String(number).padStart(6, '0')}`;
      const answer = await call<OrderAnswer>(
        pathOf('partner', 'UpdateOrder'),
        { orderId: id, toAmount: amount },
        { key, headers: { 'if-match': `"${version}"` } },
      );
      if (answer.status === 200) {
        expect(answer.body.order).toMatchObject({ version: version + 1, destinationAmount: amount });
        written.push(amount);
        number++;
      } else expect([answer.status, answer.body.code]).toEqual([409, 'aborted']);
    }
  };
  // The second one's service shares nothing with the first one's but the files, as another process would.
  const second = await stack.open();
  await Promise.all([client('1', stack.service), client('2', second)]);
  await second.close();
  expect(new Set(written).size).toBe(2 * WRITES);
  const { body } = await stack.partner<History>('GetOrderDetails', { orderId: id, includeHistory: true });
  expect(body.order.version).toBe(start + 2 * WRITES);
  expect(body.history.map(({ version }) => version)).toEqual(
    Array.from({ length: start + 2 * WRITES }, (_, index) => index + 1),
  );
  expect(body.order.destinationAmount).toBe(written.at(-1));
}, 120_000);

test('one transition that twenty clients ask for at once happens once', async () => {
  const { id, version } = await stack.order();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      stack.partner<OrderAnswer>('UpdateOrder', { orderId: id, status: 'FUNDS_RECEIVED' }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect((await stack.show(id)).version).toBe(version + 1);
});

test('of two moves that exclude each other one happens, and the other hears what is allowed now', async () => {
  for (let round = 0; round < 10; round++) {
    const { id } = await stack.order();
    const moves = ['CANCELED', 'FUNDS_RECEIVED'] as const;
    const answers = await Promise.all(
      moves.map((status) => stack.partner<OrderAnswer>('UpdateOrder', { orderId: id, status })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const won = moves[answers[0]?.status === 200 ? 0 : 1];
    expect((await stack.show(id)).status).toBe(won);
    expect(answers.find(({ status }) => status === 409)?.body.detail).toMatchObject({ from: won });
  }
});

test('of two source transactions at once one stays; the other is refused', async () => {
  const { id } = await stack.order();
  const given = ['source-a', 'source-b'];
  const answers = await Promise.all(
    given.map((sourceTransactionId) => stack.partner<OrderAnswer>('UpdateOrder', { orderId: id, sourceTransactionId })),
  );
  const taken = given.filter((_, index) => answers[index]?.status === 200);
  expect(taken).toHaveLength(1);
  expect((await stack.show(id)).sourceTransactionId).toBe(taken[0]);
});

test('the same Idempotency-Key from ten clients at once is one update, and all hear the same', async () => {
  const { id, version } = await stack.order();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () =>
      stack.partner<OrderAnswer>(
        'UpdateOrder',
        { orderId: id, status: 'FUNDS_RECEIVED', sourceTransactionId: 'once' },
        { headers: { 'idempotency-key': `race-${id}` } },
      ),
    ),
  );
  for (const answer of answers) {
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(answers[0]?.body);
  }
  expect((await stack.show(id)).version).toBe(version + 1);
});

test('the same Idempotency-Key with other data at once: one is done, the others are refused', async () => {
  const { id } = await stack.order();
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      stack.partner<OrderAnswer>(
        'UpdateOrder',
        { orderId: id, toAmount: `${index + 1}.5` },
        { headers: { 'idempotency-key': `other-${id}` } },
      ),
    ),
  );
  const done = answers.filter(({ status }) => status === 200);
  expect(done).toHaveLength(1);
  expect((await stack.show(id)).destinationAmount).toBe(done[0]?.body.order.destinationAmount);
  for (const { status } of answers) expect([200, 409]).toContain(status);
});

test('ten CreateOrders at once under one Idempotency-Key are one order', async () => {
  const before = (await stack.partner<{ totalCount: number }>('GetOrders', {})).body.totalCount;
  const made = await Promise.all(
    Array.from({ length: 10 }, () => stack.created({}, { headers: { 'idempotency-key': 'one-order' } })),
  );
  expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  const after = (await stack.partner<{ totalCount: number }>('GetOrders', {})).body.totalCount;
  expect(after).toBe(before + 1);
});
