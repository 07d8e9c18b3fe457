import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RefundCase } from '../../src/wire/flights/index.ts';
import { everyNth } from '../rounds.ts';
import { Died, mortal } from './mortal.ts';
import { openDesk, PAYOUT } from './refund-desk.ts';
import { PASSENGER } from './world.ts';

/**
 * The service dies while an operator's approval is carried out: before every call to the database, the cluster or the
 * airline, and after it with the answer lost. Another process's worker ends it, or the operator presses again.
 */

/** Between the moments of an approval at which it dies, from a random first one. */
const STRIDE = everyNth(17);

const PAIR = [PASSENGER, { ...PASSENGER, given_name: 'Ben', born_on: '1988-02-01' }];

/** A request about all, and one about the second of two travellers, whose order stays for the other. */
const REQUESTS = {
  whole: { subject: '', back: PAYOUT, ended: 'refunded', file: () => desk.requested() },
  part: {
    subject: ':2',
    back: PAYOUT / 2n,
    ended: 'booked',
    file: () => desk.requested({}, (made) => desk.world.book(made, PAIR), [2]),
  },
} as const;

let desk: Awaited<ReturnType<typeof openDesk>>;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.world.close());

/** Approves with a service that dies at a moment; how it went on is for the fresh service to find out. */
async function approval(diesAt: number, which: keyof typeof REQUESTS): Promise<{ died: boolean }> {
  const { world, ask } = desk;
  const { subject, back, ended: status, file } = REQUESTS[which];
  world.airline.script.passengerCount = which === 'part' ? 2 : 1;
  const made = await file();
  const path = `/refund-requests/${made.intent_id}`;
  const before = await world.sums(made);
  const paidOut = async () => (await world.sums(made)).refund - before.refund;

  const { wrap, died } = mortal(diesAt);
  const doomed = world.service(wrap);
  await ask(`${path}/approve`, { expected_payout_amount: Number(back) }, doomed.call);
  await doomed.worker.runDue().catch((error: unknown) => {
    if (!(error instanceof Died)) throw error;
  });
  expect([0n, back]).toContain(await paidOut());

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

  expect(await world.sums(made)).toEqual({ ...before, refund: before.refund + back, treasury: before.treasury - back });
  const ended = (await ask<RefundCase>(path)).body;
  expect(ended).toMatchObject({ status: 'refunded', decision: { payout_amount: Number(back) } });
  expect(ended.payout_tx_hash).not.toBeNull();
  expect(await world.show(made)).toMatchObject({
    status,
    refund_request: { state: 'paid', payout_tx_hash: ended.payout_tx_hash },
    refund_reason: which === 'part' ? null : 'refund_request_approved',
    refund_tx_hash: which === 'part' ? null : ended.payout_tx_hash,
  });
  const order = world.airline.orders.get(made.intent_id);
  expect([order?.status, order?.cancelledPassengers]).toEqual(
    which === 'part' ? ['ticketed', [2]] : ['cancelled', undefined],
  );
  expect(await countOf(made.intent_id, subject)).toEqual({ payouts: 1, cancels: 1, mails: 1 });
  return { died: died() };
}

/** What happened for an intent, as the service has it on record. */
async function countOf(intentId: string, subject: string) {
  const { store } = desk.world;
  const effects = await store
    .selectFrom('effects')
    .select('kind')
    .where('subject', '=', intentId + subject)
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

test.each(['whole', 'part'] as const)(
  'an approval of the %s that dies at any moment is paid out at most once, and in the end exactly once',
  async (which) => {
    const first = 1 + Math.floor(Math.random() * STRIDE);
    let moments = 0;
    for (let diesAt = first; ; diesAt += STRIDE) {
      const { died } = await approval(diesAt, which).catch((error: unknown) => {
        throw new Error(`died at moment ${diesAt}`, { cause: error });
      });
      if (!died) break;
      moments++;
    }
    expect(moments).toBeGreaterThan(2);
  },
  300_000,
);
