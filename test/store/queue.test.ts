import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Selectable, type SqlBool, sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AffiliatePayoutTable } from '../../src/flights/base/tables.ts';
import { problem } from '../../src/kernel/problems.ts';
import { openStore, type ServiceTables, type Store } from '../../src/service/home.ts';
import { LeaseLost } from '../../src/store/leases.ts';
import { dueOf, NEVER_MS, nextInQueue, openQueue, type Queue, queueDue } from '../../src/store/queue.ts';
import type { RetryPolicy } from '../../src/store/retry.ts';
import { type ManualClock, manualClock } from '../clock.ts';
import { newDatabase, postgresIsInstalled } from './postgres.ts';

const NOW_MS = 1_800_000_000_000;
const LEASE_MS = 10_000;
const MOST_MS = 20_000;
const FARTHEST_MS = 60_000;

const QUEUE: Queue<ServiceTables, 'affiliate_payouts'> = {
  table: 'affiliate_payouts',
  key: 'payout_id',
  due: 'due_at_ms',
  open: sql<SqlBool>`state = 'open'`,
  leaseMs: LEASE_MS,
  mostMs: MOST_MS,
  farthestMs: FARTHEST_MS,
  counts: 'failures',
  retry: {
    firstMs: 1_000,
    factor: 2,
    mostMs: FARTHEST_MS,
    jitter: 'none',
    tellAfter: null,
    giveUp: { after: 'never' },
  },
};

type Payout = Selectable<AffiliatePayoutTable>;

