import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createOperatorKeys } from '../../../src/flights/desk/keys.ts';
import { nextLookMs } from '../../../src/flights/upkeep/order-watch.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { problem } from '../../../src/kernel/problems.ts';
import type { CreatedIntent, Order, RefundCase } from '../../../src/wire/flights/index.ts';
import { proofTest } from '../../proof-only.ts';
import { openDesk } from '../refund-desk.ts';
import { openWorld, PASSENGER, type World } from '../world.ts';

/** What an airline changes of an order that it sold reaches the traveller and the operator, once. */

let world: World;
let made: CreatedIntent;
const script = () => world.airline.script;
const NEW_TIMES = ['2026-12-20T12:15:00', '2026-12-20T16:45:00'] as const;

async function booked(airline: 'quoting' | 'scripted' = 'quoting'): Promise<void> {
  world = await openWorld({ airline });
  made = await world.intent('off_1');
  await world.book(made);
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
}
afterEach(() => world.close());

const told = async (kind: 'email' | 'page') => {
  const rows = await world.store.selectFrom('outbox').select('dedup_key').where('kind', '=', kind).execute();
  return rows.map(({ dedup_key }) => dedup_key.split(':')[1]).filter((word) => /changed/.test(word ?? ''));
};
const day = async () => {
  world.clock.advance(25 * 3_600_000);
  await world.worker.runDue();
};
const message = (references: unknown, signature = 'right') =>
  world.call('/webhooks/airline', JSON.stringify(references), { headers: { 'X-Signature': signature } });
const kept = async () => {
  const { document } = await world.store.selectFrom('orders').select('document').executeTakeFirstOrThrow();
  return JSON.parse(document) as Order;
};

test('an order says when the airline last moved it, and not when it was made', async () => {
  const TICKETING_MS = 8_000;
  world = await openWorld({ ticketingMs: TICKETING_MS });
  const { offers } = await world.search();
  made = await world.intent(offers[0]?.offer_id ?? '');
  await world.book(made);
  await world.work();
  const { status, created_at: createdAt, updated_at: updatedAt } = await kept();
  expect(status).toBe('ticketed');
  expect(Date.parse(updatedAt) - Date.parse(createdAt)).toBe(TICKETING_MS);
});

