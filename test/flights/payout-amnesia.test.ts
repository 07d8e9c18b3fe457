import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RefundCase } from '../../src/wire/flights/index.ts';
import { proofTest } from '../proof-only.ts';
import { rounds, upTo } from '../rounds.ts';
import { forgetting, openLyingCluster, seeded, sentSignature, told } from '../solana/lying-rpc.ts';
import { openDesk, PAYOUT } from './refund-desk.ts';

/**
 * The node behind the service loses its memory: the pay-out of an approved refund has landed, and for a while every
 * question about it is answered as if it never had, while blocks go on and whatever is sent is swallowed.
 */

let desk: Awaited<ReturnType<typeof openDesk>>;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.world.close());

/** Approves a refund over a node that forgets the pay-out for `forMs` from the moment that it landed. */
async function approvedOverAmnesia(seed: number, forMs: number, alsoHistory: boolean) {
  const { world, ask } = desk;
  const random = seeded(seed);
  const made = await desk.requested();
  // What a history must reach back to lies behind it.
  world.clock.advance(60_000);
  await world.cluster.airdropUsdc(world.treasury.address, 2n * PAYOUT);
  const before = await world.sums(made);
  const liar = await openLyingCluster(world, world.clock.advance);
  let payout: string | null = null;
  let untilMs = 0;
  const amnesia = forgetting(() => (world.clock.now() < untilMs ? payout : null), alsoHistory);
  liar.tell = async (call, honest) => {
    if (call.method !== 'sendTransaction' || payout !== null) return amnesia(call, honest);
    const answer = await honest();
    payout = sentSignature(call);
    world.clock.advance(random() * 2_000);
    untilMs = world.clock.now() + forMs;
    return random() < 0.5 ? answer : new Response('', { status: 502 });
  };
  const service = world.service((ports) => ({ ...ports, cluster: liar.cluster }));
  const path = `/refund-requests/${made.intent_id}`;
  await ask(`${path}/approve`, { expected_payout_amount: Number(PAYOUT) }, service.call);
  const paidOut = async () => (await world.sums(made)).refund - before.refund;
  return {
    made,
    path,
    service,
    liar,
    random,
    paidOut,
    isForgotten: () => world.clock.now() < untilMs,
    signature: () => payout,
    status: async () => (await ask<RefundCase>(path, undefined, service.call)).body.status,
  };
}

test.each(upTo(rounds(1, 20)))(
  'a pay-out that the node forgets for 110 s is made once, and ends once it remembers (run %i)',
  async (seed) => {
    const run = await approvedOverAmnesia(seed, 110_000, seed % 2 === 1);
    for (let round = 0; round < 200 && (await run.status()) !== 'refunded'; round++) {
      desk.world.clock.advance(500 + run.random() * 9_000);
      await run.service.worker.runDue();
      expect(await run.paidOut()).toBe(PAYOUT);
    }
    expect(await run.status()).toBe('refunded');
    expect(await run.paidOut()).toBe(PAYOUT);
    const effects = await desk.world.store
      .selectFrom('effects')
      .select(['state', 'signature'])
      .where('subject', '=', run.made.intent_id)
      .where('kind', '=', 'payout')
      .execute();
    expect(effects).toEqual([{ state: 'done', signature: run.signature() }]);
  },
);

test('a node that never remembers, and hides every trace, makes the chain refuse a second pay-out', async () => {
  const run = await approvedOverAmnesia(99, 24 * 3_600_000, true);
  const { tell } = run.liar;
  let deaf = true;
  run.liar.tell = async (call, honest) => {
    // Sends arrive after a while; the accounts are shown as if the pay-out had not been.
    if (call.method === 'sendTransaction' && !deaf) return honest();
    const answer = await tell(call, honest);
    if (call.method === 'getMultipleAccounts' && !(answer instanceof Response)) {
      const accounts = told<({ space?: number } | null)[]>(answer);
      accounts.value = accounts.value.map((account) => (account?.space === 1 ? null : account));
    }
    return answer;
  };
  for (let round = 0; round < 60; round++) {
    deaf = round < 20;
    desk.world.clock.advance(30_000);
    await run.service.worker.runDue();
    expect(await run.paidOut()).toBe(PAYOUT);
  }
  const tried = await desk.world.store
    .selectFrom('effects')
    .select('signature')
    .where('subject', '=', run.made.intent_id)
    .where('kind', '=', 'payout')
    .execute();
  expect(tried.length).toBeGreaterThan(1);
});