describe.each(postgresIsInstalled ? ['SQLite', 'PostgreSQL'] : ['SQLite'])('a queue on %s', (database) => {
  const home = mkdtempSync(join(tmpdir(), 'farelock-queue-'));
  let store: Store;
  let where: string;
  beforeAll(async () => {
    where = database === 'PostgreSQL' ? await newDatabase() : join(home, 'service.db');
    store = await openStore(where);
  });
  afterAll(async () => {
    await store.destroy();
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
  /** A process of its own: another connection of the database, and a clock that only it sees. */
  const processes: Store[] = [];
  const processAt = async (clock: ManualClock, of = QUEUE) => {
    const own = await openStore(where);
    processes.push(own);
    return openQueue({ store: own, clock, log: (level, event) => logged.push(`${level} ${event}`) }, of);
  };
  const logged: string[] = [];
  afterEach(async () => {
    logged.length = 0;
    for (const own of processes.splice(0)) await own.destroy();
  });
  const read = (id: string) =>
    store.selectFrom('affiliate_payouts').selectAll().where('payout_id', '=', id).executeTakeFirstOrThrow();
  const next = async () => {
    const { rows } = await sql<{
      id: string | null;
    }>`select ${nextInQueue({ store, clock: manualClock(NOW_MS) }, QUEUE)} as id`.execute(store);
    return rows[0]?.id ?? null;
  };
  const dueInMs = async () => {
    const { dueAtMs } = await dueOf(store, { dueAtMs: queueDue({ store, clock: manualClock(NOW_MS) }, QUEUE) });
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
    expect(await dueInMs()).toBe(inMs);
    const claimed = await (await processAt(manualClock(NOW_MS))).claim();
    expect(claimed?.payout_id ?? null).toBe(taken ? 'one' : null);
    if (taken) expect(claimed).toMatchObject({ fence: 1, lease_until_ms: NOW_MS + LEASE_MS, attempts: 0 });
  });

  test('gives the longest due first, passes over what is held, and knows nothing of what is done', async () => {
    await add('done', NOW_MS - 90, 0, 'paid');
    await add('held', NOW_MS - 80, NOW_MS + 5_000);
    await add('later', NOW_MS - 10);
    await add('first', NOW_MS - 20);
    await add('astray', NOW_MS + 2 * FARTHEST_MS);
    expect(await next()).toBe('first');
    expect(await dueInMs()).toBe(-20);
    const queue = await processAt(manualClock(NOW_MS));
    const taken: (string | undefined)[] = [];
    for (let claims = 0; claims < 4; claims++) taken.push((await queue.claim())?.payout_id);
    expect(taken).toEqual(['first', 'later', 'astray', undefined]);
  });

  test('gives each row to one of two processes, and to nobody twice', async () => {
    const clock = manualClock(NOW_MS);
    for (let row = 0; row < 20; row++) await add(`row ${row}`, NOW_MS - row);
    const both = [await processAt(clock), await processAt(clock)];
    const done: string[] = [];
    const runs = both.map((queue) =>
      queue.runDue(
        {
          async perform(row) {
            done.push(row.payout_id);
            await queue.finish(row, { state: 'paid' });
          },
          failed: (_row, error) => Promise.reject(error),
        },
        50,
      ),
    );
    const worked = (await Promise.all(runs)).map((run) => run.worked);
    expect([...done].sort()).toEqual(Array.from({ length: 20 }, (_, row) => `row ${row}`).sort());
    expect((worked[0] ?? 0) + (worked[1] ?? 0)).toBe(20);
    expect(await dueInMs()).toBe(null);
  });

  test('passes the row of a process that died to another one once its lease is over', async () => {
    const clock = manualClock(NOW_MS);
    await add('one', NOW_MS);
    const [dead, heir] = [await processAt(clock), await processAt(clock)];
    expect(await dead.claim()).toMatchObject({ fence: 1 });
    expect(await heir.claim()).toBe(null);
    expect(await heir.claimRow('one')).toBe(null);
    clock.advance(LEASE_MS - 1);
    expect(await heir.claim()).toBe(null);
    clock.advance(1);
    expect(await heir.claim()).toMatchObject({ fence: 2 });
  });

  test('lets a holder that was overtaken write nothing, act no more, and give nothing back', async () => {
    const clock = manualClock(NOW_MS);
    await add('one', NOW_MS);
    const [slow, heir] = [await processAt(clock), await processAt(clock)];
    const late = await slow.claim();
    clock.advance(LEASE_MS);
    const held = await heir.claim();
    if (!late || !held) throw new Error('nothing was claimed');
    await expect(slow.check(late)).rejects.toThrow(LeaseLost);
    await expect(slow.finish(late, { state: 'paid' })).rejects.toThrow(LeaseLost);
    let told = 0;
    await slow.postpone(late, new Error('too late'), () => ({
      change: { last_error: 'too late' },
      also: async () => told++,
      log: () => told++,
    }));
    await slow.take(late, {
      perform: async (row) => void (await slow.finish(row, { state: 'paid' })),
      failed: async () => void told++,
    });
    expect(told).toBe(0);
    expect(await read('one')).toEqual(held);
    await heir.check(held);
    await heir.finish(held, { state: 'paid' });
    expect(await read('one')).toMatchObject({ state: 'paid', lease_until_ms: 0, fence: 2 });
  });

  test('writes nothing more to a row that somebody else ended, whatever the fence', async () => {
    const clock = manualClock(NOW_MS);
    await add('one', NOW_MS);
    const queue = await processAt(clock);
    const row = await queue.claim();
    if (!row) throw new Error('nothing was claimed');
    await store.updateTable('affiliate_payouts').set({ state: 'paid' }).execute();
    await expect(queue.finish(row, { last_error: 'x' })).rejects.toThrow(LeaseLost);
    expect((await read('one')).last_error).toBe(null);
  });

  test('keeps the lease of work that goes on, and lets go of work that hangs', async () => {
    const clock = manualClock(NOW_MS);
    let sleeps = 0;
    const counting = {
      ...clock,
      sleep: (ms: number, signal?: AbortSignal) => {
        sleeps++;
        return clock.sleep(ms, signal);
      },
    };
    await add('one', NOW_MS);
    const queue = await processAt(counting);
    const row = await queue.claim();
    if (!row) throw new Error('nothing was claimed');
    let end = (): void => undefined;
    const working = queue.take(row, {
      perform: () => new Promise((resolve) => (end = resolve)),
      failed: (_row, error) => Promise.reject(error),
    });
    const leaseInMs = async () => (await read('one')).lease_until_ms - clock.now();
    for (let passed = 0; passed < MOST_MS; passed += LEASE_MS / 4) {
      const before = sleeps;
      clock.advance(LEASE_MS / 4);
      await expect.poll(() => sleeps, { timeout: 20_000 }).toBeGreaterThan(before);
      expect(await leaseInMs()).toBe(LEASE_MS);
    }
    clock.advance(LEASE_MS);
    expect((await (await processAt(clock)).claim())?.fence).toBe(2);
    end();
    await working;
    expect(await read('one')).toMatchObject({ fence: 2, lease_until_ms: clock.now() + LEASE_MS });
  });

  test('is not held up by a clock that was set back by a year', async () => {
    const clock = manualClock(NOW_MS);
    await add('put off', NOW_MS);
    await add('held', NOW_MS);
    const before = await processAt(clock);
    const row = await before.claimRow('put off');
    if (!row) throw new Error('nothing was claimed');
    await before.postpone(row, new Error('busy'), () => ({ log: () => undefined }));
    await before.claimRow('held');
    clock.set(NOW_MS - 365 * 86_400_000);
    const after = await processAt(clock);
    expect(await after.dueAtMs()).toBe(clock.now());
    const taken = [await after.claim(), await after.claim()].map((one) => one?.payout_id);
    expect(taken.sort()).toEqual(['held', 'put off']);
    expect(await after.claim()).toBe(null);
  });

  test('puts a poison row off ever longer, tells of it once, and gives it to a person in the end', async () => {
    const clock = manualClock(NOW_MS);
    const retry: RetryPolicy = { ...QUEUE.retry, tellAfter: 2, giveUp: { after: 'failures', most: 4 } };
    const queue = await processAt(clock, { ...QUEUE, retry });
    await add('poison', NOW_MS);
    await add('sound', NOW_MS + 1);
    const story: string[] = [];
    const work = {
      async perform(row: Payout) {
        if (row.payout_id === 'poison') throw new Error('poison');
        await queue.finish(row, { state: 'paid' });
      },
      failed: (row: Payout, error: unknown) =>
        queue.postpone(row, error, ({ verdict, failures, tells, code }) => ({
          change: { last_error: code, ...(verdict === 'given_up' ? { due_at_ms: NEVER_MS } : {}) },
          also: async () => {
            if (tells || verdict === 'given_up') story.push(`page ${failures}`);
          },
          log: () => story.push(`${verdict} ${failures}`),
        })),
    };
    const delays: (number | null)[] = [];
    for (let round = 0; round < 4; round++) {
      await queue.runDue(work, 9);
      const { due_at_ms } = await read('poison');
      delays.push(due_at_ms === NEVER_MS ? null : due_at_ms - clock.now());
      if (due_at_ms !== NEVER_MS) clock.set(due_at_ms);
    }
    expect(delays).toEqual([1_000, 2_000, 4_000, null]);
    expect(story).toEqual(['again 1', 'page 2', 'again 2', 'again 3', 'page 4', 'given_up 4']);
    expect(await read('poison')).toMatchObject({ attempts: 4, last_error: 'Error', lease_until_ms: 0 });
    // It stopped nobody else, and is due no more.
    expect((await read('sound')).state).toBe('paid');
    expect(await queue.dueAtMs()).toBe(null);
  });

  test('puts a row off together with what is told of it, or not at all', async () => {
    const clock = manualClock(NOW_MS);
    const queue = await processAt(clock);
    await add('one', NOW_MS);
    const row = await queue.claim();
    if (!row) throw new Error('nothing was claimed');
    const before = await read('one');
    const untold = queue.postpone(row, new Error('busy'), () => ({
      also: () => Promise.reject(new Error('the page could not be written')),
      log: () => logged.push('put off'),
    }));
    await expect(untold).rejects.toThrow('the page could not be written');
    expect(await read('one')).toEqual(before);
    expect(logged).toEqual([]);
  });

  test('believes whoever says how long to wait, as far as rows are ever put', async () => {
    const clock = manualClock(NOW_MS);
    const queue = await processAt(clock);
    for (const [retryAfter, waitedMs] of [
      [0.5, 1_000],
      [30, 30_000],
      [3_600, FARTHEST_MS],
    ] as const) {
      await add(`after ${retryAfter}`, NOW_MS);
      const row = await queue.claim();
      if (!row) throw new Error('nothing was claimed');
      const error = problem('upstream_rate_limited', { retryAfter });
      await queue.postpone(row, error, ({ code }) => ({ change: { last_error: code }, log: () => undefined }));
      expect(await read(row.payout_id)).toMatchObject({
        due_at_ms: NOW_MS + waitedMs,
        last_error: 'upstream_rate_limited',
      });
    }
  });

  test('works on no more rows than it is told to, and says when the next one is due', async () => {
    const queue = await processAt(manualClock(NOW_MS));
    for (let row = 0; row < 3; row++) await add(`row ${row}`, NOW_MS - 9 + row);
    await add('later', NOW_MS + 700);
    const work = {
      perform: async (row: Payout) => void (await queue.finish(row, { state: 'paid', last_error: undefined })),
      failed: (_row: Payout, error: unknown) => Promise.reject(error),
    };
    expect(await queue.runDue(work, 2)).toEqual({ worked: 2, dueAtMs: NOW_MS - 7 });
    expect(await queue.runDue(work, 2)).toEqual({ worked: 1, dueAtMs: NOW_MS + 700 });
    expect((await read('later')).state).toBe('open');
  });

  test('takes the first of the first sort of rows that has any', async () => {
    const queue = await processAt(manualClock(NOW_MS));
    await add('other', NOW_MS - 50);
    await add('kind 1', NOW_MS - 10);
    await add('kind 2', NOW_MS - 20);
    const sorts = [sql<SqlBool>`payout_id like 'kind%'`, sql<SqlBool>`true`];
    const taken = [await queue.claim(sorts), await queue.claim(sorts), await queue.claim(sorts)];
    expect(taken.map((row) => row?.payout_id)).toEqual(['kind 2', 'kind 1', 'other']);
  });

  test('gives up what has gone on for too long, by when it began', async () => {
    const clock = manualClock(NOW_MS);
    const retry: RetryPolicy = { ...QUEUE.retry, giveUp: { after: 'age', ms: NOW_MS + 5_000 } };
    const queue = await processAt(clock, { ...QUEUE, retry, begun: 'created_at_ms' });
    await add('one', NOW_MS);
    const verdicts: string[] = [];
    for (const atMs of [NOW_MS, NOW_MS + 4_999, NOW_MS + 5_000]) {
      clock.set(atMs);
      const row = await queue.claimRow('one');
      if (!row) throw new Error('nothing was claimed');
      await queue.postpone(row, 'no error at all', ({ verdict, code }) => ({
        change: { last_error: code, due_at_ms: atMs },
        log: () => verdicts.push(verdict),
      }));
    }
    expect(verdicts).toEqual(['again', 'again', 'given_up']);
    expect((await read('one')).last_error).toBe('unknown');
  });

  test('counts a process that dies with a row as a failure where claims are counted', async () => {
    const clock = manualClock(NOW_MS);
    const queue = await processAt(clock, { ...QUEUE, counts: 'claims' });
    await add('one', NOW_MS);
    expect((await queue.claim())?.attempts).toBe(1);
    clock.advance(LEASE_MS);
    const row = await queue.claim();
    expect(row?.attempts).toBe(2);
    if (!row) throw new Error('nothing was claimed');
    await queue.postpone(row, new Error('busy'), () => ({ log: () => undefined }));
    expect(await read('one')).toMatchObject({ attempts: 2, due_at_ms: clock.now() + 2_000 });
  });

  test('whose policy puts rows further than it knows of is refused', async () => {
    const far = { ...QUEUE, farthestMs: QUEUE.retry.mostMs - 1 };
    await expect(processAt(manualClock(NOW_MS), far)).rejects.toThrow(RangeError);
  });
});