describe('a flight that is moved', () => {
  beforeEach(() => booked());

  test('is written down with the time at which it was seen', async () => {
    const times = () =>
      world.store.selectFrom('orders').select(['created_at_ms', 'updated_at_ms']).executeTakeFirstOrThrow();
    const before = await times();
    expect(before.updated_at_ms).toBe(before.created_at_ms);
    await day();
    expect(await times()).toEqual(before);
    script().times = NEW_TIMES;
    await day();
    const { created_at_ms: madeAtMs, updated_at_ms: seenAtMs } = await times();
    expect(madeAtMs).toBe(before.created_at_ms);
    expect(seenAtMs - madeAtMs).toBeGreaterThanOrEqual(2 * 25 * 3_600_000);
    expect(seenAtMs).toBeLessThanOrEqual(world.clock.now());
  });

  test('is seen within a day, kept, told to the traveller and to the operator, and shown', async () => {
    await day();
    expect(await told('email')).toEqual([]);
    script().times = NEW_TIMES;
    await day();
    expect((await kept()).slices[0]?.departing_at).toBe(NEW_TIMES[0]);
    expect(await told('email')).toEqual(['journey_changed']);
    expect(await told('page')).toEqual(['order_changed']);
    expect((await world.show(made)).order_changed_at).toMatch(/^2026-11-/);
    const audit = await world.store.selectFrom('operator_audit').select(['action', 'detail']).execute();
    const [change] = audit.filter(({ action }) => action === 'order.changed');
    expect(JSON.parse(change?.detail ?? '{}')).toMatchObject({
      change: 'flights',
      before: [expect.stringContaining('2026-12-20T10:00:00')],
      after: [expect.stringContaining(NEW_TIMES[0])],
    });
    await day();
    await Promise.all([world.worker.runDue(), world.service().worker.runDue()]);
    expect(await told('email')).toHaveLength(1);
  });

  test('stands in the case of a refund', async () => {
    const desk = await openDesk('quoting');
    try {
      const asked = await desk.requested();
      const events = async () => {
        const { body } = await desk.ask<RefundCase>(`/refund-requests/${asked.intent_id}`);
        return body.timeline.map(({ event }) => event);
      };
      expect(await events()).not.toContain('changed by the airline');
      desk.world.airline.script.times = NEW_TIMES;
      desk.world.clock.advance(25 * 3_600_000);
      await desk.world.worker.runDue();
      expect((await events()).at(-1)).toBe('changed by the airline');
    } finally {
      await desk.world.close();
    }
  });

  test('is looked at now when the airline says so', async () => {
    script().times = NEW_TIMES;
    expect((await message([made.intent_id])).status).toBe(200);
    await world.worker.runDue();
    expect(await told('email')).toEqual(['journey_changed']);
    expect((await message([made.intent_id])).status).toBe(200);
    await world.worker.runDue();
    expect(await told('email')).toHaveLength(1);
  });

  test('is told as often as it is moved, there and back', async () => {
    const first = script().times;
    for (const times of [NEW_TIMES, first, NEW_TIMES]) {
      script().times = times;
      await day();
    }
    expect(await told('email')).toHaveLength(3);
  });

  test('is told as well when the traveller looks first', async () => {
    script().times = NEW_TIMES;
    const { order_id } = await world.show(made);
    const answer = await world.paid<Order>(`/air/orders/${order_id}`, undefined, {
      headers: { 'X-Customer-Support-Code': made.customer_support_code },
    });
    expect(answer.body.airline_changed_at).toBeDefined();
    expect(await told('email')).toEqual(['journey_changed']);
    await day();
    expect(await told('email')).toHaveLength(1);
  });

  proofTest('a cancellation by the airline is told, and is the last that is looked for', async () => {
    const order = world.airline.orders.get(made.intent_id);
    if (!order) throw new Error('no order');
    world.airline.orders.set(made.intent_id, { ...order, status: 'cancelled' });
    await day();
    expect((await kept()).status).toBe('cancelled');
    expect(await told('email')).toEqual(['journey_changed']);
    const tasks = await world.store.selectFrom('upkeep').select('task').execute();
    expect(tasks.map(({ task }) => task)).not.toContain('order_watch');
  });

  test('other tickets are told, too', async () => {
    script().tickets = ['9990000000001'];
    await day();
    expect(await told('email')).toEqual(['journey_changed']);
    expect((await kept()).documents).toEqual([{ type: 'electronic_ticket', number: '9990000000001' }]);
  });
});

proofTest(
  'an order that the airline shows without its ticket keeps its id when an operator records the ticket',
  async () => {
    world = await openWorld({ airline: 'quoting' });
    const keys = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
    const { key } = await keys.issue({ keyId: 'key_0', name: 'first' }, 'ana', 'req_1');
    made = await world.intent('off_1');
    script().status = 'confirmed';
    script().tickets = [];
    const silent = () => {
      throw problem('provider_failed');
    };
    script().before = { createOrder: silent, findOrder: silent };
    await world.book(made);
    await world.work(3_600_000);
    // The order had arrived after all.
    script().before = {};
    await world.provider?.createOrder({
      reference: made.intent_id,
      offerId: made.offer_id,
      expectedAmountDecimal: '151.20',
      passengers: [PASSENGER],
    });
    const heard = [{ type: 'electronic_ticket', number: '999-1234567890' }];
    const decided = await world.call(
      `/operator/stuck/${made.intent_id}/resolve`,
      { decision: 'ticketed', booking_reference: 'QX7RTP', documents: heard },
      { headers: { Authorization: `Bearer ${key}` } },
    );
    expect(decided.status, JSON.stringify(decided.body)).toBe(200);
    await world.work();
    expect((await world.show(made)).status).toBe('booked');
    // The airline shows no ticket yet: what the operator heard stays, and is no change.
    await day();
    expect(await told('email')).toEqual([]);
    expect(await kept()).toMatchObject({ status: 'ticketed', documents: heard });
    script().times = NEW_TIMES;
    await day();
    expect((await kept()).slices[0]?.departing_at).toBe(NEW_TIMES[0]);
    expect(await told('email')).toEqual(['journey_changed']);
    expect((await kept()).documents).toEqual(heard);
  },
);