proofTest('a pay-out of which nobody can tell what became of it waits for a person, who ends it', async () => {
  const run = await approvedOverAmnesia(7, 24 * 3_600_000, false);
  const { world, ask } = desk;
  for (let round = 0; round < 60; round++) {
    world.clock.advance(30_000);
    await run.service.worker.runDue();
  }
  // The history names what statuses and transactions deny: a contradiction, and no second pay-out.
  const row = () =>
    world.store
      .selectFrom('effects')
      .select(['effect_id', 'state', 'attempt'])
      .where('subject', '=', run.made.intent_id)
      .where('kind', '=', 'payout')
      .execute();
  const [waiting, ...others] = await row();
  expect([waiting?.state, others]).toEqual(['stuck', []]);
  expect(await run.paidOut()).toBe(PAYOUT);
  // The node is repaired: the effect ends by itself, and the operator resumes the refund.
  const healed = world.service();
  world.clock.advance(61_000);
  await healed.worker.runDue();
  expect(await row()).toMatchObject([{ state: 'done', attempt: 1 }]);
  if ((await run.status()) === 'stuck') {
    await ask(`/stuck/${run.made.intent_id}/resolve`, { decision: 'retry' }, healed.call);
  }
  await world.work(undefined, healed.worker);
  expect(await run.status()).toBe('refunded');
  expect(await run.paidOut()).toBe(PAYOUT);
});

test('a capture and a pay-out end with a finalized block; until then nothing is signed or called done', async () => {
  const { world, ask } = desk;
  const liar = await openLyingCluster(world, world.clock.advance);
  let isFinal = false;
  liar.tell = async (call, honest) => {
    const answer = await honest();
    if (call.method === 'getSignatureStatuses' && !isFinal) {
      for (const status of told<({ confirmationStatus: string } | null)[]>(answer).value) {
        if (status) status.confirmationStatus = 'confirmed';
      }
    }
    return answer;
  };
  const service = world.service((ports) => ({ ...ports, cluster: liar.cluster }));
  const round = async () => {
    world.clock.advance(8_000);
    await service.worker.runDue();
  };
  const made = await world.intent('off_final');
  await world.book(made);
  for (let n = 0; n < 4; n++) await round();
  expect((await world.show(made)).status).toBe('active');
  expect((await world.sums(made)).vault).toBe(0n);
  isFinal = true;
  for (let n = 0; n < 3; n++) await round();
  expect((await world.show(made)).status).toBe('booked');

  isFinal = false;
  const proof = { 'X-Customer-Support-Code': made.customer_support_code };
  await world.paid(
    '/air/refund-requests',
    { intent_id: made.intent_id, reason: 'I broke a leg.' },
    { headers: { ...proof, 'X-Passenger-Family-Name': 'Lovelace' } },
  );
  const before = (await world.sums(made)).refund;
  const path = `/refund-requests/${made.intent_id}`;
  const approved = await ask<RefundCase>(`${path}/approve`, {}, service.call);
  expect([approved.body.status, approved.body.last_error]).toEqual(['approved', 'not_final']);
  for (let n = 0; n < 12; n++) await round();
  expect((await ask<RefundCase>(path)).body.status).toBe('approved');
  isFinal = true;
  for (let n = 0; n < 10; n++) await round();
  expect((await ask<RefundCase>(path)).body.status).toBe('refunded');
  expect((await world.sums(made)).refund - before).toBe(PAYOUT);
  const attempts = await world.store
    .selectFrom('effects')
    .select(['kind', 'attempt', 'state'])
    .where('subject', '=', made.intent_id)
    .where('kind', 'in', ['capture', 'payout'])
    .orderBy('kind')
    .execute();
  expect(attempts).toEqual([
    { kind: 'capture', attempt: 1, state: 'done' },
    { kind: 'payout', attempt: 1, state: 'done' },
  ]);
});

test('an operator whose service has no node to ask is told so, and decides nothing', async () => {
  const { world, ask } = desk;
  const made = await desk.requested();
  const stuck = await desk.requested();
  await world.store
    .updateTable('bookings')
    .set({ state: 'stuck', stuck_in: 'ordering' })
    .where('intent_id', '=', stuck.intent_id)
    .execute();
  const liar = await openLyingCluster(world, world.clock.advance);
  liar.tell = () => new Response('', { status: 502 });
  const { call } = world.service((ports) => ({ ...ports, cluster: liar.cluster }));
  for (const [path, body] of [
    [`/refund-requests/${made.intent_id}/approve`, {}],
    [`/stuck/${stuck.intent_id}`, undefined],
    [`/stuck/${stuck.intent_id}/resolve`, { decision: 'not_ticketed' }],
  ] as const) {
    const answer = await ask(path, body, call);
    expect([path, answer.status, answer.body.code]).toEqual([path, 503, 'cluster_failed']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await ask<RefundCase>(`/refund-requests/${made.intent_id}`)).body.status).toBe('received');
});
