import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'libsql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inMemory } from '../cli/memory.ts';
import { worldClock } from '../clock.ts';
import { proofTest } from '../proof-only.ts';
import { postgresKeepsTime, startPostgres } from '../store/postgres.ts';
import { farelockIn } from './farelock.ts';

/** A database belongs to one home: its keys, its cluster, its ledger. Whatever else it is opened with is refused. */

const folder = mkdtempSync(join(tmpdir(), 'farelock-whose-'));
const used = join(folder, 'used');
let homes = 0;
const copyOfUsed = (): string => {
  const home = join(folder, `home-${homes++}`);
  cpSync(used, home, { recursive: true });
  return home;
};
/** Its commands in this process. */
const at = (home: string, env: Record<string, string> = {}) => inMemory(farelockIn(env, home));
const PAYING = ['search', 'LIS', 'BER', '--depart', '+30d', '--json'];

beforeAll(async () => {
  // A process: it leaves its databases' journals as they are.
  const made = await farelockIn({}, used).run(PAYING);
  expect(made.exitCode, made.stdout + made.stderr).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const removeLedger = (home: string): void => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(home, `ledger.db${suffix}`), { force: true });
};

interface Told {
  readonly error: { readonly code: string; readonly message: string; readonly fix: string };
}

async function refused(home: string, args: readonly string[], env: Record<string, string> = {}) {
  const ran = await at(home, env).run(args);
  return { exitCode: ran.exitCode, ...ran.json<Told>().error };
}

const failedChecks = async (home: string): Promise<string[]> => {
  const ran = await at(home).run(['doctor', '--json']);
  expect(ran.exitCode).toBe(8);
  const { checks } = ran.json<{ checks: { id: string; status: string }[] }>();
  return checks.filter(({ status }) => status === 'failed').map(({ id }) => id);
};

test('a home that was copied with its database works', async () => {
  const ran = await at(copyOfUsed()).run(PAYING);
  expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
});

test('a database in another home is refused with what differs and who made it, and no key is made', async () => {
  const home = copyOfUsed();
  rmSync(join(home, 'keys', 'service.json'));
  const missing = await refused(home, ['partner', 'orders', 'list', '--json']);
  expect(missing).toMatchObject({ code: 'database_of_another_home', exitCode: 5 });
  expect(missing.message).toContain('keys/service.json');
  expect(missing.message).toContain(used);
  expect(existsSync(join(home, 'keys', 'service.json'))).toBe(false);

  const other = join(folder, `home-${homes++}`);
  await at(other).run(['partner', 'orders', 'list', '--json']);
  cpSync(join(other, 'keys', 'authority.json'), join(home, 'keys', 'authority.json'));
  cpSync(join(used, 'keys', 'service.json'), join(home, 'keys', 'service.json'));
  const differing = await refused(home, ['partner', 'orders', 'list', '--json']);
  expect(differing).toMatchObject({ code: 'database_of_another_home' });
  expect(differing.message).toContain('keys/authority.json');
  expect(await failedChecks(home)).toContain('keys');
});

