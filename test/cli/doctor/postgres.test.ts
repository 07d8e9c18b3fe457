import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/service/home.ts';
import { serviceMigrations } from '../../../src/service/migrations.ts';
import { proofTest } from '../../proof-only.ts';
import { postgresIsInstalled, startPostgres, type TestPostgres } from '../../store/postgres.ts';
import { runInMemory, temporaryHome } from '../memory.ts';

/** `farelock doctor` looks into PostgreSQL, changes nothing there, and never shows the password. */

interface Shown {
  readonly id: string;
  readonly status: 'ok' | 'warning' | 'failed';
  readonly message: string;
  readonly fix: string | null;
  readonly next: string[];
}

let place: ReturnType<typeof temporaryHome>;
beforeEach(() => {
  place = temporaryHome();
});
afterEach(() => place.close());

/** How far the database's clock is from this process's, which may be moved (test/moved-clock.cjs). */
let databaseAheadMs = 0;

async function examined(databaseUrl: string, clock = { aheadMs: 0 }) {
  const run = await runInMemory(['doctor', '--json'], {
    environment: { FARELOCK_HOME: place.home, FARELOCK_DATABASE_URL: databaseUrl },
    folder: place.home,
    clock: {
      now: () => Date.now() + databaseAheadMs + clock.aheadMs,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    },
  });
  const { checks } = run.json() as { checks: Shown[] };
  expect(run.stdout + run.stderr).not.toContain('planted-password');
  return { exitCode: run.exitCode, check: (id: string) => checks.find((one) => one.id === id) };
}

describe.skipIf(!postgresIsInstalled)('of a PostgreSQL server', () => {
  let server: TestPostgres;
  let admin: pg.Client;
  let folder: string;
  const urlOf = (user: string, database: string, more = '') =>
    `postgres://${user}:planted-password@localhost/${database}?host=${encodeURIComponent(folder)}${more}`;

  beforeAll(async () => {
    server = await startPostgres();
    folder = new URL(server.url).searchParams.get('host') ?? '';
    admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    const { rows } = await admin.query<{ now: Date }>('select clock_timestamp() as now');
    databaseAheadMs = (rows[0]?.now.getTime() ?? 0) - Date.now();
    // Roles are asked for a password, the test's own is not.
    const rules = join(folder, 'data', 'pg_hba.conf');
    const before = readFileSync(rules, 'utf8');
    writeFileSync(rules, `local all clerk,reader scram-sha-256\n`);
    appendFileSync(rules, before);
    await admin.query(`create role clerk login password 'planted-password'`);
    await admin.query(`create role reader login password 'planted-password'`);
    await admin.query('select pg_reload_conf()');
    for (const name of ['fresh', 'used', 'old', 'newer']) await admin.query(`create database ${name}`);
    for (const name of ['used', 'old', 'newer']) await (await openStore(urlOf('farelock', name))).destroy();
    await query('old', `delete from schema_steps where name = '${lastStep}'`);
    await query('newer', `insert into schema_steps values ('999_from_the_future', 1)`);
    await query(
      'used',
      'grant usage on schema public to reader; grant select on all tables in schema public to reader',
    );
  });
  afterAll(async () => {
    await admin.end();
    await server.close();
  });

  const lastStep = serviceMigrations.at(-1)?.name ?? '';
  async function query(database: string, text: string): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: urlOf('farelock', database) });
    await client.connect();
    const { rows } = await client.query(text);
    await client.end();
    return rows;
  }

  test('one that is up to date is told with its version, its rights and its clock', async () => {
    const run = await examined(urlOf('farelock', 'used'));
    expect(run.check('service_database')).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(/^PostgreSQL \d+\.\d+, used at \S+ as farelock, up to date$/),
    });
    expect(run.check('database_writing')).toMatchObject({
      status: 'ok',
      message: 'farelock may write (checked without writing)',
    });
    expect(run.check('database_clock')).toMatchObject({ status: 'ok', message: 'In step with the database' });
    expect(run.check('stuck')).toMatchObject({ status: 'ok' });
    expect(run.exitCode).toBe(0);
  });

  test('an empty one is not set up by being looked at', async () => {
    const run = await examined(urlOf('farelock', 'fresh'));
    expect(run.check('service_database')).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('no tables yet'),
    });
    expect(await query('fresh', `select 1 from pg_tables where schemaname = 'public'`)).toEqual([]);
  });

  test('one that is behind and one of a newer version are told apart', async () => {
    expect((await examined(urlOf('farelock', 'old'))).check('service_database')).toMatchObject({
      status: 'warning',
      message: expect.stringContaining(`behind by ${lastStep}`),
    });
    const newer = await examined(urlOf('farelock', 'newer'));
    expect(newer.exitCode).toBe(8);
    expect(newer.check('service_database')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('999_from_the_future'),
      fix: 'Update farelock.',
    });
  });

  test('who may only read is told what is lacking, with the words that grant it', async () => {
    const run = await examined(urlOf('reader', 'used'));
    expect(run.check('database_writing')).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/^reader may not write to schema_steps, meta, .* and \d+ more$/),
      next: expect.arrayContaining([expect.stringContaining('grant select, insert, update, delete')]),
    });
  });

  test('a server that is set to read only is named', async () => {
    await admin.query('alter database used set default_transaction_read_only = on');
    try {
      expect((await examined(urlOf('farelock', 'used'))).check('database_writing')).toMatchObject({
        status: 'failed',
        message: expect.stringContaining('is read-only'),
      });
    } finally {
      await admin.query('alter database used reset default_transaction_read_only');
    }
  });

  test('a clock that differs is told', async () => {
    const run = await examined(urlOf('farelock', 'used'), { aheadMs: 600_000 });
    expect(run.check('database_clock')).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/^This computer's clock is 10 min fast \(by the database\)$/),
    });
  });

  test('what waits for a person is counted there too', async () => {
    await query(
      'used',
      `insert into refund_requests (${await requiredOf('refund_requests')}) values (${await valuesOf('refund_requests')})`,
    );
    const run = await examined(urlOf('farelock', 'used'));
    expect(run.check('stuck')).toMatchObject({ status: 'warning', next: ['farelock stuck show stuck'] });
    await query('used', 'delete from refund_requests');
  });

  test.each([
    [
      'a wrong password',
      () => urlOf('clerk', 'used').replace('planted-password', 'planted-password-2'),
      /refuses clerk/,
    ],
    ['no password', () => urlOf('clerk', 'used').replace(':planted-password', ''), /wants a password, and none/],
    ['a missing database', () => urlOf('farelock', 'nowhere'), /there is no database nowhere/],
    ['a server without TLS', () => urlOf('farelock', 'used', '&sslmode=require'), /do not agree on encryption/],
  ])('%s reads clearly, and the rest is not looked at', async (_said, url, message) => {
    const run = await examined(url());
    expect(run.exitCode).toBe(8);
    expect(run.check('service_database')).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(message),
      fix: expect.any(String),
    });
    expect(run.check('database_writing')).toMatchObject({ status: 'warning' });
  });

  const columns = async (table: string) =>
    (await query(
      'used',
      `select column_name, data_type from information_schema.columns
       where table_name = '${table}' and is_nullable = 'NO' and column_default is null or
       (table_name = '${table}' and column_name = 'state') order by ordinal_position`,
    )) as { column_name: string; data_type: string }[];
  const requiredOf = async (table: string) => (await columns(table)).map((one) => one.column_name).join(', ');
  const valuesOf = async (table: string) =>
    (await columns(table)).map((one) => (one.data_type === 'bigint' ? '1' : `'stuck'`)).join(', ');
});

