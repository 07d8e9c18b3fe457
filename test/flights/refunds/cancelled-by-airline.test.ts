import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { problem } from '../../../src/kernel/problems.ts';
import type { CreatedIntent, RefundCase, RefundPlan, StuckItem } from '../../../src/wire/flights/index.ts';
import { proofTest } from '../../proof-only.ts';
import { openDesk, PAYOUT, TICKET } from '../refund-desk.ts';
import type { Answered } from '../world.ts';

/** Who ended it decides what comes back: where the airline cancelled, nothing is kept, and everybody learns who cancelled. */

let desk: Awaited<ReturnType<typeof openDesk>>;
const script = () => desk.world.airline.script;
beforeEach(async () => {
  desk = await openDesk('quoting');
  await desk.world.cluster.airdropUsdc(desk.world.treasury.address, 10n * TICKET);
  script().quote = {
    quoteId: 'quote_1',
    refundAmountDecimal: '90.00',
    refundCurrency: 'USD',
    refundTo: 'balance',
    expiresAtMs: null,
  };
});
afterEach(() => desk.world.close());

const at = ({ intent_id }: CreatedIntent, act = '') => `/refund-requests/${intent_id}${act}`;
const plan = async (made: CreatedIntent) => (await desk.ask<RefundPlan>(at(made, '/approve'), { dry_run: true })).body;
const shown = async (made: CreatedIntent) => (await desk.ask<RefundCase>(at(made))).body;
const paidOut = () => desk.world.usdc(desk.world.refundWallet.address);
const codeOf = ({ status, body }: Answered<unknown>) => [status, (body as { code?: string }).code];
/** Its booked orders are looked at again after a day. */
const day = async () => {
  desk.world.clock.advance(25 * 3_600_000);
  await desk.world.worker.runDue();
};
const told = async ({ intent_id }: CreatedIntent) => {
  const rows = await desk.world.store
    .selectFrom('outbox')
    .select('dedup_key')
    .where('intent_id', '=', intent_id)
    .execute();
  return rows.map(({ dedup_key }) => dedup_key.split(':')[1]).filter((word) => /changed/.test(word ?? ''));
};
const cancels = async ({ intent_id }: CreatedIntent) =>
  desk.world.store
    .selectFrom('effects')
    .select(['state', 'error'])
    .where('subject', '=', intent_id)
    .where('kind', '=', 'airline_cancel')
    .execute();
/** Approved, while the airline fails to cancel. */
async function approved(made: CreatedIntent): Promise<void> {
  script().before.cancel = () => {
    throw problem('provider_failed');
  };
  const { airline_quote } = await plan(made);
  const { body } = await desk.ask<RefundCase>(at(made, '/approve'), { quote_id: airline_quote?.quote_id });
  expect(body).toMatchObject({ status: 'approved', last_error: 'provider_failed' });
  script().before = {};
}

test('an amount that was named beside a quote is not paid once the airline has cancelled the order itself', async () => {
  const made = await desk.requested();
  const terms = { payout_amount: Number(TICKET / 2n), note: 'agreed by telephone' };
  const seen = (await desk.ask<RefundPlan>(at(made, '/approve'), { ...terms, dry_run: true })).body;
  desk.world.airline.end(made.intent_id);
  const before = await paidOut();
  const answer = await desk.ask<{ code?: string; detail?: object }>(at(made, '/approve'), {
    ...terms,
    quote_id: seen.airline_quote?.quote_id,
  });
  expect(codeOf(answer)).toEqual([409, 'plan_changed']);
  expect(answer.body.detail).toMatchObject({ cancelled_by: 'airline' });
  expect(await paidOut()).toBe(before);
  expect((await shown(made)).status).toBe('received');
});

