import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { problem } from '../../../src/kernel/problems.ts';
import type { CreatedIntent, RefundCase, RefundPlan } from '../../../src/wire/flights/index.ts';
import { openDesk, PAYOUT, TICKET } from '../refund-desk.ts';

/** What the airline gives back is shown, agreed to, and taken; what is paid out follows our own rule. */

let desk: Awaited<ReturnType<typeof openDesk>>;
const script = () => desk.world.airline.script;
beforeAll(async () => {
  desk = await openDesk('quoting');
});
afterAll(() => desk.world.close());
let quotes = 0;
const quoted = (more: object = {}) => ({
  quoteId: `quote_${++quotes}`,
  refundAmountDecimal: '90.00',
  refundCurrency: 'USD',
  refundTo: 'balance',
  expiresAtMs: desk.world.clock.now() + 3_600_000,
  ...more,
});
beforeEach(() => {
  script().quote = quoted();
  script().taken = [];
});

const at = ({ intent_id }: CreatedIntent, act = '') => `/refund-requests/${intent_id}${act}`;
const plan = async (made: CreatedIntent) => (await desk.ask<RefundPlan>(at(made, '/approve'), { dry_run: true })).body;
const paidOut = async () => desk.world.usdc(desk.world.refundWallet.address);

test('a plan shows the quote and what is lost by it; the approval takes that quote', async () => {
  const made = await desk.requested();
  const before = await paidOut();
  const { airline_quote, steps, payout_amount } = await plan(made);
  expect(payout_amount).toBe(Number(PAYOUT));
  expect(airline_quote).toMatchObject({
    quote_id: script().quote?.quoteId,
    refund_amount_decimal: '90.00',
    refund_to: 'balance',
  });
  expect(steps.join('\n')).toMatch(/Get back from the airline: 90\.00 USD to balance, until/);
  expect(steps.join('\n')).toContain('Lose 10.00 USDC');
  expect((await desk.ask<RefundCase>(at(made))).body.airline_quote).toEqual(airline_quote);
  const approved = await desk.ask<RefundCase>(at(made, '/approve'), { quote_id: airline_quote?.quote_id });
  expect(approved.body, JSON.stringify(approved.body)).toMatchObject({ status: 'refunded' });
  expect(script().taken).toEqual([airline_quote?.quote_id]);
  expect((await paidOut()) - before).toBe(PAYOUT);
});

test.each([
  ['an amount that is not told', { refundAmountDecimal: null, refundCurrency: null }, 'an amount that it does not say'],
  ['another currency', { refundCurrency: 'EUR' }, '90.00 EUR to balance'],
])('%s is shown as it is, and never compared or paid out', async (_what, more, words) => {
  const made = await desk.requested();
  script().quote = quoted(more);
  const { steps, payout_amount } = await plan(made);
  expect(steps.join('\n')).toContain(words);
  expect(steps.join('\n')).not.toContain('Lose');
  expect(payout_amount).toBe(Number(PAYOUT));
});

test.each(['voucher', 'airline_credits'])('all of a pay-out is lost where a %s comes back', async (refundTo) => {
  const made = await desk.requested();
  script().quote = quoted({ refundTo });
  const { steps, payout_amount } = await plan(made);
  expect(steps.join('\n')).toContain(`90.00 USD to ${refundTo.replace('_', ' ')}, which is not money`);
  expect(steps.join('\n')).toContain('Lose 100.00 USDC: what the airline gives back is not money');
  expect(payout_amount).toBe(Number(PAYOUT));
});

test('a plan says how much more than the fare rule the airline gives back, and how to pass it on', async () => {
  const made = await desk.requested();
  script().quote = quoted({ refundAmountDecimal: '151.20' });
  const { steps } = await plan(made);
  expect(steps.join('\n')).toContain('Gain 51.20 USDC');
  expect(steps.join('\n')).toContain('The fare rule gives 100.00: the ticket may still be in its void window');
  expect(steps.join('\n')).toContain('--amount 151.20 --note <text>');
});

test('a non-refundable fare that the airline takes back for money is not simply to be rejected', async () => {
  const { conditions } = script();
  if (conditions) script().conditions = { ...conditions, refund_allowed: false };
  const made = await desk.requested();
  script().conditions = conditions;
  script().quote = quoted({ refundAmountDecimal: '151.20' });
  const { airline_quote, steps, payout_amount } = await plan(made);
  expect(payout_amount).toBe(0);
  expect(steps.join('\n')).toContain('Gain 151.20 USDC');
  const refused = await desk.ask<{ code: string; message: string }>(at(made, '/approve'), {
    quote_id: airline_quote?.quote_id,
  });
  expect([refused.status, refused.body.code]).toEqual([409, 'payout_is_zero']);
  expect(refused.body.message).toContain('the airline gives back 151.20 USD');
});

