import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'libsql';
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openService } from '../../src/service/index.ts';
import { serviceMigrations } from '../../src/service/migrations.ts';
import { openDatabase, openFileOrServer } from '../../src/store/index.ts';
import { clockFrom } from '../clock.ts';
import { proofTest } from '../proof-only.ts';
import { newDatabases, postgresIsInstalled } from '../store/postgres.ts';
import { type MemoryRun, runInMemory, temporaryHome } from './memory.ts';

/** `farelock db`: what a database is, and what may change it. */

let home: string;
let close: () => void;
beforeEach(() => {
  ({ home, close } = temporaryHome());
});
afterEach(() => close());

const run = (line: string, env: Record<string, string> = {}): Promise<MemoryRun> =>
  runInMemory([...line.split(' '), '--json'], { environment: { FARELOCK_HOME: home, ...env } });
const codeOf = (ran: MemoryRun) => (ran.json().error as { code: string } | undefined)?.code ?? null;

/** All steps but the newest. */
const EARLIER = serviceMigrations.slice(0, -1);
const LAST = serviceMigrations.at(-1)?.name ?? '';

describe('the file of a home', () => {
  const inFile = (statement: string) => {
    const database = new Sqlite(join(home, 'service.db'));
    database.exec(statement);
    database.close();
  };

  test('is shown with its steps, its tables and their retention, and a look makes nothing', async () => {
    expect((await run('db status')).json()).toMatchObject({ store: 'file', status: 'empty' });
    expect((await run('db check')).exitCode).toBe(5);
    await run('keys list');
    const state = (await run('db status', { FARELOCK_PURGE_AFTER_DAYS: '9' })).json();
    expect(state).toMatchObject({ status: 'current', missing: [], newer: [] });
    const tables = state.tables as { table: string; keeps_personal_data_days: number | null }[];
    expect(tables.find(({ table }) => table === 'intents')).toMatchObject({
      ...{ keeps_days: null, keeps_personal_data_days: 9, setting: 'FARELOCK_PURGE_AFTER_DAYS', default_days: 30 },
    });
  });

  test('migrates by itself, and says so when it took long', async () => {
    const said: string[] = [];
    const slow =
      'create table slow as with recursive n(x) as (select 1 union all select x + 1 from n limit 9) select x from n';
    const migrating = { onMigrated: (steps: readonly string[]) => said.push(...steps) };
    const store = await openDatabase(join(home, 'a.db'), [{ name: '1', statements: [slow] }], undefined, migrating);
    await store.destroy();
    expect(said).toEqual(['1']);
    await (await openFileOrServer(join(home, 'service.db'), EARLIER)).destroy();
    expect((await run('db status')).json()).toMatchObject({ status: 'behind', missing: [LAST] });
    expect((await run('keys list')).exitCode).toBe(0);
    expect((await run('db status')).json()).toMatchObject({ status: 'current' });
  });

  test('check finds a missing index and an escrow that was captured and refunded', async () => {
    await run('keys list');
    expect((await run('db check')).json()).toMatchObject({ status: 'ok' });
    inFile('drop index effects_subject');
    for (const kind of ['capture', 'refund']) {
      inFile(`insert into effects (effect_id, kind, subject, state, attempt, created_at_ms, updated_at_ms)
        values ('${kind}', '${kind}', 'int_1', 'done', 1, 1, 1)`);
    }
    const ran = await run('db check');
    expect(ran.exitCode).toBe(8);
    expect(ran.json().checks).toEqual(
      expect.arrayContaining([
        { id: 'schema', status: 'failed', found: ['effects_subject'] },
        { id: 'captured_and_refunded', status: 'failed', found: ['int_1'] },
      ]),
    );
  });
});

