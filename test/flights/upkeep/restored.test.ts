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

test('acts that the chain shows and the database forgot hold the work, are paged once, and end with the comparison', async () => {
  desk = await openDesk();
  const { world, ask } = desk;
  const made = await world.intent('off_1');
  const restore = await dump(world);
  await world.book(made);
  await world.work();
  const before = await world.sums(made);
  await restore();
  expect((await world.show(made)).status).toBe('active');
  const { worker, reconcile, call } = world.service(undefined, { sweepsAtStart: true });
  for (let starts = 0; starts < 2; starts++) expect(await worker.runDue()).toEqual({ worked: 0, nextDueAtMs: null });
  expect(await pagesOf(world)).toEqual(['database_behind']);
  expect((await world.call('/ready')).status).toBe(503);
  expect((await ask('/stuck')).body.bookings).toEqual([]);
  await reconcile({ isDryRun: false });
  expect((await call('/ready')).status).toBe(200);
  expect((await world.show(made)).status).toBe('booked');
  expect(await world.sums(made)).toEqual(before);
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
