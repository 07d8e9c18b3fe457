import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IntentRow } from '../../../src/flights/base/tables.ts';
import type { Affiliate, AffiliateCredit, Intent } from '../../../src/wire/flights/index.ts';
import { openDesk } from '../refund-desk.ts';
import { openWorld, type Ports, type World } from '../world.ts';
import { worldDatabase } from '../world-database.ts';

/** 20 % of 1 % of 151.20. */
const SHARE = 302_400n;
/** The journey arrives on 20 December at 14:30 in Berlin. */
const ARRIVAL_MS = Date.UTC(2026, 11, 20, 13, 30);

let world: World;
beforeAll(async () => {
  world = await openWorld({ airline: 'scripted', options: { affiliatesPerHour: 40 } });
  await world.cluster.airdropUsdc(world.wallet.address, 100_000_000_000n);
});
afterAll(() => world.close());

let offers = 0;
const newOffer = () => `off_affiliate_${++offers}`;

async function newAffiliate() {
  const wallet = world.newWallet().address;
  const { body } = await world.call<Affiliate>('/affiliates', { wallet });
  return { wallet, code: body.code, credit: () => creditOf(body.code) };
}

const creditOf = async (code: string) => (await world.call<AffiliateCredit>(`/affiliates/${code}`)).body;

/** As an approved refund leaves it. */
const refund = (intent: Pick<Intent, 'intent_id'>) =>
  world.store
    .updateTable('intents')
    .set({ status: 'refunded', refunded_at_ms: world.clock.now() })
    .where('intent_id', '=', intent.intent_id)
    .execute();

test('a wallet gets one code, and the same again', async () => {
  const wallet = world.newWallet().address;
  const made = await world.call<Affiliate>('/affiliates', { wallet });
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    code: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{10}$/),
    wallet,
    created_at: expect.stringMatching(/Z$/),
  });
  const again = await world.call<Affiliate>('/affiliates', { wallet });
  expect(again.status).toBe(200);
  expect(again.body).toEqual(made.body);
});

test('a wallet that asks many times at once gets one code', async () => {
  const wallet = world.newWallet().address;
  const service = world.service();
  const answers = await Promise.all(
    [world.call, service.call, world.call, service.call].map((call) => call('/affiliates', { wallet })),
  );
  expect(answers.map((one) => one.status).sort()).toEqual([200, 200, 200, 201]);
  expect(new Set(answers.map((one) => one.body.code)).size).toBe(1);
});

test('a wallet that nobody could be paid at gets no code', async () => {
  for (const wallet of ['x', '', '11111111111111111111111111111111', `${world.wallet.address}1`]) {
    const answer = await world.call('/affiliates', { wallet });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_wallet']);
  }
  const { body } = await world.call('/affiliates', { wallet: world.wallet.address, name: 'x' });
  expect(body).toMatchObject({ code: 'invalid_request', detail: { issues: [{ path: 'name' }] } });
});

test('an unknown affiliate code is 404 where it is read', async () => {
  const answer = await world.call('/affiliates/0000000000');
  expect([answer.status, answer.body.code]).toEqual([404, 'affiliate_not_found']);
});

test('a known code freezes its wallet on the intent, however it was typed', async () => {
  const { code, wallet } = await newAffiliate();
  const typed = ` ${code.slice(0, 5)}-${code.slice(5)}`.toLowerCase().replaceAll('1', 'l').replaceAll('0', 'o');
  const intent = await world.intent(newOffer(), { referrer: typed });
  expect(intent.referrer).toBe(code);
  expect(JSON.stringify(await world.show(intent))).not.toContain(wallet);
  const row = await world.store
    .selectFrom('intents')
    .select(['referrer_wallet', 'affiliate_amount', 'credit_due_at_ms'])
    .where('intent_id', '=', intent.intent_id)
    .executeTakeFirstOrThrow();
  expect(row).toEqual({ referrer_wallet: wallet, affiliate_amount: Number(SHARE), credit_due_at_ms: ARRIVAL_MS });
});

