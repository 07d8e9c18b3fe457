import { InsertQueryNode, type KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createOperatorKeys } from '../../../src/flights/desk/keys.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { problem } from '../../../src/kernel/problems.ts';
import type { Order, RefundCase, RefundPlan, Stuck, StuckItem } from '../../../src/wire/flights/index.ts';
import { proofTest } from '../../proof-only.ts';
import { openDesk, PAYOUT } from '../refund-desk.ts';

/** What is stuck beside bookings: refunds that were approved, pay-outs to affiliates, effects that stay open. */

let desk: Awaited<ReturnType<typeof openDesk>>;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.world.close());
beforeEach(() => {
  desk.world.airline.script.before = {};
});

const codeOf = ({ status, body }: { status: number; body: unknown }) => [status, (body as { code?: string }).code];

proofTest(
  'an approved refund whose airline does not cancel is paid out once an operator has cancelled it there',
  async () => {
    const { world, ask } = desk;
    const made = await desk.requested();
    await world.cluster.airdropUsdc(world.treasury.address, PAYOUT);
    world.airline.script.before.cancel = () => Promise.reject(problem('provider_failed'));
    const path = `/refund-requests/${made.intent_id}`;
    const before = await world.sums(made);
    expect((await ask<RefundCase>(`${path}/approve`, {})).body.status).toBe('approved');
    await world.work(3_600_000);
    const stuck = (await ask<StuckItem>(`/stuck/${made.intent_id}`)).body;
    expect(stuck).toMatchObject({
      kind: 'refund_request',
      is_stuck: true,
      reason: 'provider_failed',
      amount: Number(PAYOUT),
    });
    expect(stuck.decisions.map((one) => one.decision)).toEqual(['cancelled', 'retry']);
    expect(codeOf(await ask(`/stuck/${stuck.id}/resolve`, { decision: 'not_ticketed' }))).toEqual([
      409,
      'decision_not_possible',
    ]);
    // The airline shows the ticket: the operator's word is not taken, and nothing is paid.
    expect(stuck.airline).toMatchObject({ status: 'ticketed', booking_reference: 'ZX7QPL' });
    expect(stuck.decisions[0]).toMatchObject({ decision: 'cancelled', refusal: 'airline_ticketed' });
    const refused = await ask(`/stuck/${stuck.id}/resolve`, { decision: 'cancelled' });
    expect([...codeOf(refused), refused.body.detail]).toEqual([
      409,
      'decision_not_possible',
      { reason: 'airline_ticketed', possible: ['retry'] },
    ]);
    await world.work();
    expect((await world.sums(made)).refund).toBe(before.refund);

    world.airline.end(made.intent_id);
    expect((await ask<StuckItem>(`/stuck/${stuck.id}`)).body.airline).toMatchObject({ status: 'cancelled' });
    const answers = await Promise.all([
      ask<StuckItem>(`/stuck/${stuck.id}/resolve`, { decision: 'cancelled' }),
      ask<StuckItem>(`/stuck/${stuck.id}/resolve`, { decision: 'cancelled' }),
    ]);
    expect(answers.map((one) => one.status)).toContain(200);
    expect((await ask<StuckItem>(`/stuck/${stuck.id}`)).body).toMatchObject({ is_stuck: false, state: 'refunded' });
    await world.work();
    expect((await world.sums(made)).refund - before.refund).toBe(PAYOUT);
    expect(codeOf(await ask(`/stuck/${stuck.id}/resolve`, { decision: 'retry' }))).toEqual([
      409,
      'stuck_already_resolved',
    ]);
  },
);

test('what one operator says of a case that another has claimed is not taken, and nothing of it is kept', async () => {
  const { world, ask } = desk;
  const made = await desk.requested();
  await world.cluster.airdropUsdc(world.treasury.address, PAYOUT);
  const silent = () => Promise.reject(problem('provider_failed'));
  world.airline.script.before = { cancel: silent };
  await ask(`/refund-requests/${made.intent_id}/approve`, {});
  await world.work(3_600_000);
  world.airline.script.before.order = silent;
  const keys = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
  const { key } = await keys.issue({ keyId: 'key_0', name: 'first' }, 'ben', 'req_1');
  const headers = { Authorization: `Bearer ${key}` };
  // The one who approved it has it.
  const cancelled = { decision: 'cancelled' };
  const path = `/stuck/${made.intent_id}/resolve`;
  expect(codeOf(await world.call(`/operator${path}`, cancelled, { headers }))).toEqual([409, 'case_already_claimed']);
  const ended = world.store
    .selectFrom('effects')
    .select('state')
    .where('subject', '=', made.intent_id)
    .where('kind', '=', 'airline_cancel')
    .where('state', '=', 'done');
  expect(await ended.execute()).toEqual([]);
  expect((await ask(path, cancelled)).status).toBe(200);
  expect(await ended.execute()).toHaveLength(1);
});

