import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RefundCase, RefundPlan, Stuck } from '../../src/wire/flights/index.ts';
import { openDesk, PAYOUT } from './refund-desk.ts';

/** The treasury's owner takes money out as they like; an approval that it cannot pay for is not lost, nor paid twice. */

let desk: Awaited<ReturnType<typeof openDesk>>;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.world.close());

const caseOf = async (intentId: string) => (await desk.ask<RefundCase>(`/refund-requests/${intentId}`)).body;
const payouts = (intentId: string) =>
  desk.world.store
    .selectFrom('effects')
    .select('state')
    .where('subject', '=', intentId)
    .where('kind', '=', 'payout')
    .execute();

test('an approval of more than the treasury holds is refused and changes nothing; filled up, it pays', async () => {
  const { world, ask } = desk;
  const made = await desk.requested();
  const path = `/refund-requests/${made.intent_id}/approve`;
  await world.drain(world.treasury);
  await world.cluster.airdropUsdc(world.treasury.address, PAYOUT - 1n);
  const before = await world.sums(made);

  const refused = await ask(path, {});
  for (const answer of [refused, await ask(path, {})]) {
    expect([answer.status, answer.body.code]).toEqual([409, 'treasury_insufficient']);
    expect(answer.body.detail).toEqual({ treasury_amount: Number(PAYOUT - 1n), payout_amount: Number(PAYOUT) });
  }
  await world.work();
  expect(await world.sums(made)).toEqual(before);
  expect(await caseOf(made.intent_id)).toMatchObject({ status: 'received', decision: null, claimed_by: null });
  expect((await world.show(made)).status).toBe('booked');
  expect([...world.airline.orders.values()].at(-1)?.status).toBe('ticketed');

  await world.cluster.airdropUsdc(world.treasury.address, 1n);
  expect((await ask<RefundCase>(path, {})).body.status).toBe('refunded');
  const after = await world.sums(made);
  expect([after.treasury, after.refund - before.refund]).toEqual([0n, PAYOUT]);
});

test.each([
  ['goes on by itself once it is filled up', 60_000, 'approved'],
  ['is stuck when that takes too long, and goes on when it is approved again', 3_600_000, 'stuck'],
] as const)('an approval whose treasury is emptied before the pay-out %s', async (_how, waited, status) => {
  const { world, ask } = desk;
  const made = await desk.requested();
  const path = `/refund-requests/${made.intent_id}/approve`;
  await world.cluster.airdropUsdc(world.treasury.address, PAYOUT);
  world.airline.script.before.cancel = () => world.drain(world.treasury);
  const before = await world.sums(made);

  const approved = await ask<RefundCase>(path, { expected_payout_amount: Number(PAYOUT) });
  expect([approved.status, approved.body.status]).toEqual([200, 'approved']);
  expect(approved.body.last_error).toBe('treasury_insufficient');
  // Pressed again it says the same, and cancels nothing twice.
  world.airline.script.before.cancel = () => Promise.reject(new Error('cancelled twice'));
  const pressed = await ask<RefundCase>(path, {});
  expect([pressed.status, pressed.body.status, pressed.body.last_error]).toEqual([
    200,
    'approved',
    'treasury_insufficient',
  ]);
  // A plan of what is approved shows what was approved, one of another amount shows that, and neither does any of it.
  const planned = await ask<RefundPlan>(path, { dry_run: true });
  expect(planned.body).toMatchObject({ dry_run: true, payout_amount: Number(PAYOUT), overridden: false });
  const other = await ask<RefundPlan>(path, { dry_run: true, payout_amount: 1, note: 'less' });
  expect(other.body).toMatchObject({ dry_run: true, payout_amount: 1, overridden: true });
  expect(await payouts(made.intent_id)).toEqual([]);
  await world.work(waited);
  expect(await caseOf(made.intent_id)).toMatchObject({
    status,
    last_error: 'treasury_insufficient',
    decision: { payout_amount: Number(PAYOUT) },
  });
  const stuck = (await ask<Stuck>('/stuck')).body.refund_requests.map((one) => one.intent_id);
  expect(stuck).toEqual(status === 'stuck' ? [made.intent_id] : []);
  expect((await world.sums(made)).refund).toBe(before.refund);
  expect(await payouts(made.intent_id)).toEqual([]);
  delete world.airline.script.before.cancel;

  await world.cluster.airdropUsdc(world.treasury.address, PAYOUT);
  if (status === 'stuck') await ask(path, {});
  else await world.work();
  expect(await caseOf(made.intent_id)).toMatchObject({ status: 'refunded', last_error: null });
  expect((await world.show(made)).status).toBe('refunded');
  const after = await world.sums(made);
  expect([after.treasury, after.refund - before.refund]).toEqual([0n, PAYOUT]);
  expect(await payouts(made.intent_id)).toEqual([{ state: 'done' }]);
  expect((await ask(path, { dry_run: true })).body.code).toBe('case_already_decided');
});