test("the platform's fee and an affiliate's share of it are rounded down", async () => {
  const { code } = await newAffiliate();
  world.airline.script.price = '151.209999';
  const { intent_id } = await world.intent(newOffer(), { referrer: code });
  world.airline.script.price = '151.20';
  const row = await world.store
    .selectFrom('intents')
    .select(['amount', 'fee_amount', 'affiliate_amount'])
    .where('intent_id', '=', intent_id)
    .executeTakeFirstOrThrow();
  expect(row).toEqual({ amount: 151_209_999, fee_amount: 1_512_099, affiliate_amount: 302_419 });
});

test('an unknown code and a code of one of the two wallets are ignored in silence', async () => {
  const own = await world.call<Affiliate>('/affiliates', { wallet: world.wallet.address });
  const refunds = await world.call<Affiliate>('/affiliates', { wallet: world.refundWallet.address });
  for (const referrer of ['NOBODY', '', own.body.code, refunds.body.code]) {
    const intent = await world.intent(newOffer(), { referrer });
    expect(intent).not.toHaveProperty('referrer');
  }
});

test('a code longer than 64 characters is not a code', async () => {
  const answer = await world.paid('/air/intents', {
    funding_wallet: world.wallet.address,
    offer_id: newOffer(),
    referrer: 'x'.repeat(65),
  });
  expect(answer.body).toMatchObject({ code: 'invalid_request', detail: { issues: [{ path: 'referrer' }] } });
});

test('new codes are given out only so fast, and known wallets keep getting theirs', async () => {
  const slow = await openWorld({ airline: 'none', options: { affiliatesPerHour: 2 } });
  const ask = (wallet: string) => slow.call('/affiliates', { wallet });
  const first = slow.newWallet().address;
  expect((await ask(first)).status).toBe(201);
  expect((await ask(slow.newWallet().address)).status).toBe(201);
  const refused = await ask(slow.newWallet().address);
  expect([refused.status, refused.body.code]).toEqual([429, 'too_many_attempts']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await ask(first)).status).toBe(200);
  slow.clock.advance(3_600_001);
  expect((await ask(slow.newWallet().address)).status).toBe(201);
  await slow.close();
});

test('one client takes no more than its share of new codes, and the others get theirs', async () => {
  const shared = await openWorld({ airline: 'none', options: { affiliatesPerHour: 1_000, affiliatesPerClient: 3 } });
  const ask = async (clientAddress: string) => {
    const request = new Request('http://flights.test/affiliates', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ wallet: shared.newWallet().address }),
    });
    return (await shared.app.fetch(request, { clientAddress })).status;
  };
  const greedy = await Promise.all(Array.from({ length: 6 }, () => ask('203.0.113.9')));
  expect(greedy.sort()).toEqual([201, 201, 201, 429, 429, 429]);
  expect(await ask('203.0.113.10')).toBe(201);
  shared.clock.advance(3_600_001);
  expect(await ask('203.0.113.9')).toBe(201);
  await shared.close();
});

test('credit is pending from the capture, and paid once the last arrival has passed', async () => {
  const affiliate = await newAffiliate();
  const intent = await world.intent(newOffer(), { referrer: affiliate.code });
  expect(await affiliate.credit()).toMatchObject({ bookings_count: 0, pending_amount: 0 });
  await world.book(intent);
  await world.work();
  expect((await world.show(intent)).status).toBe('booked');
  expect(await affiliate.credit()).toEqual({
    code: affiliate.code,
    wallet: affiliate.wallet,
    created_at: expect.any(String),
    bookings_count: 1,
    pending_amount: Number(SHARE),
    pending_amount_decimal: '0.3024',
    paid_amount: 0,
    paid_amount_decimal: '0.00',
    owed_amount: 0,
    owed_amount_decimal: '0.00',
  });
  world.clock.advance(ARRIVAL_MS - 60_000 - world.clock.now());
  await world.worker.runDue();
  expect(await world.usdc(affiliate.wallet)).toBe(0n);

  const treasury = await world.usdc(world.treasury.address);
  const supply = await world.supply();
  world.clock.advance(60_000);
  await world.worker.runDue();
  await world.worker.runDue();
  expect(await world.usdc(affiliate.wallet)).toBe(SHARE);
  expect(await world.usdc(world.treasury.address)).toBe(treasury - SHARE);
  expect(await world.supply()).toBe(supply);
  expect(await affiliate.credit()).toMatchObject({
    bookings_count: 1,
    pending_amount: 0,
    paid_amount_decimal: '0.3024',
  });
});

