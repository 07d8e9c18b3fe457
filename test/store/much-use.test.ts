import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import Sqlite from 'libsql';
import { afterEach, expect, test } from 'vitest';
import { openStore } from '../../src/service/home.ts';
import { serviceMigrations } from '../../src/service/migrations.ts';
import { openDatabase } from '../../src/store/open.ts';
import { serviceStatements } from '../bench/fill.mjs';
import { isProof } from '../rounds.ts';

/** A service with 100,000 rows of everything that grows; the gate fills in 10,000. */

const ROWS = isProof ? 100_000 : 10_000;
const MUCH = `${ROWS.toLocaleString('en-US')} of everything`;

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

test(`a database of before with ${MUCH} is brought up to date`, async () => {
  const home = mkdtempSync(join(tmpdir(), 'farelock-old-'));
  closing.push(() => rmSync(home, { recursive: true, force: true }));
  const path = join(home, 'service.db');
  const before = serviceMigrations.slice(
    0,
    serviceMigrations.findIndex(({ name }) => name === '030_bounded_work'),
  );
  await (await openDatabase(path, before)).destroy();
  fill(home, Date.UTC(2026, 10, 21), /partner_order_counts/);
  const store = await openStore(path);
  closing.push(() => store.destroy());
  const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'index'`.execute(store);
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
});
