import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOperatorKeys } from '../../../src/flights/desk/keys.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { problem } from '../../../src/kernel/problems.ts';
import type {
  CreatedIntent,
  Intent,
  Offer,
  Order,
  Passenger,
  RefundCase,
  RefundPlan,
} from '../../../src/wire/flights/index.ts';
import { intent as intentSchema, order as orderSchema } from '../../../src/wire/flights/schema.ts';
import { authorizing } from '../authorized.ts';
import { openDesk, PAYOUT, TICKET } from '../refund-desk.ts';
import { openWorld, PASSENGER, type World } from '../world.ts';

/** The refund of some of a booking's travellers, of an airline that cancels travellers alone: the others stay booked. */

let world: World;
let ask: <T>(path: string, body?: object, call?: World['call']) => ReturnType<typeof world.call<T>>;
beforeAll(async () => {
  world = await openWorld();
  const keys = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
  const { key } = await keys.issue({ keyId: 'key_0', name: 'first' }, 'ana', 'req_1');
  ask = (path, body, call = world.call) =>
    call(`/operator/refund-requests/${path}`, body, { headers: { Authorization: `Bearer ${key}` } });
  await world.cluster.airdropUsdc(world.wallet.address, 100_000_000_000n);
});
afterAll(() => world.close());

const BEN: Passenger = { ...PASSENGER, given_name: 'Ben', born_on: '1988-02-01', title: 'mr', gender: 'm' };
const LEO: Passenger = { ...BEN, given_name: 'Leo', born_on: '2018-05-01' };
const MIA: Passenger = { ...PASSENGER, given_name: 'Mia', born_on: '2025-10-01', title: 'miss' };

const hasPenalty = ({ conditions, total_currency }: Offer): boolean =>
  total_currency === 'USD' &&
  conditions?.refund_allowed === true &&
  Number(conditions.refund_penalty_amount) > 0 &&
  conditions.refund_penalty_currency === 'USD';

/** A booking of a fare with a penalty, and its price. */
async function booked(passengers: readonly Passenger[], search: object, lock: object = {}, isWanted = hasPenalty) {
  const { offers } = await world.search({ adults: 2, ...search, limit: 500 });
  const offer = offers.find((one) => isWanted(one) && one.tax_amount_decimal !== null);
  if (!offer) throw new Error('no such fare');
  const made = await world.intent(offer.offer_id, lock);
  await world.book(made, [...passengers]);
  await world.work();
  return { made, offer, price: BigInt(made.escrow.amount) };
}

const headers = ({ customer_support_code: code }: CreatedIntent) => ({
  'X-Customer-Support-Code': code,
  'X-Passenger-Family-Name': 'Lovelace',
});

const request = (made: CreatedIntent, passengers?: number[]) =>
  world.paid<{ code?: string; message?: string; detail?: object }>(
    '/air/refund-requests',
    { intent_id: made.intent_id, reason: 'Leo is ill.', ...(passengers && { passengers }) },
    { headers: headers(made) },
  );

const shown = async (made: CreatedIntent): Promise<Intent> =>
  (await world.call<Intent>(`/air/intents/${made.intent_id}`, undefined, { headers: headers(made) })).body;

async function orderOf(made: CreatedIntent): Promise<Order> {
  const { order_id } = await world.show(made);
  return (await world.paid<Order>(`/air/orders/${order_id}`, undefined, { method: 'GET', headers: headers(made) }))
    .body;
}

const refunded = async () => world.usdc(world.refundWallet.address);
const bagsOf = (order: Order) => order.bags?.find(({ type }) => type === 'checked')?.quantity;