/** From here on the arrival is past: what is booked is due at once. */

test('an intent that was never captured credits nothing', async () => {
  const affiliate = await newAffiliate();
  await world.intent(newOffer(), { referrer: affiliate.code });
  await world.worker.runDue();
  expect(await world.usdc(affiliate.wallet)).toBe(0n);
  expect(await affiliate.credit()).toMatchObject({ bookings_count: 0, pending_amount: 0, paid_amount: 0 });
});

/** A captured journey whose arrival is past, as the worker finds it: a copy of one that was really booked. */
async function flown(code: string, wallet: string): Promise<Pick<Intent, 'intent_id'>> {
  model ??= await world.store
    .selectFrom('intents')
    .selectAll()
    .where('captured_at_ms', 'is not', null)
    .limit(1)
    .executeTakeFirstOrThrow();
  const intentId = `int_flown_${++offers}`;
  await world.store
    .insertInto('intents')
    .values({
      ...model,
      intent_id: intentId,
      escrow_address: intentId,
      payment_key: intentId,
      status: 'booked',
      refunded_at_ms: null,
      referrer: code,
      referrer_wallet: wallet,
      affiliate_amount: Number(SHARE),
      credit_due_at_ms: ARRIVAL_MS,
      credited_at_ms: null,
    })
    .execute();
  return { intent_id: intentId };
}
let model: IntentRow | undefined;

test('a journey that was refunded credits nothing', async () => {
  const affiliate = await newAffiliate();
  const intent = await flown(affiliate.code, affiliate.wallet);
  await refund(intent);
  await world.worker.runDue();
  expect(await world.usdc(affiliate.wallet)).toBe(0n);
  expect(await affiliate.credit()).toMatchObject({ bookings_count: 0, pending_amount: 0, owed_amount: 0 });
});

test('a journey that was paid back leaves the list of those that wait for their credit', async () => {
  const desk = await openDesk('scripted');
  try {
    const { body } = await desk.world.call<Affiliate>('/affiliates', { wallet: desk.world.newWallet().address });
    const made = await desk.requested({ referrer: body.code });
    await desk.ask(`/refund-requests/${made.intent_id}/approve`, {});
    await desk.world.work();
    const row = await desk.world.store
      .selectFrom('intents')
      .select(['status', 'credit_due_at_ms'])
      .executeTakeFirstOrThrow();
    expect(row).toEqual({ status: 'refunded', credit_due_at_ms: null });
  } finally {
    await desk.world.close();
  }
});

test('a journey of which a refund is asked for waits until that is decided', async () => {
  const affiliate = await newAffiliate();
  const { intent_id } = await flown(affiliate.code, affiliate.wallet);
  const nowMs = world.clock.now();
  await world.store
    .insertInto('refund_requests')
    .values({
      request_id: 'ref_1',
      intent_id,
      open_key: intent_id,
      payment_key: 'pay_1',
      state: 'received',
      reason_sealed: '',
      journey_date: '2026-12-20',
      requested_at_ms: nowMs,
      due_at_ms: nowMs + 1e12,
      lease_until_ms: 0,
      updated_at_ms: nowMs,
    })
    .execute();
  await world.worker.runDue();
  expect(await world.usdc(affiliate.wallet)).toBe(0n);
  await world.store
    .updateTable('refund_requests')
    .set({ open_key: null, state: 'rejected' })
    .where('request_id', '=', 'ref_1')
    .execute();
  await world.worker.runDue();
  expect(await world.usdc(affiliate.wallet)).toBe(SHARE);
});

test('a refund after the pay-out is a debt that later credit fills first', async () => {
  const affiliate = await newAffiliate();
  const first = await flown(affiliate.code, affiliate.wallet);
  await world.worker.runDue();
  await refund(first);
  expect(await affiliate.credit()).toMatchObject({ bookings_count: 0, owed_amount_decimal: '0.3024' });
  await flown(affiliate.code, affiliate.wallet);
  await world.worker.runDue();
  expect(await world.usdc(affiliate.wallet)).toBe(SHARE);
  expect(await affiliate.credit()).toMatchObject({ pending_amount: 0, owed_amount: 0 });
  await flown(affiliate.code, affiliate.wallet);
  await world.worker.runDue();
  expect(await world.usdc(affiliate.wallet)).toBe(SHARE * 2n);
});

