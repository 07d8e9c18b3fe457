import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OrderAnswer, openStack, type Stack } from '../stack.ts';

/** When an order changed, as its partner and its history say it. */

let stack: Stack;
beforeAll(async () => {
  stack = await openStack();
});
afterAll(() => stack.close());

const HOUR_MS = 3_600_000;
const moved = async (orderId: string, status: string) => {
  const answer = await stack.partner<OrderAnswer>('UpdateOrder', { orderId, status });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.order;
};

test('an update is shown with its time, and the time of the creation stays', async () => {
  const laid = await stack.order();
  stack.clock.advance(HOUR_MS);
  const next = await moved(laid.id, 'FUNDS_RECEIVED');
  expect(Date.parse(next.updatedAt) - Date.parse(laid.updatedAt)).toBeGreaterThanOrEqual(HOUR_MS);
  expect(next.createdAt).toBe(laid.createdAt);
  expect(await stack.show(laid.id)).toMatchObject({ createdAt: laid.createdAt, updatedAt: next.updatedAt });
});

test('no update is older than the one before it, where the clock was set back in between', async () => {
  const laid = await stack.order();
  const first = await moved(laid.id, 'FUNDS_RECEIVED');
  stack.clock.advance(-HOUR_MS);
  const second = await moved(laid.id, 'PAYMENT_SUBMITTED');
  expect(Date.parse(second.updatedAt)).toBeGreaterThanOrEqual(Date.parse(first.updatedAt));
  stack.clock.advance(HOUR_MS);
});