test('two adults and a child with a bag each: the child, an adult later, then the rest; to the unit', async () => {
  const bags = { bags: { checked: 2 } };
  const { made, offer, price } = await booked([PASSENGER, BEN, LEO], { child_ages: [8] }, bags);
  const before = await orderOf(made);
  expect(before).toMatchObject({ passenger_count: 3, status: 'ticketed' });
  const quoted = (await shown(made)).passengers ?? [];
  expect(before.passengers).toEqual(quoted);
  expect(quoted.map(({ passenger, type, status }) => [passenger, type, status])).toEqual([
    [1, 'adult', 'booked'],
    [2, 'adult', 'booked'],
    [3, 'child', 'booked'],
  ]);
  const sum = (of: 'paid_amount' | 'refund_amount') => quoted.reduce((all, one) => all + BigInt(one[of] ?? 0), 0n);
  const whole = price - BigInt(Math.round(Number(offer.conditions?.refund_penalty_amount) * 1_000_000));
  expect([sum('paid_amount'), sum('refund_amount')]).toEqual([price, whole]);
  // Only the holder of the code sees who paid what.
  expect(await world.show(made)).not.toHaveProperty('passengers');

  const start = await refunded();
  expect((await request(made, [3])).status).toBe(202);
  expect((await shown(made)).passengers?.[2]).toMatchObject({ status: 'refund_requested' });
  expect((await request(made, [2])).body.code).toBe('refund_already_requested');
  const [child] = [quoted[2]];
  const { body: found } = await ask<RefundCase>(made.intent_id);
  expect(found).toMatchObject({
    captured_amount: child?.paid_amount,
    passengers: [{ passenger: 3, type: 'child', paid_amount: child?.paid_amount }],
    others_stay: true,
    refund_rule: { payout_amount: child?.refund_amount },
  });
  const more = { payout_amount: (child?.paid_amount ?? 0) + 1, note: 'too much' };
  expect((await ask<{ code: string }>(`${made.intent_id}/approve`, more)).body.code).toBe('invalid_request');
  expect((await ask<RefundCase>(`${made.intent_id}/approve`, {})).body).toMatchObject({ status: 'refunded' });
  expect((await refunded()) - start).toBe(BigInt(child?.refund_amount ?? 0));

  const after = await orderOf(made);
  expect(orderSchema.parse(after)).toEqual(after);
  expect(after).toMatchObject({ passenger_count: 2, status: 'ticketed', booking_reference: before.booking_reference });
  expect(after.documents).toEqual(before.documents.slice(0, 2));
  expect([bagsOf(before), bagsOf(after)]).toEqual([bagsOf(before), ((bagsOf(before) ?? 0) / 3) * 2]);
  const seen = await shown(made);
  expect(intentSchema.parse(seen)).toEqual(seen);
  expect(seen).toMatchObject({
    status: 'booked',
    refunded_at: null,
    refund_request: { state: 'paid', passengers: [3] },
    passenger_refunds: [{ passengers: [3], payout_amount: child?.refund_amount }],
  });

  expect((await request(made, [3])).body).toMatchObject({ code: 'already_refunded', detail: { passenger: 3 } });
  expect((await request(made, [4])).body.code).toBe('invalid_request');
  expect((await request(made, [2])).status).toBe(202);
  expect((await ask<RefundCase>(`${made.intent_id}/approve`, {})).body.status).toBe('refunded');
  expect(await orderOf(made)).toMatchObject({ passenger_count: 1, status: 'ticketed' });

  expect((await request(made)).status).toBe(202);
  const { body: last } = await ask<RefundCase>(made.intent_id);
  expect(last).toMatchObject({ passengers: [{ passenger: 1 }], others_stay: false });
  expect((await ask<RefundCase>(`${made.intent_id}/approve`, {})).body.status).toBe('refunded');
  expect((await refunded()) - start).toBe(whole);
  expect(await orderOf(made)).toMatchObject({ status: 'cancelled' });
  const ended = await shown(made);
  expect(ended.status).toBe('refunded');
  expect(ended.passengers?.map(({ status }) => status)).toEqual(['refunded', 'refunded', 'refunded']);
  expect((await request(made)).body.code).toBe('already_refunded');
  const mails = await world.store
    .selectFrom('outbox')
    .select('dedup_key')
    .where('intent_id', '=', made.intent_id)
    .where('dedup_key', 'like', 'mail:refund_request_approved%')
    .execute();
  expect(mails).toHaveLength(3);
});

test('travellers on whom others depend are refused with the reason, before anything is charged, unless both go', async () => {
  const { made } = await booked([PASSENGER, LEO, MIA], { adults: 1, child_ages: [8, 1] });
  const before = await world.usdc(world.wallet.address);
  for (const passengers of [[1], [1, 3]]) {
    expect((await request(made, passengers)).body).toMatchObject({ code: 'passenger_needed' });
  }
  expect(await world.usdc(world.wallet.address)).toBe(before);
  expect((await request(made, [2, 3])).status).toBe(202);
  const start = await refunded();
  const { body } = await ask<RefundCase>(`${made.intent_id}/approve`, {});
  expect(body).toMatchObject({ status: 'refunded', passengers: [{ passenger: 2 }, { passenger: 3, type: 'infant' }] });
  expect((await refunded()) - start).toBe(BigInt(body.payout_amount ?? 0));
  expect(await orderOf(made)).toMatchObject({ passenger_count: 1, status: 'ticketed' });
});

