import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../src/kernel/log.ts';
import { openDatabaseDesk } from '../../src/service/database.ts';
import { openStore } from '../../src/service/home.ts';
import { createReadings } from '../../src/service/readings.ts';
import { serviceStatements } from '../bench/fill.mjs';
import { openDesk } from '../flights/refund-desk.ts';
import { worldDatabase } from '../flights/world-database.ts';
import { newDatabases, postgresIsInstalled } from './postgres.ts';

/**
 * A million rows of everything on PostgreSQL, as its own planner takes them: what it read is counted by the server
 * itself. The gate holds the same statements' plans over fewer rows (plans-on-postgres.proof.ts).
 */

const ROWS = 1_000_000;
/** When a world begins. */
const NOW_MS = Date.UTC(2026, 10, 21, 9);
/** No more than the small tables hold, read over and over. */
const MOST_READ = 20_000;
const runs = postgresIsInstalled;

let databases: Awaited<ReturnType<typeof newDatabases>>;
let url = '';
const inAFile = worldDatabase.next;
const asked = async <Row extends pg.QueryResultRow>(...statements: string[]): Promise<Row[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const statement of statements) if (statement.trim()) rows = (await client.query<Row>(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
};
beforeAll(async () => {
  if (!runs) return;
  databases = await newDatabases();
  url = await databases.next();
  await (await openStore(url)).destroy();
  await asked(...serviceStatements({ rows: ROWS, nowMs: NOW_MS }).split(/;\s*$/m), 'vacuum analyze');
  worldDatabase.next = async () => url;
}, 3_600_000);
afterAll(async () => {
  worldDatabase.next = inAFile;
});

test.runIf(runs)(
  'no table is looked through for a journey, a sweep, a list of a desk, the metrics or the status of the database',
  async () => {
    const desk = await openDesk();
    const { world, ask, requested } = desk;
    await asked('select pg_stat_reset()');
    await world.search();
    const flown = await world.intent('off_flown');
    await world.book(flown);
    await world.work();
    expect((await world.show(flown)).status).toBe('booked');
    await requested();
    for (const path of [
      ...[
        'refund-requests',
        'refund-requests?sort=journey',
        'refund-requests?search=leg',
        'stuck',
        'audit',
        'switches',
      ],
      ...['received', 'approved', 'stuck', 'refunded', 'rejected'].map((status) => `refund-requests?status=${status}`),
    ])
      expect((await ask(`/${path}`)).status, path).toBe(200);
    const readings = await createReadings({ ...world, log: silentLog, movedOn: async () => false })();
    expect(readings.filter(({ name, value }) => name === 'farelock_scrape_failed' && value === 1)).toEqual([]);
    await openDatabaseDesk({ home: world.home, databaseUrl: url, clock: world.clock }).state();
    // Each sweep takes a bite of what is old.
    world.clock.advance(20 * 60_000);
    await world.work();
    await world.close();
    const read = await asked<{ relname: string; rows: string }>(
      `select relname, seq_tup_read as rows from pg_stat_user_tables where seq_tup_read > ${MOST_READ} order by 1`,
    );
    expect(read).toEqual([]);
    const [counted] = await asked<{ found: string }>(
      `select sum(idx_scan) as found from pg_stat_user_tables where idx_scan > 0`,
    );
    expect(Number(counted?.found)).toBeGreaterThan(100);
  },
  1_200_000,
);
