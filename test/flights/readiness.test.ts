import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore } from '../../src/service/home.ts';
import type { Health } from '../../src/wire/flights/index.ts';
import { proofTest } from '../proof-only.ts';
import { openSilence } from '../solana/bad-network.ts';
import { postgresIsInstalled, startPostgres } from '../store/postgres.ts';
import { openWorld, type World } from './world.ts';

/** /ready answers in time and says what is wrong, whatever is silent. */

const READY = { database: 'ok', cluster: 'ok', wallets: 'ok', airline: 'ok', disk: 'ok' };
const MANY = 20;

const closing: (() => unknown)[] = [];
let world: World;
beforeEach(async () => {
  world = await openWorld({ airline: 'scripted' });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await world.close();
});

type Call = World['call'];
/** As many callers as the pool has connections, and as many again. */
const many = (call: Call) => Promise.all(Array.from({ length: MANY }, () => call<Health>('/ready')));

test('a cluster that never answers is said by name, and asked once however many wait', async () => {
  const silence = await openSilence();
  closing.push(silence.close);
  const { call } = world.service((ports) => ({
    ...ports,
    cluster: {
      ...ports.cluster,
      accounts: async () => {
        await fetch(silence.url);
        return [];
      },
    },
  }));
  // Again, while the first question still waits.
  for (const answers of [await many(call), await many(call)]) {
    for (const { status, body, headers } of answers) {
      expect([status, headers.get('retry-after')]).toEqual([503, '5']);
      expect(body).toMatchObject({
        status: 'not_ready',
        checks: { ...READY, cluster: 'cluster_failed', wallets: 'not_ready' },
      });
    }
  }
  expect(silence.asked()).toBe(1);
  expect((await call('/health')).status).toBe(200);
});

proofTest.runIf(postgresIsInstalled)(
  "a writers' lock that another process holds is no 200, and those who wait leave the pool to others",
  async () => {
    const server = await startPostgres();
    closing.push(server.close);
    const [store, holder] = [await openStore(server.url), await openStore(server.url)];
    closing.push(
      () => store.destroy(),
      () => holder.destroy(),
    );
    const { call } = world.service((ports) => ({ ...ports, store }));
    expect((await call('/ready')).status).toBe(200);
    await holder.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx);
      for (const { status, body } of await many(call)) {
        expect([status, body.checks]).toEqual([503, { ...READY, database: 'not_ready' }]);
        expect((await call('/air/intents/int_none')).status).toBe(404);
      }
      const { rows } = await sql<{ n: number }>`select count(*) as n from pg_locks
        where locktype = 'advisory' and not granted`.execute(tx);
      expect(rows).toEqual([{ n: 1 }]);
    });
    await expect.poll(async () => (await call('/ready')).status, { timeout: 20_000 }).toBe(200);
  },
  60_000,
);

test('a database that was put back is not ready until a person has looked', async () => {
  const mark = { key: 'database_behind', value: '1' };
  await world.store.insertInto('meta').values(mark).execute();
  const answer = await world.call<Health>('/ready');
  expect([answer.status, answer.body.checks, answer.headers.get('retry-after')]).toEqual([
    503,
    { ...READY, database: 'database_behind' },
    '60',
  ]);
  await world.store.deleteFrom('meta').where('key', '=', mark.key).execute();
  expect((await world.call('/ready')).status).toBe(200);
});
