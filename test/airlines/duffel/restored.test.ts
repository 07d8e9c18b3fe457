import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createOperatorKeys } from '../../../src/flights/desk/keys.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import type { CreatedIntent, StuckItem } from '../../../src/wire/flights/index.ts';
import { openStage, paidFor } from '../../flights/duffel-journeys.ts';
import { dump } from '../../flights/dump.ts';

/** A database that was put back has forgotten its orders. Duffel has not, and is asked before anything is paid back. */

let stage: Awaited<ReturnType<typeof openStage>>;
let journeys = 0;
beforeAll(async () => {
  stage = await openStage('restored');
});
afterAll(() => stage.close());
beforeEach(() => stage.duffel.admin('/behaviours', { order: 'normal', order_read: 'normal' }));

const ordersOf = async ({ intent_id }: CreatedIntent) =>
  (await stage.duffel.admin('/orders')).orders.filter(({ reference }) => reference === intent_id);

test.each(['restored before it was ordered', 'restored while it is ordered'])(
  'an order whose attempt was forgotten is found, and booked: %s',
  async (when) => {
    const { world, service, duffel } = stage;
    const { worker, ...next } = service();
    const { made, amount } = await paidFor(stage, { worker, ...next }, journeys++);
    await duffel.admin('/behaviours', { order: 'ticket_later' });
    const restore = await dump(world);
    await worker.runDue();
    expect(await ordersOf(made)).toHaveLength(1);
    await restore();
    if (when.endsWith('while it is ordered')) {
      await world.store.updateTable('bookings').set({ state: 'ordering' }).execute();
    }
    // An offer that was ordered from can't be had any more.
    await duffel.admin('/behaviours', { offer: 'gone' });
    world.clock.advance(60_000);
    await world.work(undefined, worker);
    await duffel.admin('/behaviours', { offer: 'normal' });
    expect(await world.show(made)).toMatchObject({ status: 'booked', refund_reason: null });
    expect(await ordersOf(made)).toMatchObject([{ cancelled_at: null }]);
    expect((await world.sums(made)).vault).toBe(0n);
    const attempts = await world.store
      .selectFrom('duffel_attempts')
      .select(['verdict', 'order_id'])
      .where('reference', '=', made.intent_id)
      .execute();
    expect(attempts).toEqual([{ verdict: 'ordered', order_id: (await ordersOf(made))[0]?.order_id }]);
    expect(amount).toBeGreaterThan(0n);
  },
);

test('an intent that was booked after the dump keeps the order that the airline shows', async () => {
  const { world, service, duffel } = stage;
  const { worker, call, ...next } = service();
  await duffel.admin('/behaviours', { order: 'normal' });
  const { made } = await paidFor(stage, { worker, call, ...next }, journeys++);
  const restore = await dump(world);
  await world.work(undefined, worker);
  const booked = await world.sums(made);
  await restore();
  // The dump is from before it was paid for.
  await world.store.deleteFrom('bookings').where('intent_id', '=', made.intent_id).execute();
  await sql`update meta set value = '0' where key = 'sweep_due_at_ms'`.execute(world.store);
  const { worker: sweeper } = service();
  for (let round = 0; round < 2; round++) await sweeper.runDue();
  const keys = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
  const { key } = await keys.issue({ keyId: 'key_0', name: 'first' }, 'ana', 'req_1');
  const headers = { Authorization: `Bearer ${key}` };
  const path = `/operator/stuck/${made.intent_id}`;
  const { body } = await call<StuckItem>(path, undefined, { headers });
  expect(body).toMatchObject({ escrow: { state: 'captured' }, airline: { status: 'ticketed' } });
  const said = { decision: 'ticketed', booking_reference: 'ZX7QPL' };
  expect((await call(`${path}/resolve`, said, { headers })).status).toBe(200);
  await world.work(undefined, worker);
  const order = await world.store
    .selectFrom('orders')
    .select('provider_order_id')
    .where('intent_id', '=', made.intent_id)
    .executeTakeFirst();
  expect(order?.provider_order_id).toBe((await ordersOf(made))[0]?.order_id);
  expect(await world.sums(made)).toEqual(booked);
});
