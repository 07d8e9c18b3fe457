import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { liveKey } from '../../../src/effects/index.ts';
import { problem } from '../../../src/kernel/problems.ts';
import type { AuditTrail, CreatedIntent, RefundCase, RefundPlan } from '../../../src/wire/flights/index.ts';
import { openDesk, PAYOUT, TICKET } from '../refund-desk.ts';
import type { Answered, Ports, World } from '../world.ts';

/** What was agreed is its own record: only a decision writes it, looking changes nothing, and a new decision replaces it. */

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
beforeEach(async () => {
  script().quote = quoted();
  script().taken = [];
  await desk.world.cluster.airdropUsdc(desk.world.treasury.address, 10n * TICKET);
});
afterEach(() => {
  script().before = {};
});

const at = ({ intent_id }: CreatedIntent, act = '') => `/refund-requests/${intent_id}${act}`;
const plan = async (made: CreatedIntent, more: object = {}) =>
  (await desk.ask<RefundPlan>(at(made, '/approve'), { dry_run: true, ...more })).body;
const shown = async (made: CreatedIntent) => (await desk.ask<RefundCase>(at(made))).body;
const paidOut = () => desk.world.usdc(desk.world.refundWallet.address);
const approve = (made: CreatedIntent, body: object, call?: World['call']) =>
  desk.ask<RefundCase>(at(made, '/approve'), body, call);
const own = (amount: bigint, more: object = {}) => ({
  payout_amount: Number(amount),
  note: 'agreed by telephone',
  ...more,
});
const codeOf = ({ status, body }: Answered<unknown>) => [status, (body as { code?: string }).code];
const acts = async (made: CreatedIntent) => {
  const { request_id } = await shown(made);
  const { body } = await desk.ask<AuditTrail>(`/audit?subject=${request_id}`);
  return body.entries.filter(({ action }) => action !== 'refund.show').reverse();
};

/** The airline is silent: the approval is on record, and nothing is cancelled yet. */
async function approved(made: CreatedIntent): Promise<RefundCase> {
  script().before.cancel = () => {
    throw problem('provider_failed');
  };
  const { airline_quote } = await plan(made);
  const { body } = await approve(made, { quote_id: airline_quote?.quote_id });
  expect(body).toMatchObject({ status: 'approved', last_error: 'provider_failed' });
  script().before = {};
  return body;
}

/** The airline takes another quote than the agreed one alone. */
async function stuck(made: CreatedIntent): Promise<void> {
  const { airline_quote } = await plan(made);
  script().quote = quoted({ refundAmountDecimal: '80.00' });
  const refused = await approve(made, { quote_id: airline_quote?.quote_id });
  expect(codeOf(refused)).toEqual([409, 'plan_changed']);
  expect((await shown(made)).status).toBe('stuck');
}

describe('a look at a case that was approved', () => {
  test('asks the airline for no other quote, and the agreed one is cancelled for', async () => {
    const made = await desk.requested();
    const before = await paidOut();
    const { airline_quote: agreed } = await approved(made);
    script().quoted = 0;
    const voucher = quoted({ refundTo: 'voucher' });
    const kept = script().quote;
    script().before.cancellationQuote = () => {
      script().quote = voucher;
    };
    expect((await plan(made)).airline_quote).toEqual(agreed);
    expect(script().quoted).toBe(0);
    expect(script().quote).toBe(kept);
    expect(await shown(made)).toMatchObject({ airline_quote: agreed, decision: { airline_quote: agreed } });
    desk.world.clock.advance(61_000);
    await desk.world.work();
    expect(await shown(made)).toMatchObject({ status: 'refunded' });
    expect(script().taken).toEqual([agreed?.quote_id]);
    expect((await paidOut()) - before).toBe(PAYOUT);
  });

  test('is no agreement: what it showed of a case that is stuck is cancelled for only after an approval', async () => {
    const made = await desk.requested();
    const before = await paidOut();
    await stuck(made);
    const looked = await plan(made);
    expect(looked.airline_quote?.refund_amount_decimal).toBe('80.00');
    // The quote that was looked at has no agreement.
    const again = await desk.ask(`/stuck/${made.intent_id}/resolve`, { decision: 'retry' });
    expect(codeOf(again)).toEqual([409, 'plan_changed']);
    await desk.world.work();
    expect(script().taken).toEqual([]);
    expect(await paidOut()).toBe(before);
  });
});

