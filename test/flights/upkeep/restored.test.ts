import { afterEach, expect, test } from 'vitest';
import type { RefundCase } from '../../../src/wire/flights/index.ts';
import { dump } from '../dump.ts';
import { openDesk, PAYOUT } from '../refund-desk.ts';
import type { World } from '../world.ts';

/** A database that was put back to an earlier state: what the chain shows is looked up, said, and never done again. */

let desk: Awaited<ReturnType<typeof openDesk>>;
afterEach(() => desk.world.close());

const pagesOf = async ({ store }: World) =>
  (await store.selectFrom('outbox').select('dedup_key').where('kind', '=', 'page').orderBy('dedup_key').execute()).map(
    ({ dedup_key }) => String(dedup_key.split(':')[1]),
  );

/** The dump says when the next sweep is due: a process that starts on it does not wait for that. */
const startAgain = async ({ service }: World) => {
  const { worker } = service(undefined, { sweepsAtStart: true });
  await worker.runDue();
  await worker.runDue();
  return worker;
};

test('a refund that was paid after the dump ends with its transaction, and is not paid again', async () => {
  desk = await openDesk();
  const { world, ask } = desk;
  const made = await desk.requested();
  await world.cluster.airdropUsdc(world.treasury.address, 2n * PAYOUT);
  const before = await world.sums(made);
  const path = `/refund-requests/${made.intent_id}`;
  const approve = () => ask(`${path}/approve`, { expected_payout_amount: Number(PAYOUT) });
  const restore = await dump(world);
  await approve();
  await world.work();
  const paid = (await ask<RefundCase>(path)).body;
  expect(paid.status).toBe('refunded');
  await restore();
  await approve();
  await world.work();
  const again = (await ask<RefundCase>(path)).body;
  expect([again.status, again.payout_tx_hash]).toEqual(['refunded', paid.payout_tx_hash]);
  expect((await world.sums(made)).refund - before.refund).toBe(PAYOUT);
});

test('an intent that was captured after the dump is no longer sold, and comes to a person', async () => {
  desk = await openDesk();
  const { world, ask } = desk;
  const made = await world.intent('off_1');
  const restore = await dump(world);
  await world.book(made);
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
  const before = await world.sums(made);
  await restore();
  expect((await world.show(made)).status).toBe('active');
  const worker = await startAgain(world);
  const { body: stuck } = await ask<{ bookings: unknown[] }>('/stuck');
  expect(stuck.bookings).toMatchObject([{ intent_id: made.intent_id }]);
  expect((await world.show(made)).operator_review_since).not.toBeNull();
  expect(await pagesOf(world)).toEqual(['booking_stuck', 'database_behind']);
  expect((await world.call('/ready')).status).toBe(503);
  const decision = { decision: 'ticketed', booking_reference: 'ABC123' };
  expect((await ask(`/stuck/${made.intent_id}/resolve`, decision)).status).toBe(200);
  world.clock.advance(20_000);
  await worker.runDue();
  // Well before the next sweep is due.
  world.clock.advance(20_000);
  await worker.runDue();
  expect((await world.call('/ready')).status).toBe(200);
  expect((await world.show(made)).status).toBe('booked');
  expect(await world.sums(made)).toEqual(before);
});

test('a refund that was paid after the dump, and waits for a decision again, is said', async () => {
  desk = await openDesk();
  const { world, ask } = desk;
  const made = await desk.requested();
  await world.cluster.airdropUsdc(world.treasury.address, 2n * PAYOUT);
  const restore = await dump(world);
  await ask(`/refund-requests/${made.intent_id}/approve`, { expected_payout_amount: Number(PAYOUT) });
  await world.work();
  await restore();
  await startAgain(world);
  expect(await pagesOf(world)).toContain('database_behind');
});

test('a refund that was paid after the dump cannot be rejected: its money has gone back', async () => {
  desk = await openDesk();
  const { world, ask } = desk;
  const made = await desk.requested();
  await world.cluster.airdropUsdc(world.treasury.address, 2n * PAYOUT);
  const path = `/refund-requests/${made.intent_id}`;
  const approve = () => ask(`${path}/approve`, { expected_payout_amount: Number(PAYOUT) });
  const restore = await dump(world);
  await approve();
  await world.work();
  const before = await world.sums(made);
  await restore();
  for (const dry_run of [true, false]) {
    const answer = await ask(`${path}/reject`, { reason: 'Not covered.', dry_run });
    expect([answer.status, answer.body.code]).toEqual([409, 'case_already_decided']);
  }
  await approve();
  await world.work();
  expect((await ask<RefundCase>(path)).body.status).toBe('refunded');
  expect(await world.sums(made)).toEqual(before);
});