test('a database that was marked with another escrow program opens: a service may have moved', async () => {
  const home = copyOfUsed();
  const db = new Sqlite(join(home, 'service.db'));
  const kept = db.prepare("select value from meta where key = 'home_identity'").get() as { value: string };
  const identity = { ...JSON.parse(kept.value), program: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' };
  db.prepare("update meta set value = ? where key = 'home_identity'").run(JSON.stringify(identity));
  db.close();
  const ran = await at(home).run(PAYING);
  expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
});

test('a key ring that rotates keeps its database', async () => {
  const home = copyOfUsed();
  const path = join(home, 'keys', 'service.json');
  const ring = JSON.parse(readFileSync(path, 'utf8')) as { keys: { id: string; secret: string }[] };
  ring.keys.unshift({ id: 'newer000', secret: Buffer.alloc(32, 7).toString('base64') });
  writeFileSync(path, JSON.stringify(ring));
  const ran = await at(home).run(PAYING);
  expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
});

test('a journal that was sealed with another key ring is refused', async () => {
  const home = copyOfUsed();
  rmSync(join(home, 'keys', 'client.json'));
  expect(await refused(home, PAYING)).toMatchObject({ code: 'database_of_another_home', exitCode: 5 });
});

proofTest('a database from before the mark gets it with the first start, of several too', async () => {
  const home = copyOfUsed();
  const file = new Sqlite(join(home, 'service.db'));
  file.exec("delete from meta where key in ('home_identity', 'seen_ledger')");
  file.close();
  const args = ['partner', 'orders', 'list', '--json'];
  const runs = await Promise.all([1, 2, 3].map(() => farelockIn({}, home).run(args)));
  expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  rmSync(join(home, 'keys', 'treasury.json'));
  expect(await refused(home, args)).toMatchObject({ code: 'database_of_another_home' });
});

proofTest.runIf(postgresKeepsTime)(
  'of two homes that begin on one PostgreSQL database at once, one has it and the other is told whose it is',
  async () => {
    const server = await startPostgres({ nowMs: worldClock.now() });
    try {
      const args = ['partner', 'orders', 'list', '--json'];
      const runs = await Promise.all(
        [1, 2].map(() => farelockIn({ FARELOCK_DATABASE_URL: server.url }, join(folder, `pg-${homes++}`)).run(args)),
      );
      expect(runs.map(({ exitCode }) => exitCode).sort()).toEqual([0, 5]);
      const told = runs.find(({ exitCode }) => exitCode === 5)?.json<Told>().error;
      expect(told?.code).toBe('database_of_another_home');
      expect(told?.message).toContain(folder);
    } finally {
      await server.close();
    }
  },
);

test.each([
  ['ledger.db and its journal are gone', removeLedger],
  [
    'the journal that held everything is gone',
    (home: string) => {
      for (const suffix of ['-wal', '-shm']) rmSync(join(home, `ledger.db${suffix}`));
    },
  ],
  [
    'another ledger is in its place',
    (home: string) => {
      removeLedger(home);
      for (const suffix of ['', '-wal']) {
        cpSync(join(folder, 'other', `ledger.db${suffix}`), join(home, `ledger.db${suffix}`));
      }
    },
  ],
  [
    'its last transactions are gone',
    (home: string) => {
      const file = new Sqlite(join(home, 'ledger.db'));
      file.exec('delete from transactions where seq > 2');
      file.close();
    },
  ],
])('%s: nothing is made anew in silence, and doctor says so', async (_what, lose) => {
  const other = await at(join(folder, 'other')).run(['wallet', 'balance', '--json']);
  expect(other.exitCode).toBe(0);
  const home = copyOfUsed();
  lose(home);
  const told = await refused(home, ['wallet', 'balance', '--json']);
  expect(told).toMatchObject({ code: 'ledger_lost', exitCode: 5 });
  expect(told.message).toContain(join(home, 'ledger.db'));
  expect(told.fix).toContain('backup');
  expect(await failedChecks(home)).toContain('cluster');
  expect(await refused(home, PAYING)).toMatchObject({ code: 'ledger_lost' });
});

test('a database that a newer version has changed is refused, naming the step, and is left as it is', async () => {
  for (const [file, args] of [
    ['service.db', ['partner', 'orders', 'list', '--json']],
    ['client.db', ['payments', 'list', '--json']],
  ] as const) {
    const home = copyOfUsed();
    const database = new Sqlite(join(home, file));
    database.exec("insert into schema_steps (name, breaks) values ('999_from_the_future', 1)");
    database.close();
    const told = await refused(home, args);
    expect(told).toMatchObject({ code: 'database_newer', exitCode: 5 });
    expect(told.message).toContain('999_from_the_future');
    expect(told.message).toContain(join(home, file));
  }
});

test('an empty or relative XDG_DATA_HOME counts as unset: no key lands in the working folder', async () => {
  const user = join(folder, 'user');
  for (const XDG_DATA_HOME of ['', 'data']) {
    const ran = await farelockIn({ HOME: user, XDG_DATA_HOME, FARELOCK_HOME: '' }, folder).run(
      ['wallet', 'show', '--json'],
      { env: { FARELOCK_HOME: '' } },
    );
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    expect(ran.json<{ keypair_file: string }>().keypair_file.startsWith(user)).toBe(true);
  }
});
