import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { CreatedIntent } from '../../../src/wire/flights/index.ts';
import { openStage, paidFor } from '../../flights/duffel-journeys.ts';
import { dump } from '../../flights/dump.ts';
import { proofTest } from '../../proof-only.ts';

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

proofTest(
  'an intent that was booked after the dump, and one that was made after it, keep the orders that the airline shows',
  async () => {
    const { world, service, duffel } = stage;
    const { worker, call, ...next } = service();
    await duffel.admin('/behaviours', { order: 'normal' });
    const { made } = await paidFor(stage, { worker, call, ...next }, journeys++);
    const restore = await dump(world);
    await world.work(undefined, worker);
    const { made: other } = await paidFor(stage, { worker, call, ...next }, journeys++);
    await world.work(undefined, worker);
    const booked = await world.sums(made);
    await restore();
    // The dump is from before it was paid for.
    await world.store.deleteFrom('bookings').where('intent_id', '=', made.intent_id).execute();
    // Bought after the dump, too, and unknown to it.
    await sql`delete from intents where intent_id = ${other.intent_id}`.execute(world.store);
    const later = service(undefined, { sweepsAtStart: true });
    expect(await later.worker.runDue()).toEqual({ worked: 0, nextDueAtMs: null });
    const { findings } = await later.reconcile({ isDryRun: false });
    expect(findings.map(({ kind, subject }) => [kind, subject])).toEqual(
      expect.arrayContaining([
        ['captured', made.intent_id],
        ['order_adopted', other.intent_id],
      ]),
    );
    await world.work(undefined, later.worker);
    for (const one of [made, other]) expect(await world.show(one)).toMatchObject({ status: 'booked' });
    const order = await world.store
      .selectFrom('orders')
      .select('provider_order_id')
      .where('intent_id', '=', made.intent_id)
      .executeTakeFirst();
    expect(order?.provider_order_id).toBe((await ordersOf(made))[0]?.order_id);
    expect(await world.sums(made)).toEqual(booked);
    world.clock.advance(2_000);
    expect((await later.reconcile({ isDryRun: true })).findings).toEqual([]);
  },
);
