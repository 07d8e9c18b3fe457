import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import Sqlite from 'libsql';
import { afterEach, expect, test } from 'vitest';
import { openStore } from '../../src/service-database.ts';
import { serviceMigrations } from '../../src/service-migrations.ts';
import { openDatabase } from '../../src/store/open.ts';
import { serviceStatements } from '../bench/fill.mjs';
import { openWorld } from '../flights/world.ts';
import { ORDER, openStack } from '../partner/stack.ts';
import { isProof } from '../rounds.ts';
import { hearStatements } from './plans.ts';

/** A service that was used much: 100,000 rows of everything that grows; the gate fills in 10,000. */

const ROWS = isProof ? 100_000 : 10_000;
const MUCH = `${ROWS.toLocaleString('en-US')} of everything`;
/** Of the process's own time, so that other work on the machine counts for nothing. */
const MOST_MS = 20;
/** A collection of garbage in the middle of a statement counts with it: what is slow is slow each time. */
const MEASURED = { timeout: 120_000, retry: 2 };
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** @param without statements of tables that an older database does not have */
function fill(home: string, nowMs: number, without?: RegExp): void {
  const statements = serviceStatements({ rows: ROWS, nowMs })
    .split(/;\s*$/m)
    .filter((statement) => !without?.test(statement))
    .join(';');
  const database = new Sqlite(join(home, 'service.db'));
  database.exec(`pragma synchronous = off; begin immediate; ${statements} commit;`);
  database.prepare('pragma wal_checkpoint(truncate)').all();
  database.close();
  // On the disk now, so that no statement of the service's is the one that waits for it.
  const file = openSync(join(home, 'service.db'), 'r+');
  fsyncSync(file);
  closeSync(file);
}

const slow = (statements: ReturnType<typeof hearStatements>) =>
  statements
    .heard()
    .filter(({ longestMs }) => longestMs > MOST_MS)
    .map(({ sql, longestMs }) => `${longestMs.toFixed(0)} ms: ${sql}`);

test(`no statement of a journey, the worker and the sweeps takes 20 ms after ${MUCH}`, MEASURED, async () => {
  const statements = hearStatements();
  closing.push(statements.stop);
  const world = await openWorld({ airline: 'scripted' });
  closing.push(world.close);
  fill(world.home, world.clock.now());
  statements.listen(true);
  const made = await world.intent('off_1');
  await world.book(made);
  await world.work(10 * MINUTE_MS);
  expect((await world.show(made)).status).toBe('booked');
  const before = await world.store
    .selectFrom('settlements')
    .select(({ fn }) => fn.countAll().as('n'))
    .executeTakeFirst();
  for (const passMs of [11 * MINUTE_MS, 2_000, DAY_MS, 2_000, 8 * DAY_MS, 2_000]) {
    world.clock.advance(passMs);
    await world.worker.runDue();
  }
  statements.listen(false);
  const after = await world.store
    .selectFrom('settlements')
    .select(({ fn }) => fn.countAll().as('n'))
    .executeTakeFirst();
  // What is dead goes, a bite each time.
  expect(Number(after?.n)).toBeLessThan(Number(before?.n));
  expect(slow(statements)).toEqual([]);
});

test(`no statement of the partner service takes 20 ms after ${MUCH}`, MEASURED, async () => {
  const statements = hearStatements();
  closing.push(statements.stop);
  const stack = await openStack();
  closing.push(stack.close);
  fill(stack.home, stack.clock.now());
  statements.listen(true);
  const first = await stack.partner<{ orders: unknown[]; totalCount: number; nextPageToken: string }>(
    'GetOrders',
    {
      pageSize: 50,
    },
  );
  expect(first.body.totalCount).toBeGreaterThan(10);
  await stack.partner('GetOrders', { pageSize: 50, pageToken: first.body.nextPageToken });
  await stack.partner('GetOrders', { status: 'AWAITING_FUNDS' });
  await stack.customer('GetOnboardingRequirements', {});
  await stack.customer('CreateOrder', ORDER);
  await stack.operator('attestations');
  await stack.operator('refund-requests');
  await stack.operator('refund-requests?status=refunded&sort=journey');
  await stack.operator('stuck');
  for (let round = 0; round < 4; round++) {
    stack.clock.advance(7 * 3_600_000);
    await stack.service.worker.runDue();
  }
  statements.listen(false);
  expect(slow(statements)).toEqual([]);
});

test(`a database of before with ${MUCH} is brought up to date in seconds`, async () => {
  const home = mkdtempSync(join(tmpdir(), 'farelock-old-'));
  closing.push(() => rmSync(home, { recursive: true, force: true }));
  const path = join(home, 'service.db');
  const before = serviceMigrations.slice(
    0,
    serviceMigrations.findIndex(({ name }) => name === '030_bounded_work'),
  );
  await (await openDatabase(path, before)).destroy();
  fill(home, Date.UTC(2026, 10, 21), /partner_order_counts/);
  const began = process.cpuUsage();
  const store = await openStore(path);
  closing.push(() => store.destroy());
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1e6).toBeLessThan(10);
  const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'index'`.execute(
    store,
  );
  expect(rows.map(({ name }) => name)).toContain('settlements_open');
  const kept = await store
    .selectFrom('bookings')
    .select(({ fn }) => fn.countAll().as('n'))
    .executeTakeFirst();
  expect(Number(kept?.n)).toBe(ROWS);
  // Orders of before are counted.
  const counted = await store
    .selectFrom('partner_order_counts')
    .select(({ fn }) => fn.sum('orders').as('n'))
    .executeTakeFirst();
  expect(Number(counted?.n)).toBe(ROWS);
}, 120_000);
