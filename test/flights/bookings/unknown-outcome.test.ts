import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OrderRefused } from '../../../src/airlines/provider.ts';
import { createOperatorKeys } from '../../../src/flights/desk/keys.ts';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { problem } from '../../../src/kernel/problems.ts';
import type { CreatedIntent, Order, StuckItem } from '../../../src/wire/flights/index.ts';
import { proofTest } from '../../proof-only.ts';
import { openWorld, PASSENGER, type World } from '../world.ts';

/** An airline that can't prove that it ordered nothing: never a second order, and never a refund beside a ticket. */

let world: World;
let made: CreatedIntent;
const script = () => world.airline.script;
beforeEach(async () => {
  world = await openWorld({ airline: 'quoting' });
  made = await world.intent('off_1');
});
afterEach(() => world.close());

const booking = () =>
  world.store.selectFrom('bookings').selectAll().where('intent_id', '=', made.intent_id).executeTakeFirstOrThrow();
const attempts = () =>
  world.store
    .selectFrom('effects')
    .select(['state', 'error', 'detail'])
    .where('kind', '=', 'airline_order')
    .orderBy('attempt')
    .execute();
const gatewayTimeout = () => {
  throw problem('provider_failed', { detail: { airline_code: 'airline_unknown', airline_request_id: 'req-504' } });
};
const desk = async () => {
  const keys = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
  const { key } = await keys.issue({ keyId: 'key_0', name: 'first' }, 'ana', 'req_1');
  return <T>(path: string, body?: object) =>
    world.call<T>(`/operator/stuck/${made.intent_id}${path}`, body, { headers: { Authorization: `Bearer ${key}` } });
};

describe('an order whose answer was lost and that nobody can look up', () => {
  /** Asked for once; the airline has nothing to show for it. */
  async function lost(): Promise<void> {
    script().unknown.add(made.intent_id);
    let asked = 0;
    script().before.createOrder = () => {
      asked++;
      if (asked > 1) throw new Error('a second order');
      gatewayTimeout();
    };
    await world.book(made);
  }

  test('is asked about, never ordered again, and comes to a person with what the airline said', async () => {
    await lost();
    await world.work(2 * 3_600_000);
    expect(await booking()).toMatchObject({ state: 'stuck', last_error: 'outcome_unknown' });
    expect(await attempts()).toEqual([
      {
        state: 'sent',
        error: 'provider_failed',
        detail: JSON.stringify({ code: 'airline_unknown', request_id: 'req-504' }),
      },
    ]);
    expect((await world.sums(made)).vault).toBe(151_200_000n);
    const ask = await desk();
    const shown = (await ask<StuckItem>('')).body;
    expect(shown.airline).toEqual({
      status: 'unknown',
      booking_reference: null,
      code: 'airline_unknown',
      request_id: 'req-504',
    });
    expect(shown.ask).toContain(`our reference ${made.intent_id} (request req-504, airline_unknown)`);
    expect(shown.decisions.filter((one) => one.refusal !== null)).toEqual([]);
  });

  test('is booked by itself once it shows up in time', async () => {
    await lost();
    await world.worker.runDue();
    world.airline.orders.set(made.intent_id, await late());
    await world.work();
    expect((await world.show(made)).status).toBe('booked');
    expect(script().created).toBe(0);
  });

  proofTest('is looked for after the refund that a person decided, and is not taken for none', async () => {
    await lost();
    await world.work(2 * 3_600_000);
    const refunded = await (await desk())('/resolve', { decision: 'not_ticketed' });
    expect(refunded.status, JSON.stringify(refunded.body)).toBe(200);
    await world.work();
    expect((await world.show(made)).status).toBe('refunded');
    for (let day = 0; day < 4; day++) {
      world.clock.advance(25 * 3_600_000);
      await world.worker.runDue();
    }
    const pages = await world.store
      .selectFrom('outbox')
      .select('dedup_key')
      .where('dedup_key', 'like', 'page:ticket_after_refund:%')
      .execute();
    expect(pages).toHaveLength(1);
  });
});

const late = async () => ({
  providerOrderId: `air_${made.intent_id}`,
  reference: made.intent_id,
  status: 'ticketed' as const,
  bookingReference: 'LATAM12345678',
  documents: [],
  totalAmountDecimal: '151.20',
  totalCurrency: 'USD',
  slices: [],
  failure: null,
  createdAtMs: world.clock.now(),
  updatedAtMs: world.clock.now(),
});