test('a cancellation that begins while an operator records one refuses the record, and nothing is paid', async () => {
  const { world, ask } = desk;
  const made = await desk.requested();
  await world.cluster.airdropUsdc(world.treasury.address, PAYOUT);
  world.airline.script.before = { cancel: () => Promise.reject(problem('provider_failed')) };
  await ask(`/refund-requests/${made.intent_id}/approve`, {});
  await world.work(3_600_000);
  world.airline.end(made.intent_id);
  const before = await world.sums(made);
  const path = `/stuck/${made.intent_id}`;
  const { call } = world.service((ports) => ({ ...ports, store: ports.store.withPlugin(slower()) }));
  const refused = await ask(`${path}/resolve`, { decision: 'cancelled' }, call);
  expect(codeOf(refused)).toEqual([409, 'stuck_already_resolved']);
  expect((await world.sums(made)).refund).toBe(before.refund);
  expect((await ask<StuckItem>(path)).body).toMatchObject({ is_stuck: true, state: 'stuck', decided: null });
  expect((await ask(`${path}/resolve`, { decision: 'cancelled' })).status).toBe(200);
});

/** Shows no written attempt, as where the unique key of living ones stops the slower of two processes. */
function slower(): KyselyPlugin {
  const attempts = new WeakSet<object>();
  return {
    transformQuery({ node, queryId }) {
      if (InsertQueryNode.is(node) && node.into?.table.identifier.name === 'effects') attempts.add(queryId);
      return node;
    },
    transformResult: async ({ queryId, result }) => (attempts.has(queryId) ? { ...result, rows: [] } : result),
  };
}

describe('a refund that an operator says is cancelled, while the airline is silent,', () => {
  /** @param answersFrom the number of the question after the decision from which on the airline answers again */
  async function resolved(answersFrom: number) {
    const { world, ask } = desk;
    const made = await desk.requested();
    await world.cluster.airdropUsdc(world.treasury.address, PAYOUT);
    const silent = () => Promise.reject(problem('provider_failed'));
    world.airline.script.before = { cancel: silent };
    await ask(`/refund-requests/${made.intent_id}/approve`, {});
    await world.work(3_600_000);
    let asked = 0;
    world.airline.script.before.order = () => (++asked < answersFrom ? silent() : undefined);
    const before = await world.sums(made);
    const decided = await ask<StuckItem>(`/stuck/${made.intent_id}/resolve`, { decision: 'cancelled' });
    expect(decided.status, JSON.stringify(decided.body)).toBe(200);
    const paid = (await world.sums(made)).refund - before.refund;
    return { made, paid };
  }

  test('is not paid where the airline shows the ticket before the money leaves', async () => {
    const { made, paid } = await resolved(2);
    expect(paid).toBe(0n);
    expect((await desk.ask<StuckItem>(`/stuck/${made.intent_id}`)).body).toMatchObject({
      is_stuck: true,
      reason: 'cancel_by_hand',
      airline: { status: 'ticketed' },
    });
  });

  proofTest('is looked after: a ticket that shows up afterwards pages an operator', async () => {
    const { made, paid } = await resolved(Number.POSITIVE_INFINITY);
    expect(paid).toBe(PAYOUT);
    desk.world.airline.script.before = {};
    desk.world.clock.advance(25 * 3_600_000);
    await desk.world.worker.runDue();
    const pages = await desk.world.store
      .selectFrom('outbox')
      .select('dedup_key')
      .where('intent_id', '=', made.intent_id)
      .where('dedup_key', 'like', 'page:ticket_after_refund:%')
      .execute();
    expect(pages).toHaveLength(1);
  });
});