test.each([
  ['none that was shown', async () => ({})],
  [
    'one that was replaced since',
    async (made: CreatedIntent) => {
      const { airline_quote } = await plan(made);
      script().quote = quoted();
      await plan(made);
      return { quote_id: airline_quote?.quote_id };
    },
  ],
  [
    'one that has expired',
    async (made: CreatedIntent) => {
      const { airline_quote } = await plan(made);
      desk.world.clock.advance(3_700_000);
      script().quote = quoted({ refundAmountDecimal: '0.00' });
      return { quote_id: airline_quote?.quote_id };
    },
  ],
])('an approval by %s is refused with what the airline says now', async (_what, request) => {
  const made = await desk.requested();
  const given = await request(made);
  const before = await paidOut();
  const refused = await desk.ask(at(made, '/approve'), given);
  expect([refused.status, refused.body.code]).toEqual([409, 'plan_changed']);
  expect(refused.body.detail).toMatchObject({
    airline_quote: { quote_id: script().quote?.quoteId, refund_amount_decimal: script().quote?.refundAmountDecimal },
  });
  expect((await desk.ask<RefundCase>(at(made))).body.status).toBe('received');
  expect(script().taken).toEqual([]);
  expect(await paidOut()).toBe(before);
});

test('a quote that the airline itself refuses pays nothing, and the next one ends the case', async () => {
  const made = await desk.requested();
  const before = await paidOut();
  const { airline_quote } = await plan(made);
  script().quote = quoted({ refundAmountDecimal: '80.00' });
  const refused = await desk.ask(at(made, '/approve'), { quote_id: airline_quote?.quote_id });
  expect([refused.status, refused.body.code]).toEqual([409, 'plan_changed']);
  expect(refused.body.detail).toMatchObject({ airline_quote: { refund_amount_decimal: '80.00' } });
  expect((await desk.ask<RefundCase>(at(made))).body).toMatchObject({ status: 'stuck', last_error: 'plan_changed' });
  expect(await paidOut()).toBe(before);
  const done = await desk.ask<RefundCase>(at(made, '/approve'), { quote_id: script().quote?.quoteId });
  expect(done.body, JSON.stringify(done.body)).toMatchObject({ status: 'refunded' });
  expect((await paidOut()) - before).toBe(PAYOUT);
});

test('an order that can not be cancelled there is left to the operator, whose word then pays out', async () => {
  const made = await desk.requested();
  script().quote = null;
  const shown = await plan(made);
  expect(shown.airline_quote).toMatchObject({ quote_id: null, refund_amount_decimal: null });
  expect(shown.steps[0]).toMatch(/^Wait for you to cancel order/);
  const approved = await desk.ask<RefundCase>(at(made, '/approve'), { quote_id: null });
  expect(approved.body).toMatchObject({ status: 'stuck', last_error: 'cancel_by_hand' });
  expect(script().taken).toEqual([]);
  const before = await paidOut();
  desk.world.airline.end(made.intent_id);
  const word = await desk.ask(`/stuck/${made.intent_id}/resolve`, { decision: 'cancelled' });
  expect(word.status, JSON.stringify(word.body)).toBe(200);
  await desk.world.work();
  expect((await paidOut()) - before).toBe(PAYOUT);
});

test('502 provider_failed: an airline that gives no quote now leaves plan, approval and case as they are', async () => {
  const made = await desk.requested();
  script().before.cancellationQuote = () => {
    throw problem('provider_failed');
  };
  for (const body of [{ dry_run: true }, {}]) {
    const answer = await desk.ask(at(made, '/approve'), body);
    expect([answer.status, answer.body.code]).toEqual([502, 'provider_failed']);
  }
  script().before = {};
  expect((await desk.ask<RefundCase>(at(made))).body.status).toBe('received');
  // One that is stuck because its quote was not taken asks for the next one before it goes on.
  const { airline_quote } = await plan(made);
  script().quote = quoted();
  await desk.ask(at(made, '/approve'), { quote_id: airline_quote?.quote_id });
  script().before.cancellationQuote = () => {
    throw problem('provider_failed');
  };
  const retried = await desk.ask(`/stuck/${made.intent_id}/resolve`, { decision: 'retry' });
  expect([retried.status, retried.body.code]).toEqual([502, 'provider_failed']);
  script().before = {};
});

test('an operator’s own amount is paid whatever the airline gives', async () => {
  const made = await desk.requested();
  const before = await paidOut();
  const own = { payout_amount: Number(TICKET), note: 'Goodwill' };
  const { body } = await desk.ask<RefundPlan>(at(made, '/approve'), { ...own, dry_run: true });
  const approved = await desk.ask<RefundCase>(at(made, '/approve'), { ...own, quote_id: body.airline_quote?.quote_id });
  expect(approved.body).toMatchObject({ status: 'refunded' });
  expect((await paidOut()) - before).toBe(TICKET);
});
