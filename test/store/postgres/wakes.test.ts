import { setTimeout as passed } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { openStore } from '../../../src/service/home.ts';
import { openWakes, type Wakes } from '../../../src/store/postgres/wakes.ts';
import { newDatabases, postgresIsInstalled } from '../postgres.ts';

/** Processes on one PostgreSQL tell each other of work. */

let databases: Awaited<ReturnType<typeof newDatabases>>;
beforeAll(async () => {
  if (postgresIsInstalled) databases = await newDatabases();
});
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function opened(url: string, listenUrl = url) {
  const store = await openStore(url);
  const said: string[] = [];
  const sent: string[] = [];
  let woken = 0;
  const wakes: Wakes = await openWakes({
    url: listenUrl,
    notify(statement) {
      sent.push(statement);
      return sql.raw(statement).execute(store);
    },
    onWake: () => {
      woken++;
    },
    log: (_level, event) => void said.push(event),
    clock: { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 100, signal) },
  });
  closing.push(
    () => store.destroy(),
    () => wakes.close(),
  );
  return { store, wakes, said, sent, woken: () => woken };
}

test.runIf(postgresIsInstalled)(
  'work that one process takes in wakes the others; much at once is one message',
  async () => {
    const url = await databases.next();
    const [one, other] = [await opened(url), await opened(url)];
    await expect.poll(() => one.wakes.isHeard() && other.wakes.isHeard()).toBe(true);
    await passed(100);
    const [woken, sent] = [other.woken(), one.sent.length];
    for (let calls = 0; calls < 100; calls++) one.wakes.send();
    await expect.poll(() => other.woken()).toBeGreaterThan(woken);
    expect(one.sent.length - sent).toBeLessThanOrEqual(2);
  },
);

test.runIf(postgresIsInstalled)('a connection that ends is made again, and each outage is logged once', async () => {
  const url = await databases.next();
  const { store, wakes, woken, said } = await opened(url);
  for (let outages = 1; outages <= 2; outages++) {
    await expect.poll(() => wakes.isHeard()).toBe(true);
    const before = woken();
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and (query like 'listen%' or query = 'select 1')`.execute(store);
    await expect.poll(() => said).toEqual(Array(outages).fill('wakes_not_heard'));
    await expect.poll(() => wakes.isHeard() && woken() > before, { timeout: 20_000 }).toBe(true);
  }
});

test.runIf(postgresIsInstalled)('where nothing is heard, that is said once, and nothing else fails', async () => {
  const { wakes, said } = await opened(await databases.next(), 'postgres://farelock@127.0.0.1:1/none');
  await expect.poll(() => said).toEqual(['wakes_not_heard']);
  wakes.send();
  await passed(200);
  expect(said).toHaveLength(1);
  expect(wakes.isHeard()).toBe(false);
});
