import { afterAll, beforeAll, expect, test } from 'vitest';
import { intent as intentSchema } from '../../src/wire/flights/schema.ts';
import { openDesk, PAYOUT } from './refund-desk.ts';

let desk: Awaited<ReturnType<typeof openDesk>>;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.world.close());

const idOf = async (intentId: string) =>
  (
    await desk.world.store
      .selectFrom('refund_requests')
      .select('request_id')
      .where('intent_id', '=', intentId)
      .executeTakeFirstOrThrow()
  ).request_id;

test("the intent says how its refund request stands, in nobody's words", async () => {
  const { world, ask } = desk;
  const made = await desk.requested();
  const request = async () => intentSchema.parse(await world.show(made)).refund_request;
  expect(await request()).toMatchObject({ state: 'received', decided_at: null, payout_amount: null });
  const id = await idOf(made.intent_id);
  await ask(`/refund-requests/${id}/claim`, {});
  expect(await request()).toMatchObject({ state: 'claimed' });
  await ask(`/refund-requests/${id}/approve`, {});
  await world.work();
  expect(await request()).toMatchObject({
    state: 'paid',
    payout_amount: Number(PAYOUT),
    payout_tx_hash: expect.any(String),
    decided_at: expect.any(String),
  });
  expect(JSON.stringify(await world.show(made))).not.toContain('leg');
});

test('a declined refund request is shown as rejected', async () => {
  const { world, ask } = desk;
  const made = await desk.requested();
  const id = await idOf(made.intent_id);
  await ask(`/refund-requests/${id}/claim`, {});
  await ask(`/refund-requests/${id}/reject`, { reason: 'Not refundable.' });
  const { refund_request: request } = await world.show(made);
  expect(request).toMatchObject({ state: 'rejected', payout_tx_hash: null });
});