test('an airline that changes nothing is not asked again', async () => {
  await booked('scripted');
  let asked = 0;
  script().before.order = () => {
    asked++;
  };
  for (let days = 0; days < 3; days++) await day();
  expect(asked).toBe(0);
});

describe('a message of the airline', () => {
  test('with a wrong signature is refused, and one for nobody changes nothing', async () => {
    await booked();
    const wrong = await message([made.intent_id], 'wrong');
    expect([wrong.status, wrong.body.code]).toEqual([401, 'unauthorized']);
    expect((await message(['int_nobody', 'x'])).status).toBe(200);
    expect((await message([])).status).toBe(200);
  });

  test('has no place where the provider takes none', async () => {
    world = await openWorld({ airline: 'scripted' });
    const answer = await message([]);
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
  });

  test('is refused when it is too large', async () => {
    world = await openWorld({ airline: 'quoting' });
    const answer = await message(['x'.repeat(300_000)]);
    expect([answer.status, answer.body.code]).toEqual([413, 'payload_too_large']);
  });

  test('makes a booking that waits for its ticket due at once', async () => {
    world = await openWorld({ airline: 'quoting' });
    made = await world.intent('off_1');
    script().status = 'pending';
    await world.book(made);
    await world.work(10 * 60_000);
    const dueAtMs = async () =>
      (await world.store.selectFrom('bookings').select('due_at_ms').executeTakeFirstOrThrow()).due_at_ms;
    await world.store
      .updateTable('bookings')
      .set({ due_at_ms: world.clock.now() + 60_000 })
      .execute();
    script().status = 'ticketed';
    await world.worker.runDue();
    expect((await world.show(made)).status).toBe('active');
    await message([made.intent_id]);
    expect(await dueAtMs()).toBeLessThanOrEqual(world.clock.now());
    await world.work(1_000);
    expect((await world.show(made)).status).toBe('booked');
  });

  test('about a booking that waits for a person tells that person, once', async () => {
    world = await openWorld({ airline: 'quoting' });
    made = await world.intent('off_1');
    await world.book(made);
    await world.store.updateTable('bookings').set({ state: 'stuck', stuck_in: 'ordering' }).execute();
    await message([made.intent_id]);
    await message([made.intent_id]);
    const pages = await world.store
      .selectFrom('outbox')
      .select('dedup_key')
      .where('dedup_key', 'like', 'page:airline_message:%')
      .execute();
    expect(pages).toHaveLength(1);
  });
});

test('an order is looked at daily, hourly in the two days before a departure, and no more after the last', () => {
  const slices = [
    { departing_at: '2026-12-20T10:00:00', origin_time_zone: 'UTC' },
    { departing_at: '2026-12-30T10:00:00', origin_time_zone: 'UTC' },
  ] as unknown as Order['slices'];
  const HOUR = 3_600_000;
  const at = (text: string) => nextLookMs({ slices }, Date.parse(text));
  expect(at('2026-12-01T10:00:00Z')).toBe(24 * HOUR);
  expect(at('2026-12-19T10:00:00Z')).toBe(HOUR);
  expect(at('2026-12-20T11:00:00Z')).toBe(24 * HOUR);
  expect(at('2026-12-29T10:00:00Z')).toBe(HOUR);
  expect(at('2026-12-30T10:00:01Z')).toBeNull();
});