describe('a backup', () => {
  const other = () => join(home, 'other');
  const passphrase = (text: string) => {
    const path = join(home, `passphrase-${text}`);
    writeFileSync(path, `${text}\n`, { mode: 0o600 });
    return path;
  };

  test('of a home that works is one private file, and restored it is the same home', async () => {
    const balance = (await run('wallet balance')).json();
    await run('search LIS BER --depart +30d --no-wait');
    const file = join(home, 'a.backup');
    const paid = (await run('wallet balance')).json();
    expect(paid).not.toEqual(balance);
    const made = await run(`db backup ${file} --passphrase-file ${passphrase('one')}`);
    expect(made.json()).toMatchObject({ encrypted: true });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const secret of ['SQLite format 3', readFileSync(join(home, 'wallet.json'), 'utf8').slice(0, 60)]) {
      expect(readFileSync(file).indexOf(secret, 100)).toBe(-1);
    }
    const again = await run(`db backup ${file}`);
    expect([again.exitCode, codeOf(again)]).toEqual([2, 'usage']);
    const env = { FARELOCK_HOME: other() };
    expect(codeOf(await run(`db restore ${file}`, env))).toBe('usage');
    expect(codeOf(await run(`db restore ${file} --passphrase-file ${passphrase('two')}`, env))).toBe('data_invalid');
    expect((await run(`db restore ${file} --passphrase-file ${passphrase('one')}`, env)).exitCode).toBe(0);
    expect((await run('db status', env)).json()).toMatchObject({ needs_reconcile: true });
    expect((await run('doctor', env)).stdout).toContain('farelock db reconcile');
    expect(codeOf(await run('intent create off_1', env))).toBe('database_behind');
    expect((await run('wallet balance', env)).json()).toEqual(paid);
    expect((await run('db reconcile --dry-run', env)).json()).toMatchObject({ status: 'same', dry_run: true });
    expect((await run('db status', env)).json()).toMatchObject({ needs_reconcile: true });
    expect((await run('db reconcile', env)).json()).toMatchObject({ status: 'same', dry_run: false });
    expect((await run('db reconcile --needed', env)).json()).toMatchObject({ status: 'needed' });
    expect((await run('db status', env)).json()).toMatchObject({ needs_reconcile: true });
    expect((await run('db reconcile', env)).json()).toMatchObject({ status: 'same' });
    expect((await run('db status', env)).json()).toMatchObject({ needs_reconcile: false });
    expect((await run('db check', env)).json()).toMatchObject({ status: 'ok' });
    expect(codeOf(await run(`db restore ${file} --passphrase-file ${passphrase('one')}`, env))).toBe('usage');
  });

  test('without a passphrase holds no key, and a file that was changed is not restored', async () => {
    await run('wallet balance');
    const file = join(home, 'a.backup');
    expect(JSON.stringify((await run(`db backup ${file}`)).json())).not.toMatch(/keys|wallet/);
    const database = new Sqlite(file);
    database.exec('update chunks set is_last = 0');
    database.close();
    expect(codeOf(await run(`db restore ${file}`, { FARELOCK_HOME: other() }))).toBe('data_invalid');
    expect(readdirSync(other())).toEqual([]);
  });
});