test('several workers at once pay each journey once, to the unit', async () => {
  const affiliate = await newAffiliate();
  for (let journeys = 0; journeys < 3; journeys++) await flown(affiliate.code, affiliate.wallet);
  const treasury = await world.usdc(world.treasury.address);
  const workers = [world.worker, world.service().worker, world.service().worker];
  await Promise.all(workers.map((worker) => worker.runDue()));
  world.clock.advance(61_000);
  await Promise.all(workers.map((worker) => worker.runDue()));
  expect(await world.usdc(affiliate.wallet)).toBe(SHARE * 3n);
  expect(await world.usdc(world.treasury.address)).toBe(treasury - SHARE * 3n);
  expect(await affiliate.credit()).toMatchObject({ pending_amount: 0, paid_amount: Number(SHARE * 3n) });
});

class Died extends Error {}

/** Stops for good at the given call to the database or the cluster: before the call, or with its answer lost. */
function mortal(diesAt: number) {
  let moments = 0;
  const pass = () => {
    if (++moments >= diesAt) throw new Died();
  };
  const wrap = (ports: Ports): Ports => ({
    ...ports,
    store: ports.store.withPlugin({
      transformQuery: ({ node }) => {
        pass();
        return node;
      },
      transformResult: async ({ result }) => {
        pass();
        return result;
      },
    }),
    cluster: new Proxy(ports.cluster, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return async (...given: unknown[]) => {
          pass();
          const answer: unknown = await value.apply(target, given);
          pass();
          return answer;
        };
      },
    }),
  });
  return { wrap, died: () => moments >= diesAt };
}

test('a worker that dies at any call leaves credit that is paid once', async () => {
  const affiliate = await newAffiliate();
  let owed = 0n;
  for (let diesAt = 1; ; diesAt += worldDatabase.stride) {
    await flown(affiliate.code, affiliate.wallet);
    owed += SHARE;
    const treasury = await world.usdc(world.treasury.address);
    const paid = await world.usdc(affiliate.wallet);
    const { wrap, died } = mortal(diesAt);
    const doomed = world.service(wrap);
    await doomed.worker.runDue().catch((error: unknown) => {
      if (!(error instanceof Died)) throw error;
    });
    // What was signed and not sent may land until its blockhash is dead for certain: a second round knows.
    for (let rounds = 0; rounds < 3; rounds++) {
      world.clock.advance(61_000);
      await world.worker.runDue();
    }
    expect([diesAt, await world.usdc(affiliate.wallet)]).toEqual([diesAt, owed]);
    expect(await world.usdc(world.treasury.address)).toBe(treasury - (owed - paid));
    if (!died()) break;
    expect(diesAt).toBeLessThan(300);
  }
});

test('a treasury that is short pays later', async () => {
  const poor = await openWorld({ airline: 'none' });
  const { wallet, body } = await (async () => {
    const { address } = poor.newWallet();
    return { wallet: address, body: (await poor.call<Affiliate>('/affiliates', { wallet: address })).body };
  })();
  await poor.store
    .insertInto('affiliate_payouts')
    .values({
      payout_id: 'pay_short',
      code: body.code,
      wallet,
      amount: Number(SHARE),
      state: 'open',
      attempts: 0,
      due_at_ms: 0,
      signature: null,
      created_at_ms: 0,
      paid_at_ms: null,
    })
    .execute();
  await poor.worker.runDue();
  expect(await poor.usdc(wallet)).toBe(0n);
  await poor.cluster.airdropUsdc(poor.treasury.address, SHARE);
  poor.clock.advance(6_000);
  await poor.worker.runDue();
  expect(await poor.usdc(wallet)).toBe(SHARE);
  expect(await poor.usdc(poor.treasury.address)).toBe(0n);
  await poor.close();
});
