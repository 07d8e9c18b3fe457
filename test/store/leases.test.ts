import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manualClock } from '../../src/kernel/clock.ts';
import { dueOf, firstDueAtMs, isDue, leaseIsOver, NEVER_MS, whileRenewed } from '../../src/store/leases.ts';
import { openStore, type Store } from '../../src/store/open.ts';

const NOW_MS = 1_800_000_000_000;
const LEASE_MS = 10_000;
const FARTHEST_MS = 60_000;

const home = mkdtempSync(join(tmpdir(), 'farelock-leases-'));
let store: Store;
beforeAll(async () => {
  store = await openStore(join(home, 'service.db'));
});
afterAll(async () => {
  await store.destroy();
  rmSync(home, { recursive: true, force: true });
});

/** One row of work, asked in SQL. */
async function ask(dueInMs: number, leaseInMs: number) {
  const due = dueInMs === NEVER_MS ? NEVER_MS : NOW_MS + dueInMs;
  const { rows } = await sql<{ over: unknown; is_due: unknown; due: number | string | null }>`
    select ${leaseIsOver(NOW_MS, LEASE_MS)} as over, ${isDue(NOW_MS, FARTHEST_MS)} as is_due,
      ${firstDueAtMs(NOW_MS, LEASE_MS, FARTHEST_MS)} as due
    from (select cast(${due} as bigint) as due_at_ms, cast(${NOW_MS + leaseInMs} as bigint) as lease_until_ms) as work
    group by due_at_ms, lease_until_ms`.execute(store);
  const [row] = rows;
  const inMs = dueOf(row) ?? Number.NaN;
  return {
    over: Boolean(row?.over),
    due: Boolean(row?.is_due),
    inMs: inMs === NEVER_MS ? NEVER_MS : inMs - NOW_MS,
  };
}

describe('a row of work', () => {
  test.each([
    ['never held, due now', 0, -NOW_MS, { over: true, due: true, inMs: 0 }],
    ['put off', 5_000, -NOW_MS, { over: true, due: false, inMs: 5_000 }],
    [
      'put off as far as rows are put off',
      FARTHEST_MS,
      -NOW_MS,
      { over: true, due: false, inMs: FARTHEST_MS },
    ],
    ['due, and held for a while yet', -5_000, 3_000, { over: false, due: true, inMs: 3_000 }],
    ['held to this very moment', -5_000, 0, { over: true, due: true, inMs: -5_000 }],
    ['held as long as anybody may ask', -5_000, LEASE_MS, { over: false, due: true, inMs: LEASE_MS }],
    [
      'held by a clock that was set back since',
      -5_000,
      LEASE_MS + 1,
      { over: true, due: true, inMs: -5_000 },
    ],
    [
      'put off by a clock that was set back since',
      FARTHEST_MS + 1,
      -NOW_MS,
      { over: true, due: true, inMs: 0 },
    ],
    ['both', 9 * FARTHEST_MS, 9 * FARTHEST_MS, { over: true, due: true, inMs: 0 }],
    ['for a person alone', NEVER_MS, -NOW_MS, { over: true, due: false, inMs: NEVER_MS }],
  ])('%s', async (_name, dueInMs, leaseInMs, wanted) => {
    expect(await ask(dueInMs, leaseInMs)).toEqual(wanted);
  });
});

describe('a lease', () => {
  const begin = (mostMs: number, renew: () => Promise<void> = async () => undefined) => {
    const clock = manualClock(NOW_MS);
    const renewedAt: number[] = [];
    const failures: unknown[] = [];
    let finish: (value: string) => void = () => undefined;
    const held = whileRenewed(
      {
        clock,
        leaseMs: LEASE_MS,
        mostMs,
        renew: async () => {
          renewedAt.push(clock.now() - NOW_MS);
          await renew();
        },
        failed: (error) => failures.push(error),
      },
      () => new Promise<string>((resolve) => (finish = resolve)),
    );
    const pass = async (ms: number) => {
      clock.advance(ms);
      await new Promise(setImmediate);
    };
    return { held, renewedAt, failures, pass, finish: (value: string) => finish(value) };
  };

  test('is renewed four times in its length, as long as the work goes on', async () => {
    const { held, renewedAt, pass, finish } = begin(60_000);
    await pass(2_500);
    await pass(2_500);
    finish('done');
    expect(await held).toBe('done');
    await pass(2_500);
    expect(renewedAt).toEqual([2_500, 5_000]);
  });

  test('is renewed no more once the work hangs', async () => {
    const { held, renewedAt, pass, finish } = begin(5_000);
    for (let step = 0; step < 8; step++) await pass(2_500);
    expect(renewedAt).toEqual([2_500, 5_000]);
    finish('late');
    expect(await held).toBe('late');
  });

  test('that cannot be renewed lets the work go on, and is reported', async () => {
    const lost = new Error('the database is away');
    const { held, failures, pass, finish } = begin(60_000, () => Promise.reject(lost));
    await pass(2_500);
    await pass(2_500);
    expect(failures).toEqual([lost]);
    finish('done');
    expect(await held).toBe('done');
  });
});