test('two operators at once: one cancellation, one pay-out', async () => {
  const { made } = await booked([PASSENGER, BEN], {});
  const start = await refunded();
  expect((await request(made, [2])).status).toBe(202);
  const other = world.service();
  const answers = await Promise.all([
    ask<RefundCase>(`${made.intent_id}/approve`, {}),
    ask<RefundCase>(`${made.intent_id}/approve`, {}, other.call),
  ]);
  expect(answers.map(({ status }) => status)).toContain(200);
  await world.work();
  const { body } = await ask<RefundCase>(made.intent_id);
  expect(body.status).toBe('refunded');
  expect((await refunded()) - start).toBe(BigInt(body.payout_amount ?? 0));
  const effects = await world.store
    .selectFrom('effects')
    .select(['kind', 'state'])
    .where('subject', '=', `${made.intent_id}:2`)
    .execute();
  expect(effects.map(({ kind, state }) => `${kind} ${state}`).sort()).toEqual(['airline_cancel done', 'payout done']);
  expect((await shown(made)).status).toBe('booked');
});

test('all that are left is the rest, whether they are named or not; a rejection frees the next request', async () => {
  const { made } = await booked([PASSENGER, BEN], {});
  expect((await request(made, [2])).status).toBe(202);
  expect((await ask(`${made.intent_id}/reject`, { reason: 'Not today.' })).status).toBe(200);
  expect((await orderOf(made)).passenger_count).toBe(2);
  expect((await request(made, [1, 2])).status).toBe(202);
  const { body } = await ask<RefundCase>(`${made.intent_id}/approve`, {});
  expect(body).not.toHaveProperty('passengers');
  expect(await shown(made)).toMatchObject({ status: 'refunded' });
});

test.each(['opened', 'authorized'] as const)(
  'a price that is held in an %s escrow is captured first, and the treasury pays each traveller',
  async (kind) => {
    const desk = await openDesk('scripted', { options: { holdAfterTicketMs: 5 * 3_600_000 } });
    try {
      const held = desk.world;
      held.airline.script.passengerCount = 2;
      const client = authorizing(held, held.wallet, [PASSENGER, BEN]);
      const made = kind === 'opened' ? await held.intent('off_1') : await client.intent('off_1');
      await (kind === 'opened' ? held.book(made, [PASSENGER, BEN]) : client.book(made));
      await held.work();
      expect(await held.show(made)).toMatchObject({ status: 'booked', captured_at: null });
      const owner = kind === 'opened' ? held.refundWallet.address : held.wallet.address;
      const about = (passengers?: number[]) =>
        held.paid(
          '/air/refund-requests',
          { intent_id: made.intent_id, reason: 'Ill.', ...(passengers && { passengers }) },
          { headers: headers(made) },
        );
      const path = `/refund-requests/${made.intent_id}/approve`;
      expect((await about([2])).status).toBe(202);
      const [before, treasury] = [await held.usdc(owner), await held.usdc(held.treasury.address)];
      const { body: plan } = await desk.ask<RefundPlan>(path, { dry_run: true });
      expect(plan).toMatchObject({
        paid_from: 'treasury',
        captured_amount: Number(TICKET / 2n),
        payout_amount: Number(PAYOUT / 2n),
      });
      expect(plan.steps).toEqual([
        expect.stringMatching(/^Cancel traveller 2 of order/),
        'Capture the 151.20 USDC in escrow.',
        expect.stringMatching(/^Pay 50\.00 USDC from the treasury/),
        expect.stringMatching(/^Keep 25\.60 USDC of 75\.60/),
        expect.stringMatching(/^Keep the booking of the other travellers/),
      ]);
      // While the airline has cancelled nobody, nothing moves.
      held.airline.script.before.cancelPassengers = () => {
        throw problem('provider_failed');
      };
      expect((await desk.ask<RefundCase>(path, {})).body.status).toBe('approved');
      expect([await held.usdc(owner), await held.usdc(held.treasury.address)]).toEqual([before, treasury]);
      held.airline.script.before = {};
      await held.work();
      expect(held.airline.orders.get(made.intent_id)).toMatchObject({ status: 'ticketed', cancelledPassengers: [2] });
      expect((await held.usdc(owner)) - before).toBe(PAYOUT / 2n);
      expect((await held.usdc(held.treasury.address)) - treasury).toBe(TICKET - PAYOUT / 2n);
      expect(await held.show(made)).toMatchObject({ status: 'booked', capture_tx_hash: expect.any(String) });
      // The rest is asked for without a name.
      const mid = await held.usdc(owner);
      expect((await about()).status).toBe(202);
      const fee = mid - (await held.usdc(owner));
      expect((await desk.ask<RefundCase>(path, {})).body.status).toBe('refunded');
      expect((await held.usdc(owner)) - before + fee).toBe(PAYOUT);
      expect((await held.show(made)).status).toBe('refunded');
    } finally {
      await desk.world.close();
    }
  },
);