describe('an order that the airline refused for certain', () => {
  test('is asked for again where the cause passes, each time as an attempt of its own', async () => {
    let refusals = 0;
    script().before.createOrder = () => {
      if (refusals++ < 3) throw new OrderRefused('provider_failed', true);
    };
    await world.book(made);
    await world.work();
    expect((await world.show(made)).status).toBe('booked');
    expect((await attempts()).map(({ state, error }) => [state, error])).toEqual([
      ...Array(3).fill(['failed', 'provider_failed']),
      ['done', null],
    ]);
  });

  test('gives the money back with its reason where the cause lasts', async () => {
    script().before.createOrder = () => {
      throw new OrderRefused('form_rejected', false);
    };
    await world.book(made);
    await world.work();
    expect(await world.show(made)).toMatchObject({ status: 'refunded', refund_reason: 'form_rejected' });
    expect((await attempts()).map(({ error }) => error)).toEqual(['form_rejected']);
    expect((await world.sums(made)).refund).toBe(151_200_000n);
  });

  proofTest('waits for a balance that is too low until the deadline, and is booked once it is filled up', async () => {
    const isLow = { now: true };
    script().before.createOrder = () => {
      if (isLow.now) throw new OrderRefused('provider_balance_low', false);
    };
    script().lifeMs = 48 * 3_600_000;
    await world.book(made);
    await world.work(3 * 3_600_000);
    expect(await booking()).toMatchObject({ state: 'ordering', last_error: 'operator_funds_low' });
    isLow.now = false;
    await world.work();
    expect((await world.show(made)).status).toBe('booked');
  });

  proofTest(
    'goes back for the balance once the deadline is near',
    async () => {
      script().before.createOrder = () => {
        throw new OrderRefused('provider_balance_low', false);
      };
      await world.book(made);
      await world.work(25 * 3_600_000);
      expect(await world.show(made)).toMatchObject({ status: 'refunded', refund_reason: 'provider_balance_low' });
      // A day of tries.
    },
    180_000,
  );
});

describe('trouble of our own is no answer of the airline', () => {
  test.each(['storage_failed', 'storage_full', 'too_many_open_files', 'database_unavailable'] as const)(
    '%s puts the order off, and it is booked once it has passed',
    async (code) => {
      let times = 0;
      script().before.createOrder = () => {
        if (times++ < 3) throw problem(code);
      };
      await world.book(made);
      await world.work();
      expect(await world.show(made)).toMatchObject({ status: 'booked', refund_reason: null });
      expect(script().created).toBe(1);
    },
  );

  test.each([
    ['too_many_open_files', () => problem('too_many_open_files')],
    ['internal_error', () => new TypeError('nobody foresaw it')],
  ])('the intent says what the booking waits for while it is tried again: %s', async (code, trouble) => {
    expect(await world.show(made)).toMatchObject({ booking_held_up_by: null });
    script().before.createOrder = () => {
      throw trouble();
    };
    await world.book(made);
    await world.work(2000);
    expect(await world.show(made)).toMatchObject({ status: 'active', booking_held_up_by: code });
    script().before = {};
    await world.work();
    expect(await world.show(made)).toMatchObject({ status: 'booked', booking_held_up_by: null });
  });
});

describe('a refusal of the airline that was not true', () => {
  const refusing = () => {
    script().before.createOrder = async () => {
      world.airline.orders.set(made.intent_id, await late());
      throw new OrderRefused('form_rejected', false);
    };
  };

  test('is looked at before the money goes back: the order that it shows is booked', async () => {
    refusing();
    await world.book(made);
    await world.work();
    expect(await world.show(made)).toMatchObject({ status: 'booked', refund_reason: null });
    expect((await attempts()).map(({ state }) => state)).toEqual(['done']);
  });

  test('waits for a person where the airline can no longer be asked', async () => {
    refusing();
    script().before.findOrder = gatewayTimeout;
    await world.book(made);
    await world.work(2 * 3_600_000);
    expect(await booking()).toMatchObject({ state: 'stuck', stuck_in: 'refunding', last_error: 'outcome_unknown' });
    expect((await world.sums(made)).vault).toBe(151_200_000n);
    const ask = await desk();
    expect((await ask<StuckItem>('')).body.ask).toContain(`our reference ${made.intent_id}`);
    delete script().before.findOrder;
    expect((await ask('/resolve', { decision: 'retry' })).status).toBe(200);
    await world.work();
    expect((await world.show(made)).status).toBe('booked');
  });
});