describe('until its pay-out exists,', () => {
  test('another amount of a stuck case is a new decision: shown, audited and paid', async () => {
    const made = await desk.requested();
    const before = await paidOut();
    await stuck(made);
    const lower = 80_000_000n;
    const planned = await plan(made, own(lower));
    expect(planned).toMatchObject({ payout_amount: Number(lower), overridden: true });
    const silent = await approve(made, { payout_amount: Number(lower), quote_id: script().quote?.quoteId });
    expect(codeOf(silent)).toEqual([400, 'invalid_request']);
    const done = await approve(
      made,
      own(lower, { quote_id: planned.airline_quote?.quote_id, expected_payout_amount: Number(lower) }),
    );
    expect(done.body, JSON.stringify(done.body)).toMatchObject({
      status: 'refunded',
      decision: { payout_amount: Number(lower), words: 'agreed by telephone' },
    });
    expect((await paidOut()) - before).toBe(lower);
    const changed = (await acts(made)).find(({ action }) => action === 'refund.change');
    expect(changed?.detail).toMatchObject({
      payout_amount: Number(lower),
      before: { payout_amount: Number(PAYOUT) },
      airline_quote: { refund_amount_decimal: '80.00' },
    });
  });

  test('another amount of an approved case keeps the agreed quote', async () => {
    const made = await desk.requested();
    const before = await paidOut();
    const { airline_quote: agreed } = await approved(made);
    const more = TICKET;
    const done = await approve(made, own(more));
    expect(done.body, JSON.stringify(done.body)).toMatchObject({
      status: 'refunded',
      decision: { payout_amount: Number(more) },
    });
    expect(script().taken).toEqual([agreed?.quote_id]);
    expect((await paidOut()) - before).toBe(more);
    // Paid is paid: nothing is decided about it any more.
    expect(codeOf(await approve(made, own(1n)))).toEqual([409, 'case_already_decided']);
    expect(codeOf(await desk.ask(at(made, '/reject'), { reason: 'no' }))).toEqual([409, 'case_already_decided']);
  });

  test('a rejection ends a case whose quote was not taken: nothing is cancelled or paid, and the intent is free', async () => {
    const made = await desk.requested();
    const before = await paidOut();
    await stuck(made);
    const reason = 'The airline gives nothing back any more.';
    const planned = await desk.ask<{ mail: { text: string } }>(at(made, '/reject'), { dry_run: true, reason });
    expect(planned.body.mail.text).toContain(reason);
    const rejected = await desk.ask<RefundCase>(at(made, '/reject'), { reason });
    expect(rejected.body, JSON.stringify(rejected.body)).toMatchObject({ status: 'rejected' });
    await desk.world.work();
    expect(script().taken).toEqual([]);
    expect(await paidOut()).toBe(before);
    expect(await desk.world.show(made)).toMatchObject({
      status: 'booked',
      refund_request: { state: 'rejected', payout_amount: null },
    });
    const rejection = (await acts(made)).find(({ action }) => action === 'refund.reject');
    expect(rejection?.detail).toMatchObject({ before: { payout_amount: Number(PAYOUT) } });
  });

  test('a cancellation that was made is not taken back by a rejection, which is refused', async () => {
    const made = await desk.requested();
    await desk.world.cluster.airdropUsdc(desk.world.treasury.address, PAYOUT);
    script().before.cancel = () => desk.world.drain(desk.world.treasury);
    const { airline_quote } = await plan(made);
    const { body } = await approve(made, { quote_id: airline_quote?.quote_id });
    expect(body).toMatchObject({ status: 'approved', last_error: 'treasury_insufficient' });
    for (const dry_run of [true, false]) {
      const refused = await desk.ask(at(made, '/reject'), { reason: 'no', dry_run });
      expect(codeOf(refused)).toEqual([409, 'ticket_already_cancelled']);
    }
    await desk.world.cluster.airdropUsdc(desk.world.treasury.address, TICKET);
    const less = await approve(made, own(PAYOUT / 2n));
    expect(less.body).toMatchObject({ status: 'refunded', payout_amount: Number(PAYOUT / 2n) });
  });
});