describe.runIf(postgresIsInstalled)('a PostgreSQL', () => {
  let databases: Awaited<ReturnType<typeof newDatabases>>;
  beforeAll(async () => {
    databases = await newDatabases();
  });

  const query = async (url: string, statement: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(statement);
    await client.end();
    return rows as Record<string, unknown>[];
  };

  test('with missing steps is refused by every command, and migrated when told', async () => {
    const url = await databases.next();
    await (await openFileOrServer(url, EARLIER)).destroy();
    const env = { FARELOCK_DATABASE_URL: url };
    const steps = () => query(url, 'select name from schema_steps order by name');
    const before = await steps();
    for (const line of ['wallet balance', 'keys list', 'serve --port 0', 'worker', 'cluster keys']) {
      const ran = await run(line, env);
      expect([line, ran.exitCode, codeOf(ran)]).toEqual([line, 5, 'database_not_migrated']);
      expect(ran.stdout).toContain('db migrate');
    }
    expect(await steps()).toEqual(before);
    expect((await run('db status', env)).json()).toMatchObject({ status: 'behind', missing: [LAST] });
    expect((await run('db migrate --dry-run', env)).json()).toMatchObject({ missing: [LAST] });
    expect(await steps()).toEqual(before);
    expect((await run('db migrate', env)).json()).toMatchObject({ applied: [LAST] });
    expect((await run('db check', env)).json()).toMatchObject({ status: 'ok' });
    expect((await run('keys list', env)).exitCode).toBe(0);
  });

  test('is migrated by a service that was told to', async () => {
    const url = await databases.next();
    await (await openFileOrServer(url, EARLIER)).destroy();
    const service = await openService({ home, databaseUrl: url, clock: clockFrom(0), migrating: { isTold: true } });
    await service.close();
    expect(await query(url, `select name from schema_steps where name = '${LAST}'`)).toHaveLength(1);
  });

  test('that is empty is made by the first command; one that holds tables of others is not touched', async () => {
    const [empty, taken] = [await databases.next(), await databases.next()];
    expect((await run('db status', { FARELOCK_DATABASE_URL: empty })).json()).toMatchObject({ status: 'empty' });
    expect(await query(empty, `select 1 from pg_tables where schemaname = 'public'`)).toEqual([]);
    expect((await run('keys list', { FARELOCK_DATABASE_URL: empty })).exitCode).toBe(0);
    await query(taken, 'create table invoices (id int)');
    const ran = await run('keys list', { FARELOCK_DATABASE_URL: taken });
    expect(codeOf(ran)).toBe('database_not_migrated');
    expect(await query(taken, `select tablename from pg_tables where schemaname = 'public'`)).toHaveLength(1);
  });

  test('of a newer version is refused, told or not, and status names its steps without the password', async () => {
    const url = await databases.next();
    const env = { FARELOCK_DATABASE_URL: url.replace('farelock@', 'farelock:hunter2secret@') };
    await run('keys list', env);
    await query(url, `insert into schema_steps values ('999_breaks', 1)`);
    for (const line of ['keys list', 'db migrate', 'serve --port 0 --migrate', 'db check']) {
      expect([line, codeOf(await run(line, env))]).toEqual([line, 'database_newer']);
    }
    const ran = await run('db status', env);
    expect(ran.json()).toMatchObject({ store: 'postgresql', status: 'newer', newer: ['999_breaks'] });
    expect(ran.stdout).not.toContain('hunter2secret');
  });

  proofTest('holds every process to the settings of the first; a change is said, meant, and audited', async () => {
    const url = await databases.next();
    const stopping = new AbortController().signal;
    const open = (more: Partial<Parameters<typeof openService>[0]>) =>
      openService({ home, databaseUrl: url, clock: clockFrom(0), stopping, ...more }).then((service) =>
        service.close(),
      );
    const caps = (usdc: bigint) => ({ caps: { perPayment: null, perDay: usdc * 1_000_000n } });
    await open(caps(500n));
    await open(caps(500n));
    await expect(open(caps(900n))).rejects.toMatchObject({
      code: 'fleet_differs',
      message: expect.stringContaining('cap_per_day is 500.00 USDC there and 900.00 USDC here'),
    });
    await expect(open({ ...caps(500n), seed: 'other' })).rejects.toMatchObject({ code: 'fleet_differs' });
    await expect(open({ ...caps(500n), purgeAfterDays: 3 })).rejects.toMatchObject({
      detail: { differences: [{ setting: 'purge_after_days', database: '30', here: '3' }] },
    });
    await open({ ...caps(900n), acceptsChanges: true });
    await expect(open(caps(500n))).rejects.toMatchObject({ code: 'fleet_differs' });
    expect(await query(url, `select subject, detail from operator_audit where action = 'fleet.change'`)).toEqual([
      { subject: 'cap_per_day', detail: '{"from":"500.00 USDC","to":"900.00 USDC"}' },
    ]);
  });
});

test('a misspelt variable is refused with the nearest right one, before anything is done', async () => {
  const ran = await run('wallet airdrop', { FARELOCK_CAP_PER_DAI: '5' });
  expect([ran.exitCode, codeOf(ran)]).toEqual([2, 'settings_invalid']);
  expect(ran.stdout).toContain('Did you mean FARELOCK_CAP_PER_DAY?');
  expect((await run('db status', { FARELOCK_CAP_PER_DAI: '5' })).json()).toMatchObject({ status: 'empty' });
});