test.each([
  ['a cent more', '151.21', 'USD'],
  ['a cent less', '151.19', 'USD'],
  ['another currency', '151.20', 'EUR'],
])('an order that was paid with %s is captured only by a person', async (_, totalAmountDecimal, totalCurrency) => {
  script().before.createOrder = async () => {
    world.airline.orders.set(made.intent_id, { ...(await late()), totalAmountDecimal, totalCurrency });
  };
  await world.book(made);
  await world.work();
  expect(await booking()).toMatchObject({
    state: 'stuck',
    last_error: 'paid_another_price',
    provider_order_id: `air_${made.intent_id}`,
  });
  expect((await world.sums(made)).vault).toBe(151_200_000n);
  const said = { decision: 'ticketed', booking_reference: 'ZX7QPL' };
  expect((await (await desk())('/resolve', said)).status).toBe(200);
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
});

test('a balance that is too low until the offer has expired is what the traveller hears', async () => {
  script().before.createOrder = () => {
    throw new OrderRefused('provider_balance_low', false);
  };
  await world.book(made);
  await world.work(600_000);
  script().before.createOrder = () => {
    throw problem('offer_expired');
  };
  await world.work();
  expect(await world.show(made)).toMatchObject({ status: 'refunded', refund_reason: 'provider_balance_low' });
});

test('an order that takes two minutes is made once, and its booking goes on from it', async () => {
  await world.book(made);
  // Leases are renewed by this clock, which is ahead of the machine's.
  const sleep: Clock['sleep'] = (ms, signal) => systemClock.sleep(Math.min(ms, 5), signal);
  const process = () =>
    world.service((ports) => ({ ...ports, clock: { ...ports.clock, now: world.clock.now, sleep } }));
  const [one, other] = [process(), process()];
  let asked = 0;
  script().before.createOrder = async () => {
    asked++;
    for (let sleptMs = 0; sleptMs < 130_000; sleptMs += 4_000) {
      world.clock.advance(4_000);
      await systemClock.sleep(20);
      expect((await other.worker.runDue()).worked).toBe(0);
    }
  };
  await world.work(10 * 60_000, one.worker);
  expect(asked).toBe(1);
  expect(await world.show(made)).toMatchObject({ status: 'booked' });
});

test('the price is confirmed as the last step before the escrow is paid, and before the order', async () => {
  await world.call('/air/book', { intent_id: made.intent_id, passengers: [PASSENGER] });
  const moments: unknown[] = [];
  script().moments = [];
  script().before.createOrder = () => {
    moments.push(...script().moments);
  };
  await world.book(made);
  await world.work();
  // The check of the unpaid call may be shared; the paid one and the worker's are their own.
  expect(moments.length).toBeGreaterThanOrEqual(2);
  expect(new Set(moments)).toEqual(new Set(['booking']));
});

test('what only this airline refuses of passengers is said before anything is charged', async () => {
  script().issues = [
    { path: 'passengers.0.given_name', message: 'must have at most 20 letters.', code: 'invalid_request' },
  ];
  const answer = await world.call('/air/book', { intent_id: made.intent_id, passengers: [PASSENGER] });
  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({
    code: 'invalid_request',
    detail: { issues: [{ path: 'passengers.0.given_name', message: 'must have at most 20 letters.' }] },
  });
});

test('a carrier without tickets, and a record locator of 13 characters, reach mail and order as they are', async () => {
  Object.assign(script(), { tickets: [], record: 'LATAM12345678' });
  await world.book(made);
  await world.work();
  const { order_id } = await world.show(made);
  const order = await world.paid<Order>(`/air/orders/${order_id}`, undefined, {
    headers: { 'X-Customer-Support-Code': made.customer_support_code },
  });
  expect(order.body).toMatchObject({ booking_reference: 'LATAM12345678', status: 'ticketed', documents: [] });
});
