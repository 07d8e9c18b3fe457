import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SqlBool, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../src/store/open.ts';
import { NEVER_MS, nextInQueue, type Queue, queueDueAtMs, readyInQueue } from '../../src/store/queue.ts';
import { postgresIsInstalled, startPostgres, type TestPostgres } from './postgres.ts';

const NOW_MS = 1_800_000_000_000;
const LEASE_MS = 10_000;
const FARTHEST_MS = 60_000;

const QUEUE: Queue = {
  table: 'affiliate_payouts',
  key: 'payout_id',
  due: 'due_at_ms',
  open: sql<SqlBool>`state = 'open'`,
  leaseMs: LEASE_MS,
  farthestMs: FARTHEST_MS,
};

describe.each(postgresIsInstalled ? ['SQLite', 'PostgreSQL'] : ['SQLite'])('a queue on %s', (database) => {
  const home = mkdtempSync(join(tmpdir(), 'farelock-queue-'));
  let postgres: TestPostgres | null = null;
  let store: Store;
  beforeAll(async () => {
    if (database === 'PostgreSQL') postgres = await startPostgres();
    store = await openStore(postgres?.url ?? join(home, 'service.db'));
  });
  afterAll(async () => {
    await store.destroy();
    await postgres?.close();
    rmSync(home, { recursive: true, force: true });
  });
  beforeEach(() => store.deleteFrom('affiliate_payouts').execute());

  const add = (id: string, dueAtMs: number, leaseUntilMs = 0, state: 'open' | 'paid' = 'open') =>
    store
      .insertInto('affiliate_payouts')
      .values({
        payout_id: id,
        code: 'C',
        wallet: 'w',
        amount: 1,
        state,
        attempts: 0,
        due_at_ms: dueAtMs,
        lease_until_ms: leaseUntilMs,
        created_at_ms: 0,
      })
      .execute();
  const next = async () => {
    const { rows } = await sql<{ id: string | null }>`select ${nextInQueue(QUEUE, NOW_MS)} as id`.execute(
      store,
    );
    return rows[0]?.id ?? null;
  };
  const dueInMs = async () => {
    const dueAtMs = await queueDueAtMs(store, QUEUE, NOW_MS);
    return dueAtMs === null ? null : dueAtMs - NOW_MS;
  };

  test.each<[string, number, number, { taken: boolean; inMs: number | null }]>([
    ['never held, due now', 0, -NOW_MS, { taken: true, inMs: 0 }],
    ['put off', 5_000, -NOW_MS, { taken: false, inMs: 5_000 }],
    ['put off as far as rows are put off', FARTHEST_MS, -NOW_MS, { taken: false, inMs: FARTHEST_MS }],
    ['due, and held for a while yet', -5_000, 3_000, { taken: false, inMs: 3_000 }],
    ['held to this very moment', -5_000, 0, { taken: true, inMs: -5_000 }],
    ['held as long as anybody may ask', -5_000, LEASE_MS, { taken: false, inMs: LEASE_MS }],
    ['held by a clock that was set back since', -5_000, LEASE_MS + 1, { taken: true, inMs: -5_000 }],
    ['put off by a clock that was set back since', FARTHEST_MS + 1, -NOW_MS, { taken: true, inMs: 0 }],
    ['put off and held by such a clock', 9 * FARTHEST_MS, 9 * FARTHEST_MS, { taken: true, inMs: 0 }],
    ['for a person alone', NEVER_MS - NOW_MS, -NOW_MS, { taken: false, inMs: null }],
  ])('a row that is %s', async (_name, dueIn, leaseIn, { taken, inMs }) => {
    await add('one', NOW_MS + dueIn, NOW_MS + leaseIn);
    expect(await next()).toBe(taken ? 'one' : null);
    expect(await readyInQueue(store, QUEUE, NOW_MS, 9)).toEqual(taken ? ['one'] : []);
    expect(await dueInMs()).toBe(inMs);
  });

  test('gives the longest due first, passes over what is held, and knows nothing of what is done', async () => {
    await add('done', NOW_MS - 90, 0, 'paid');
    await add('held', NOW_MS - 80, NOW_MS + 5_000);
    await add('later', NOW_MS - 10);
    await add('first', NOW_MS - 20);
    await add('astray', NOW_MS + 2 * FARTHEST_MS);
    expect(await next()).toBe('first');
    expect(await readyInQueue(store, QUEUE, NOW_MS, 9)).toEqual(['first', 'later', 'astray']);
    expect(await readyInQueue(store, QUEUE, NOW_MS, 1)).toEqual(['first']);
    expect(await dueInMs()).toBe(-20);
  });
});