describe('an order that the airline cancelled itself', () => {
  test('gives the whole price back: no quote, no cancellation, no penalty, and everybody learns who cancelled', async () => {
    const made = await desk.requested();
    desk.world.airline.end(made.intent_id);
    await day();
    expect(await told(made)).toEqual(expect.arrayContaining(['journey_changed', 'order_changed']));
    expect(await desk.world.show(made)).toMatchObject({
      cancelled_by: 'airline',
      refund_request: { cancelled_by: 'airline' },
    });
    expect(await shown(made)).toMatchObject({
      cancelled_by: 'airline',
      refund_rule: { kind: 'cancelled_by_airline', penalty_amount: 0, payout_amount: Number(TICKET) },
    });
    script().quoted = 0;
    const planned = await plan(made);
    expect(planned).toMatchObject({
      cancelled_by: 'airline',
      penalty_amount: 0,
      payout_amount: Number(TICKET),
      airline_quote: null,
    });
    expect(planned.steps.join('\n')).toContain('the airline has cancelled order');
    expect(planned.steps.join('\n')).not.toMatch(/Wait for you|penalty|Lose/);
    expect(codeOf(await desk.ask(at(made, '/reject'), { reason: 'no' }))).toEqual([409, 'ticket_already_cancelled']);
    const before = await paidOut();
    const done = await desk.ask<RefundCase>(at(made, '/approve'), { expected_payout_amount: Number(TICKET) });
    expect(done.body, JSON.stringify(done.body)).toMatchObject({ status: 'refunded' });
    expect((await paidOut()) - before).toBe(TICKET);
    expect([script().quoted, script().taken, await cancels(made)]).toEqual([0, [], []]);
    const mail = await desk.world.store
      .selectFrom('outbox')
      .select('dedup_key')
      .where('dedup_key', 'like', `mail:refund_request_approved:${made.intent_id}%`)
      .execute();
    expect(mail).toHaveLength(1);
    expect(await desk.world.show(made)).toMatchObject({
      status: 'refunded',
      cancelled_by: 'airline',
      refund_request: { state: 'paid', payout_amount: Number(TICKET), cancelled_by: 'airline' },
    });
  });

  proofTest('is seen by the plan itself, before any look that was due', async () => {
    const made = await desk.requested();
    desk.world.airline.end(made.intent_id);
    expect(await plan(made)).toMatchObject({ cancelled_by: 'airline', payout_amount: Number(TICKET) });
    expect(await told(made)).toEqual(expect.arrayContaining(['journey_changed', 'order_changed']));
    await day();
    expect((await told(made)).filter((one) => one === 'journey_changed')).toHaveLength(1);
  });

  test('after an approval by the fare rule is not paid by that agreement, but by a new one', async () => {
    const made = await desk.requested();
    const before = await paidOut();
    await approved(made);
    desk.world.airline.end(made.intent_id);
    desk.world.clock.advance(61_000);
    await desk.world.work();
    expect(await shown(made)).toMatchObject({ status: 'stuck', last_error: 'plan_changed' });
    expect(await paidOut()).toBe(before);
    expect(await told(made)).toEqual(expect.arrayContaining(['journey_changed', 'order_changed']));
    const { body: item } = await desk.ask<StuckItem>(`/stuck/${made.intent_id}`);
    expect(item.decisions).toMatchObject([
      { decision: 'cancelled', refusal: 'cancelled_by_airline' },
      { decision: 'retry' },
    ]);
    const retried = await desk.ask(`/stuck/${made.intent_id}/resolve`, { decision: 'retry' });
    expect(codeOf(retried)).toEqual([409, 'plan_changed']);
    const { payout_amount } = await plan(made);
    expect(payout_amount).toBe(Number(TICKET));
    const done = await desk.ask<RefundCase>(at(made, '/approve'), { expected_payout_amount: payout_amount });
    expect(done.body, JSON.stringify(done.body)).toMatchObject({ status: 'refunded' });
    expect((await paidOut()) - before).toBe(TICKET);
  });
});

test('the airline’s own cancellation after one of ours has failed is told to the traveller', async () => {
  const made = await desk.requested();
  const { airline_quote } = await plan(made);
  script().before.cancel = () => {
    throw problem('plan_changed');
  };
  await desk.ask(at(made, '/approve'), { quote_id: airline_quote?.quote_id });
  script().before = {};
  expect(await cancels(made)).toEqual([{ state: 'failed', error: 'plan_changed' }]);
  desk.world.airline.end(made.intent_id);
  await day();
  expect(await told(made)).toEqual(expect.arrayContaining(['journey_changed', 'order_changed']));
  expect(await desk.world.show(made)).toMatchObject({ cancelled_by: 'airline' });
});

test('a cancellation of ours, and one that an operator was asked to make, is none of the airline’s', async () => {
  const made = await desk.requested();
  script().quote = null;
  await plan(made);
  const stuck = await desk.ask<RefundCase>(at(made, '/approve'), { quote_id: null });
  expect(stuck.body).toMatchObject({ status: 'stuck', last_error: 'cancel_by_hand' });
  desk.world.airline.end(made.intent_id);
  await day();
  expect(await told(made)).toEqual([]);
  const before = await paidOut();
  await desk.ask(`/stuck/${made.intent_id}/resolve`, { decision: 'cancelled' });
  await desk.world.work();
  expect((await paidOut()) - before).toBe(PAYOUT);
  expect((await desk.world.show(made)).cancelled_by).toBeUndefined();
});
