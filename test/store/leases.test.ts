import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore, type ServiceTables, type Store } from '../../src/service/home.ts';
import {
  checkHeld,
  type Leased,
  LeaseLost,
  leaseIsOver,
  leaseTime,
  markRow,
  takeRow,
  whileHeld,
} from '../../src/store/leases.ts';
import { manualClock } from '../clock.ts';

type PayoutLease = Leased<ServiceTables, 'affiliate_payouts'>;

const NOW_MS = 1_800_000_000_000;
const LEASE_MS = 10_000;
const PAYOUTS: Omit<PayoutLease, 'mostMs'> = {
  table: 'affiliate_payouts',
  key: 'payout_id',
  open: sql`state = 'open'`,
  leaseMs: LEASE_MS,
};
const ROW = {
  payout_id: 'one',
  code: 'C',
  wallet: 'w',
  amount: 1,
  state: 'open',
  attempts: 0,
  created_at_ms: 0,
} as const;

describe('a lease', () => {
  const home = mkdtempSync(join(tmpdir(), 'farelock-leases-'));
  let store: Store;
  beforeAll(async () => {
    store = await openStore(join(home, 'service.db'));
  });
  afterAll(async () => {
    await store.destroy();
    rmSync(home, { recursive: true, force: true });
  });

  test.each([
    [-1, true],
    [0, true],
    [1, false],
    [LEASE_MS, false],
    [LEASE_MS + 1, true],
  ])('that ends in %i ms is over: %s', async (inMs, isOver) => {
    const time = leaseTime(store, manualClock(NOW_MS));
    const { rows } = await sql<{ over: number }>`select ${leaseIsOver(time, LEASE_MS)} as over
      from (select ${sql.lit(NOW_MS + inMs)} as lease_until_ms) as one`.execute(store);
    expect(rows).toEqual([{ over: isOver ? 1 : 0 }]);
  });

  test('that was overtaken marks nothing', async () => {
    const clock = manualClock(NOW_MS);
    const leased: PayoutLease = { ...PAYOUTS, mostMs: 60_000 };
    await store.deleteFrom('affiliate_payouts').execute();
    await store
      .insertInto('affiliate_payouts')
      .values({ ...ROW, due_at_ms: NOW_MS, lease_until_ms: 0 })
      .execute();
    const late = await takeRow({ store, clock }, leased, 'one');
    if (!late) throw new Error('nothing was taken');
    await markRow(store, leased, late, { last_error: 'mine' });
    clock.advance(LEASE_MS);
    await takeRow({ store, clock }, leased, 'one');
    await expect(markRow(store, leased, late, { last_error: 'late' })).rejects.toThrow(LeaseLost);
    const { last_error } = await store.selectFrom('affiliate_payouts').selectAll().executeTakeFirstOrThrow();
    expect(last_error).toBe('mine');
    await store.deleteFrom('affiliate_payouts').execute();
    await expect(checkHeld(store, leased, late)).rejects.toThrow(LeaseLost);
  });

  /** Work on a held row: when its lease was renewed, and what became of the work. */
  const begin = async (mostMs: number, away?: Error) => {
    const clock = manualClock(NOW_MS);
    await store.deleteFrom('affiliate_payouts').execute();
    await store
      .insertInto('affiliate_payouts')
      .values({ ...ROW, due_at_ms: NOW_MS, lease_until_ms: 0 })
      .execute();
    const leased: PayoutLease = { ...PAYOUTS, mostMs };
    const row = await takeRow({ store, clock }, leased, 'one');
    if (!row) throw new Error('nothing was taken');
    const failures: unknown[] = [];
    const broken = new Proxy(store, {
      get: () => {
        throw away;
      },
    });
    let finish: (value: string) => void = () => undefined;
    const held = whileHeld(
      {
        store: away ? broken : store,
        clock,
        log: (_level, event, fields) => failures.push([event, fields?.error_name]),
      },
      leased,
      row,
      () => new Promise<string>((resolve) => (finish = resolve)),
    );
    const renewedAt: number[] = [];
    const pass = async (ms: number) => {
      clock.advance(ms);
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
      const { lease_until_ms } = await store
        .selectFrom('affiliate_payouts')
        .select('lease_until_ms')
        .executeTakeFirstOrThrow();
      if (lease_until_ms === clock.now() + LEASE_MS) renewedAt.push(clock.now() - NOW_MS);
    };
    return { held, renewedAt, failures, pass, finish: (value: string) => finish(value) };
  };

  test('is renewed four times in its length, as long as the work goes on', async () => {
    const { held, renewedAt, pass, finish } = await begin(60_000);
    await pass(2_500);
    await pass(2_500);
    finish('done');
    expect(await held).toBe('done');
    await pass(2_500);
    expect(renewedAt).toEqual([2_500, 5_000]);
  });

  test('is renewed no more once the work hangs', async () => {
    const { held, renewedAt, pass, finish } = await begin(5_000);
    for (let step = 0; step < 8; step++) await pass(2_500);
    expect(renewedAt).toEqual([2_500, 5_000]);
    finish('late');
    expect(await held).toBe('late');
  });

  test.each([
    // Whoever has it now may die: then nobody must keep it for them.
    ['that somebody else has taken over', { fence: 2, lease_until_ms: NOW_MS + 3_000 }],
    ['that was given back while the work ends', { lease_until_ms: 0 }],
  ])('%s is not renewed', async (_name, change) => {
    const { held, pass, finish } = await begin(60_000);
    await store.updateTable('affiliate_payouts').set(change).execute();
    await pass(2_500);
    const row = await store.selectFrom('affiliate_payouts').selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject(change);
    finish('done');
    await held;
  });

  test('that cannot be renewed lets the work go on, and is reported', async () => {
    const lost = new Error('the database is away');
    const { held, failures, pass, finish } = await begin(60_000, lost);
    await pass(2_500);
    await pass(2_500);
    expect(failures).toEqual([['lease_not_renewed', 'Error']]);
    finish('done');
    expect(await held).toBe('done');
  });
});
