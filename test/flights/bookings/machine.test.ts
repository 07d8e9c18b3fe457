import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BookingState } from '../../../src/flights/base/tables.ts';
import {
  BOOKING_STATES,
  beginBooking,
  isWork,
  mayMove,
  moveBooking,
  OPEN_BOOKINGS,
} from '../../../src/flights/bookings/machine.ts';
import { STEPS } from '../../../src/flights/bookings/steps.ts';
import { flightsMigrations } from '../../../src/flights/migrations.ts';
import { LeaseLost } from '../../../src/store/leases.ts';
import { filesIn } from '../../house.mjs';
import { openWorld, type World } from '../world.ts';

const STATES = Object.keys(BOOKING_STATES) as BookingState[];

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test('every state in which there is work has its step, and no other has one', () => {
  expect(Object.keys(STEPS).sort()).toEqual(STATES.filter(isWork).sort());
});

test('what the queue takes is what its index holds, word by word', () => {
  const { sql } = OPEN_BOOKINGS.compile(world.store);
  expect(flightsMigrations.openBookings.some((statement) => statement.includes(`where ${sql}`))).toBe(true);
});

test('a ticket never turns into a refund, an end is an end, and only an operator moves what is stuck', () => {
  const from = (state: BookingState) => STATES.filter((to) => mayMove(state, to, 'runner'));
  expect(from('capturing')).toEqual(['booked', 'stuck']);
  expect([from('booked'), from('refunded'), from('stuck')]).toEqual([[], [], []]);
  expect(STATES.filter((to) => mayMove('stuck', to, 'operator'))).toEqual(STATES.filter(isWork));
});

test('only machine.ts writes the state of a booking', () => {
  const writers = filesIn('src').filter((file) =>
    /(insertInto|updateTable|deleteFrom)\('bookings'\)/.test(readFileSync(resolve(file), 'utf8')),
  );
  // The purge empties the passengers, and leaves the state alone.
  expect(writers).toEqual(['src/flights/bookings/machine.ts', 'src/flights/upkeep/sweeper.ts']);
});

test('a move that the table does not have, and one of a booking that others moved, writes nothing', async () => {
  const { store } = world;
  const nowMs = world.clock.now();
  const read = () => store.selectFrom('bookings').selectAll().executeTakeFirstOrThrow();
  const move = async (to: BookingState, by: 'runner' | 'operator' | 'payment', fence: number) => {
    const seen = { ...(await read()), fence };
    await store.transaction().execute((tx) => moveBooking(tx, seen, { by, to }, nowMs));
  };
  const row = {
    intent_id: 'int_1',
    state: 'settling',
    payment_key: 'key',
    passengers_sealed: '',
    refund_reason: null,
    due_at_ms: nowMs,
  } as const;
  const begin = (by: 'payment' | 'sweep') => store.transaction().execute((tx) => beginBooking(tx, by, row, nowMs));
  await expect(begin('sweep')).rejects.toThrow('no booking begins as settling by sweep');
  expect(await begin('payment')).toMatchObject({ state: 'settling', fence: 0 });
  expect(await begin('payment')).toBeUndefined();
  await expect(move('booked', 'runner', 0)).rejects.toThrow('no booking goes from settling to booked');
  await expect(move('refunding', 'runner', 1)).rejects.toThrow(LeaseLost);
  expect(await read()).toMatchObject({ state: 'settling', fence: 0 });
  // The payment's own request comes after whatever claims there were, and ends them.
  await move('queued', 'payment', 7);
  expect(await read()).toMatchObject({ state: 'queued', fence: 1, lease_until_ms: 0 });
  await move('stuck', 'runner', 1);
  expect(await read()).toMatchObject({ state: 'stuck', stuck_in: 'queued', fence: 1 });
  await expect(move('refunding', 'operator', 0)).rejects.toThrow(LeaseLost);
  await move('refunding', 'operator', 1);
  expect(await read()).toMatchObject({ state: 'refunding', stuck_in: null, fence: 2 });
});
