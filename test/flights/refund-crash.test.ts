import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RefundCase } from '../../src/wire/flights/index.ts';
import { everyNth } from '../rounds.ts';
import { Died, mortal } from './mortal.ts';
import { openDesk, PAYOUT } from './refund-desk.ts';

/**
 * The service dies while an operator's approval is carried out: before every call to the database, the cluster or the
 * airline, and after it with the answer lost. Another process's worker ends it, or the operator presses again.
 */

/** Between the moments of an approval at which it dies, from a random first one. */
const STRIDE = everyNth(17);

let desk: Awaited<ReturnType<typeof openDesk>>;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.world.close());

/** Approves with a service that dies at a moment; how it went on is for the fresh service to find out. */
async function approval(diesAt: number): Promise<{ died: boolean }> {
  const { world, ask } = desk;
  const made = await desk.requested();
  const path = `/refund-requests/${made.intent_id}`;
  const before = await world.sums(made);
  const paidOut = async () => (await world.sums(made)).refund - before.refund;

  const { wrap, died } = mortal(diesAt);
  const doomed = world.service(wrap);
  await ask(`${path}/approve`, { expected_payout_amount: Number(PAYOUT) }, doomed.call);
  await doomed.worker.runDue().catch((error: unknown) => {
    if (!(error instanceof Died)) throw error;
  });
  expect([0n, PAYOUT]).toContain(await paidOut());

  const next = world.service();
  world.clock.advance(61_000);
  await world.work(undefined, next.worker);
  const found = (await ask<RefundCase>(path, undefined, next.call)).body;
  // Died before the decision was on record: then nothing moved, and the operator decides once more.
  expect(['received', 'refunded']).toContain(found.status);
  if (found.status === 'received') {
    expect(await paidOut()).toBe(0n);
    await ask(`${path}/approve`, {}, next.call);
  } else {
    // The operator, whose first try was answered with nothing, approves again and is shown what became of it.
    const again = await ask<RefundCase>(`${path}/approve`, {}, next.call);
    expect([again.status, again.body.status]).toEqual([200, 'refunded']);
  }
  world.clock.advance(61_000);
  await world.work(undefined, next.worker);

  expect(await world.sums(made)).toEqual({
    ...before,
    refund: before.refund + PAYOUT,
    treasury: before.treasury - PAYOUT,
  });
  const ended = (await ask<RefundCase>(path)).body;
  expect(ended).toMatchObject({ status: 'refunded', decision: { payout_amount: Number(PAYOUT) } });
  expect(ended.payout_tx_hash).not.toBeNull();
  expect(await world.show(made)).toMatchObject({
    status: 'refunded',
    refund_reason: 'refund_request_approved',
    refund_tx_hash: ended.payout_tx_hash,
  });
  expect(await countOf(made.intent_id)).toEqual({ payouts: 1, cancels: 1, mails: 1 });
  return { died: died() };
}

/** What happened for an intent, as the service has it on record. */
async function countOf(intentId: string) {
  const { store } = desk.world;
  const effects = await store
    .selectFrom('effects')
    .select('kind')
    .where('subject', '=', intentId)
    .where('state', '=', 'done')
    .execute();
  const mails = await store
    .selectFrom('outbox')
    .select('dedup_key')
    .where('intent_id', '=', intentId)
    .where('dedup_key', 'like', 'mail:refund_request_approved%')
    .execute();
  const done = (kind: string) => effects.filter((one) => one.kind === kind).length;
  return { payouts: done('payout'), cancels: done('airline_cancel'), mails: mails.length };
}

test('an approval that dies at any moment is paid out at most once, and in the end exactly once', async () => {
  const first = 1 + Math.floor(Math.random() * STRIDE);
  let moments = 0;
  for (let diesAt = first; ; diesAt += STRIDE) {
    const { died } = await approval(diesAt).catch((error: unknown) => {
      throw new Error(`died at moment ${diesAt}`, { cause: error });
    });
    if (!died) break;
    moments++;
  }
  expect(moments).toBeGreaterThan(2);
}, 300_000);
