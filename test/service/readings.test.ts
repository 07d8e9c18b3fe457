import { afterEach, expect, test } from 'vitest';
import { BOOKING_STATES } from '../../src/flights/bookings/machine.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { openStore } from '../../src/service/home.ts';
import { createReadings } from '../../src/service/readings.ts';
import { connectionsOf } from '../../src/store/base/index.ts';
import { openWorld } from '../flights/world.ts';
import { newDatabases, postgresIsInstalled } from '../store/postgres.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function opened(given: Parameters<typeof openWorld>[0] = {}) {
  const world = await openWorld({ airline: 'scripted', ...given });
  closing.push(() => world.close());
  const ports = { ...world, log: silentLog, movedOn: async () => false };
  return { world, ports };
}

type Found = Awaited<ReturnType<ReturnType<typeof createReadings>>>;

const gauge = (found: Found, name: string, label: string): number | undefined =>
  found.find((one) => one.name === `farelock_${name}` && Object.values(one.labels)[0] === label)?.value;

test('a booking that waits for its ticket is counted in its state, with its age, and is gone when it is booked', async () => {
  const { world, ports } = await opened();
  const read = createReadings(ports);
  world.airline.script.status = 'pending';
  await world.book(await world.intent('off_1'));
  await world.work();
  world.clock.advance(90_000);
  const waiting = await read();
  expect(gauge(waiting, 'bookings_open', 'ticketing')).toBe(1);
  expect(gauge(waiting, 'bookings_oldest_age_seconds', 'ticketing')).toBeGreaterThanOrEqual(90);
  expect(gauge(waiting, 'jobs', 'booking')).toBe(1);
  expect(gauge(waiting, 'jobs_overdue_seconds', 'booking')).toBeGreaterThan(0);
  world.airline.script.status = 'ticketed';
  world.clock.advance(600_000);
  await world.work();
  const booked = await read();
  expect([gauge(booked, 'bookings_open', 'ticketing'), gauge(booked, 'jobs', 'booking')]).toEqual([0, 0]);
}, 30_000);

test('each state in which a booking has not ended has its count and its age', async () => {
  const { ports } = await opened();
  const read = await createReadings(ports)();
  for (const state of Object.keys(BOOKING_STATES)) {
    const isEnd = state === 'booked' || state === 'refunded';
    for (const name of ['bookings_open', 'bookings_oldest_age_seconds'])
      expect([name, state, gauge(read, name, state)]).toEqual([name, state, isEnd ? undefined : 0]);
  }
}, 30_000);

test('a part that fails or is silent is named, and the others are read', async () => {
  const { ports } = await opened();
  const wallets = { ...ports.wallets, holdings: () => new Promise<never>(() => undefined) };
  const silent = await createReadings({ ...ports, wallets })();
  expect([gauge(silent, 'scrape_failed', 'wallets'), gauge(silent, 'scrape_failed', 'database')]).toEqual([1, 0]);
  const moved = await createReadings({ ...ports, movedOn: async () => true })();
  expect([gauge(moved, 'scrape_failed', 'wallets'), gauge(moved, 'scrape_failed', 'database')]).toEqual([0, 1]);
  expect(moved.some(({ name }) => name === 'farelock_jobs')).toBe(false);
}, 30_000);

test('scrapes within a few seconds share one look', async () => {
  const { world, ports } = await opened();
  let looks = 0;
  const read = createReadings({ ...ports, movedOn: async () => ++looks < 0 });
  await Promise.all([read(), read()]);
  await read();
  expect(looks).toBe(1);
  world.clock.advance(4_000);
  await read();
  expect(looks).toBe(2);
}, 30_000);

test.runIf(postgresIsInstalled)(
  'the connections to PostgreSQL in use and the statements that wait are counted',
  async () => {
    const databases = await newDatabases();
    const store = await openStore(await databases.next());
    closing.push(() => store.destroy());
    const ends: (() => void)[] = [];
    const held = Array.from({ length: 12 }, () =>
      store.connection().execute(() => new Promise<void>((end) => ends.push(end))),
    );
    await expect.poll(() => connectionsOf(store)).toEqual({ inUse: 10, waiting: 2 });
    await expect.poll(() => ends.length).toBe(10);
    for (const end of ends.splice(0)) end();
    await expect.poll(() => ends.length).toBe(2);
    for (const end of ends) end();
    await Promise.all(held);
    expect(connectionsOf(store)).toEqual({ inUse: 0, waiting: 0 });

    // Nor does a statement wait for which a connection is free, as those of the scrape itself.
    const taking = store.connection().execute(async () => undefined);
    const waits = new Set<number | undefined>();
    for (let turn = 0; turn < 100; turn++) waits.add(await connectionsOf(store)?.waiting);
    await taking;
    expect([...waits]).toEqual([0]);
  },
);