test('a ticket that an operator recorded is cancelled by one: its approved refund waits for that, at once', async () => {
  const { world, ask } = desk;
  const made = await world.intent('off_by_hand');
  const silent = () => Promise.reject(problem('provider_failed'));
  world.airline.script.before = { createOrder: silent, findOrder: silent };
  await world.book(made);
  await world.work(3_600_000);
  await ask(`/stuck/${made.intent_id}/resolve`, { decision: 'ticketed', booking_reference: 'QX7RTP' });
  const proof = { 'X-Customer-Support-Code': made.customer_support_code };
  await world.paid(
    '/air/refund-requests',
    { intent_id: made.intent_id, reason: 'I broke a leg.' },
    { headers: { ...proof, 'X-Passenger-Family-Name': 'Lovelace' } },
  );
  const path = `/refund-requests/${made.intent_id}/approve`;
  const plan = (await ask<RefundPlan>(path, { dry_run: true })).body;
  expect(plan.steps[0]).toMatch(/Wait for you to cancel .* cancelled\.$/);
  const before = await world.sums(made);
  const approved = (await ask<RefundCase>(path, {})).body;
  expect([approved.status, approved.last_error]).toEqual(['stuck', 'cancel_by_hand']);
  expect(await world.sums(made)).toEqual(before);
  await ask(`/stuck/${approved.request_id}/resolve`, { decision: 'cancelled' });
  expect((await world.sums(made)).refund - before.refund).toBe(PAYOUT);
  const shown = await world.show(made);
  expect(shown.status).toBe('refunded');
  const order = await world.paid<Order>(`/air/orders/${shown.order_id}`, undefined, { headers: proof });
  expect(order.body).toMatchObject({ status: 'cancelled', booking_reference: 'QX7RTP' });
});

test('a pay-out to an affiliate that keeps failing is paged once, listed, and paid once when it is retried', async () => {
  const { world, ask } = desk;
  const affiliate = world.newWallet().address;
  await world.drain(world.treasury);
  await world.store
    .insertInto('affiliate_payouts')
    .values({
      payout_id: 'pay_stuck',
      code: 'AAAAAAAAAA',
      wallet: affiliate,
      amount: 250_000,
      state: 'open',
      attempts: 0,
      due_at_ms: world.clock.now(),
      signature: null,
      created_at_ms: world.clock.now(),
      paid_at_ms: null,
    })
    .execute();
  for (let round = 0; round < 7; round++) {
    await world.worker.runDue();
    world.clock.advance(3_600_000);
  }
  const [listed] = (await ask<Stuck>('/stuck')).body.affiliate_payouts;
  expect(listed).toMatchObject({ payout_id: 'pay_stuck', last_error: 'treasury_insufficient' });
  const pages = await world.store
    .selectFrom('outbox')
    .select('message_id')
    .where('dedup_key', '=', 'page:affiliate_unpaid:pay_stuck')
    .execute();
  expect(pages).toHaveLength(1);
  await world.cluster.airdropUsdc(world.treasury.address, 1_000_000n);
  const retried = await ask<StuckItem>('/stuck/pay_stuck/resolve', { decision: 'retry' });
  expect(retried.body).toMatchObject({ kind: 'affiliate_payout', is_stuck: false, state: 'paid' });
  expect(await world.usdc(affiliate)).toBe(250_000n);
  expect(codeOf(await ask('/stuck/pay_stuck/resolve', { decision: 'retry' }))).toEqual([409, 'stuck_already_resolved']);
  await world.work();
  expect(await world.usdc(affiliate)).toBe(250_000n);
});

test('an effect whose transaction can land no more is ended by a retry, that of an airline with its booking', async () => {
  const { world, ask } = desk;
  const open = (effectId: string, fields: object) =>
    world.store
      .insertInto('effects')
      .values({
        effect_id: effectId,
        kind: 'sweep',
        subject: 'int_gone',
        state: 'sent',
        live_key: effectId,
        attempt: 1,
        transaction: null,
        signature: null,
        last_valid_block_height: null,
        reference: null,
        result: null,
        error: null,
        created_at_ms: world.clock.now() - 3_600_000,
        updated_at_ms: world.clock.now(),
        ...fields,
      })
      .execute();
  const signature = '5'.repeat(87);
  await open('eff_dead', { live_key: 'sweep:int_gone', signature, last_valid_block_height: 0 });
  await open('eff_order', { kind: 'airline_order', live_key: 'airline_order:int_gone' });
  const listed = (await ask<Stuck>('/stuck')).body.effects.map((one) => one.effect_id);
  expect(listed).toEqual(expect.arrayContaining(['eff_dead', 'eff_order']));
  const ended = await ask<StuckItem>('/stuck/eff_dead/resolve', { decision: 'retry' });
  expect(ended.body, JSON.stringify(ended.body)).toMatchObject({ is_stuck: false, state: 'failed' });
  expect(codeOf(await ask('/stuck/eff_order/resolve', { decision: 'retry' }))).toEqual([409, 'decision_not_possible']);
});