describe('an approval that is decided again while the worker carries it out', () => {
  /** Another process, which does what a test tells it right before a call of the airline or the cluster. */
  const meanwhile = (port: 'provider' | 'cluster', call: string, act: () => Promise<unknown>) => {
    let isArmed = true;
    const wrap = (ports: Ports): Ports => ({
      ...ports,
      [port]: new Proxy(ports[port] as object, {
        get(target, key) {
          const value: unknown = Reflect.get(target, key);
          if (key !== call || typeof value !== 'function') return value;
          return async (...given: unknown[]) => {
            if (isArmed) {
              isArmed = false;
              await act();
            }
            return value.apply(target, given);
          };
        },
      }),
    });
    return desk.world.service(wrap);
  };

  test('pays the new amount alone, although the old one was about to be signed', async () => {
    const made = await desk.requested();
    const before = await paidOut();
    await approved(made);
    const other = 70_000_000n;
    desk.world.clock.advance(61_000);
    const answers: Answered<RefundCase>[] = [];
    const slow = meanwhile('cluster', 'latestBlockhash', async () => {
      answers.push(await approve(made, own(other)));
    });
    await slow.worker.runDue();
    desk.world.clock.advance(61_000);
    await desk.world.work();
    expect(answers.map(({ status }) => status)).toEqual([200]);
    expect(await shown(made)).toMatchObject({ status: 'refunded', payout_amount: Number(other) });
    expect((await paidOut()) - before).toBe(other);
  });

  test('is not rejected while its cancellation is under way', async () => {
    const made = await desk.requested();
    const before = await paidOut();
    await approved(made);
    desk.world.clock.advance(61_000);
    const answers: unknown[] = [];
    const slow = meanwhile('provider', 'cancel', async () => {
      answers.push(codeOf(await desk.ask(at(made, '/reject'), { reason: 'no' })));
    });
    await slow.worker.runDue();
    await desk.world.work();
    expect(answers).toEqual([[409, 'ticket_already_cancelled']]);
    expect(await shown(made)).toMatchObject({ status: 'refunded' });
    expect((await paidOut()) - before).toBe(PAYOUT);
  });

  test('is not rejected while the airline does not say what became of its cancellation: 502 provider_failed', async () => {
    const made = await desk.requested();
    const before = await paidOut();
    await approved(made);
    // As a process leaves it that dies once it has asked the airline.
    await desk.world.store
      .updateTable('effects')
      .set({ state: 'sent', live_key: liveKey('airline_cancel', made.intent_id) })
      .where('subject', '=', made.intent_id)
      .where('kind', '=', 'airline_cancel')
      .execute();
    script().before.order = () => {
      throw problem('provider_failed');
    };
    expect(codeOf(await desk.ask(at(made, '/reject'), { reason: 'no' }))).toEqual([502, 'provider_failed']);
    script().before = {};
    desk.world.clock.advance(120_000);
    await desk.world.work();
    expect(await shown(made)).toMatchObject({ status: 'refunded' });
    expect((await paidOut()) - before).toBe(PAYOUT);
  });

  test('and rejected right before its cancellation begins: nothing is cancelled', async () => {
    const made = await desk.requested();
    const before = await paidOut();
    await approved(made);
    desk.world.clock.advance(61_000);
    const answers: unknown[] = [];
    const slow = meanwhile('provider', 'order', async () => {
      answers.push((await desk.ask(at(made, '/reject'), { reason: 'no' })).status);
    });
    await slow.worker.runDue();
    await desk.world.work();
    expect(answers).toEqual([200]);
    expect(script().taken).toEqual([]);
    expect(await shown(made)).toMatchObject({ status: 'rejected' });
    expect(await paidOut()).toBe(before);
  });

  /** Another process, overtaken right after it checked that it may still act, for the n-th time. */
  const afterCheck = (most: number, act: () => Promise<unknown>) => {
    let checks = 0;
    return desk.world.service((ports) => ({
      ...ports,
      store: desk.world.store.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          const [row] = result.rows;
          const isCheck = row !== undefined && Object.keys(row).join() === 'fence';
          if (isCheck && ++checks === most) await act();
          return result;
        },
      }),
    }));
  };

  test('pays the new amount alone, although the worker was last asked before it was decided', async () => {
    const made = await desk.requested();
    const before = await paidOut();
    await approved(made);
    const other = 70_000_000n;
    desk.world.clock.advance(61_000);
    const answers: number[] = [];
    // The cancellation is checked twice, the pay-out before it is signed.
    const slow = afterCheck(3, async () => answers.push((await approve(made, own(other))).status));
    await slow.worker.runDue();
    desk.world.clock.advance(61_000);
    await desk.world.work();
    expect(answers).toEqual([200]);
    expect(await shown(made)).toMatchObject({ status: 'refunded', payout_amount: Number(other) });
    expect((await paidOut()) - before).toBe(other);
  });

  test('cancels nothing, although it was rejected after the worker was last asked', async () => {
    const made = await desk.requested();
    const before = await paidOut();
    await approved(made);
    desk.world.clock.advance(61_000);
    const answers: number[] = [];
    const slow = afterCheck(1, async () =>
      answers.push((await desk.ask(at(made, '/reject'), { reason: 'no' })).status),
    );
    await slow.worker.runDue();
    await desk.world.work();
    expect(answers).toEqual([200]);
    expect(script().taken).toEqual([]);
    expect(await paidOut()).toBe(before);
  });

  test('by two operators at once: one decision is paid, and the other one hears of it', async () => {
    const made = await desk.requested();
    const before = await paidOut();
    await approved(made);
    const amounts = [60_000_000n, 70_000_000n];
    const answers = await Promise.all(amounts.map((amount) => approve(made, own(amount), desk.world.service().call)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    await desk.world.work();
    const won = answers.findIndex(({ status }) => status === 200);
    expect((await paidOut()) - before).toBe(amounts[won]);
    expect((await shown(made)).decision?.payout_amount).toBe(Number(amounts[won]));
  });
});