test('a server that is away is told, by host and port', async () => {
  const run = await examined('postgres://clerk:planted-password@127.0.0.1:9/used');
  expect(run.check('service_database')).toMatchObject({
    status: 'failed',
    message: 'PostgreSQL at 127.0.0.1:9 is away: nothing listens there (ECONNREFUSED)',
    next: ['pg_isready -h 127.0.0.1 -p 9'],
  });
});

proofTest('a server that takes the call and says nothing is given up', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const run = await examined(`postgres://clerk:planted-password@127.0.0.1:${port}/used`);
  silent.close();
  expect(run.check('service_database')).toMatchObject({
    status: 'failed',
    message: `PostgreSQL at 127.0.0.1:${port} is away: it did not answer`,
  });
});

test('what is no address of PostgreSQL is told without being shown, and never becomes a file', async () => {
  const run = await examined('mysql://clerk:planted-password@127.0.0.1/used');
  expect(run.check('service_database')).toMatchObject({
    status: 'failed',
    message: 'FARELOCK_DATABASE_URL must be the address of a PostgreSQL database',
  });
  const environment = { FARELOCK_HOME: place.home, FARELOCK_DATABASE_URL: 'mysql://a:planted-password@b/c' };
  const search = await runInMemory(['search', 'LIS', 'BER', '--depart', '+30d', '--json'], { environment });
  expect(search.exitCode).toBe(2);
  expect(search.stdout + search.stderr).not.toContain('planted-password');
});

test('any other command names the database that is away, and points here', async () => {
  const environment = {
    FARELOCK_HOME: place.home,
    FARELOCK_DATABASE_URL: 'postgres://clerk:planted-password@127.0.0.1:9/used',
  };
  const run = await runInMemory(['search', 'LIS', 'BER', '--depart', '+30d', '--json'], { environment });
  expect(run.exitCode).toBe(7);
  expect(run.json()).toMatchObject({
    error: {
      code: 'database_unavailable',
      message: 'The PostgreSQL database: nothing listens there (ECONNREFUSED).',
      next: expect.arrayContaining(['farelock doctor']),
    },
  });
  expect(run.stdout + run.stderr).not.toContain('planted-password');
});
