import crypto from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import Sqlite from 'libsql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockBeside } from '../../src/store/libsql/lock.ts';
import { manualClock } from '../clock.ts';
import { everyNth } from '../rounds.ts';
import { runInMemory, temporaryHome } from './memory.ts';

/** `farelock db restore` that dies at any write: the same command ends it, and no command opens a part of a home. */

const { home: place, close } = temporaryHome();
const clock = manualClock();
const passphrase = join(place, 'passphrase');
const backups = { encrypted: join(place, 'encrypted.backup'), plain: join(place, 'plain.backup') };
const other = join(place, 'other.backup');

const run = (line: string, home: string) =>
  runInMemory([...line.split(' '), '--json'], { environment: { FARELOCK_HOME: join(place, home) }, clock });
/** The code of its problem; null if it has none. */
const codeOf = async (line: string, home: string) =>
  ((await run(line, home)).json().error as { code: string } | undefined)?.code ?? null;
const restoring = (file: string) =>
  file === backups.encrypted ? `db restore ${file} --passphrase-file ${passphrase}` : `db restore ${file}`;

const sha = (bytes: Buffer) => crypto.createHash('sha256').update(bytes).digest('hex');
/** The files of a home, with the digests of their content; a lock that a death leaves is free. */
const filesOf = (home: string): Record<string, string> =>
  Object.fromEntries(
    (fs.existsSync(join(place, home)) ? fs.readdirSync(join(place, home), { recursive: true }) : [])
      .map(String)
      .filter((name) => !name.endsWith('.locked') && fs.statSync(join(place, home, name)).isFile())
      .map((name): [string, string] => [name, sha(fs.readFileSync(join(place, home, name)))])
      .sort(),
  );

const WRITES = [
  'mkdirSync',
  'mkdtempSync',
  'openSync',
  'writeFileSync',
  'fsyncSync',
  'chmodSync',
  'renameSync',
] as const;
const real = Object.fromEntries([...WRITES, 'rmSync' as const].map((name) => [name, fs[name]])) as Pick<
  typeof fs,
  (typeof WRITES)[number] | 'rmSync'
>;
const { scryptSync } = crypto;
const use = (calls: object) => {
  Object.assign(fs, calls);
  syncBuiltinESMExports();
};

beforeAll(async () => {
  // The key of a backup is stretched once for all of its restores.
  const keys = new Map<string, Buffer>();
  crypto.scryptSync = ((...given: Parameters<typeof scryptSync>) => {
    const salt = String(given[1]);
    keys.set(salt, keys.get(salt) ?? scryptSync(...given));
    return keys.get(salt);
  }) as typeof scryptSync;
  syncBuiltinESMExports();
  fs.writeFileSync(passphrase, 'one', { mode: 0o600 });
  const first = join(place, 'first');
  fs.mkdirSync(join(first, 'keys'), { recursive: true });
  for (const name of ['wallet.json', 'keys/service.json', 'keys/treasury.json'])
    fs.writeFileSync(join(first, name), `[${name.length}]`);
  for (const name of ['client.db', 'service.db']) {
    const database = new Sqlite(join(first, name));
    database.exec('create table meta (key text primary key, value text)');
    database.close();
  }
  await run(`db backup ${backups.encrypted} --passphrase-file ${passphrase}`, 'first');
  await run(`db backup ${backups.plain}`, 'first');
  clock.advance(60_000);
  const later = new Sqlite(join(first, 'client.db'));
  later.exec(`insert into meta values ('later', 'yes')`);
  later.close();
  await run(`db backup ${other}`, 'first');
});
afterAll(() => {
  crypto.scryptSync = scryptSync;
  syncBuiltinESMExports();
  close();
});

/** Runs a command that is killed before its n-th write to a home. @returns true if it was */
async function killed(line: string, home: string, moment: number): Promise<boolean> {
  let writes = 0;
  const pass = (at: unknown) => {
    if (typeof at !== 'number' && !String(at).startsWith(join(place, home))) return;
    if (writes++ >= moment) throw new Error('killed');
  };
  const remove = (path: string) => {
    const isFolder = fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    if (isFolder) for (const name of fs.readdirSync(path)) remove(join(path, name));
    pass(path);
    real.rmSync(path, { recursive: true, force: true });
  };
  const dying =
    (name: (typeof WRITES)[number]) =>
    (...given: unknown[]) => {
      pass(given[0]);
      return (real[name] as (...given: unknown[]) => unknown)(...given);
    };
  use({ ...Object.fromEntries(WRITES.map((name) => [name, dying(name)])), rmSync: remove });
  try {
    await run(line, home);
  } finally {
    use(real);
  }
  return writes > moment;
}

test.each(Object.entries(backups))(
  'a restore of one that is %s is repeated after a death at any write',
  async (kind, file) => {
    expect(await codeOf(restoring(file), `${kind}-whole`)).toBeNull();
    const whole = filesOf(`${kind}-whole`);
    for (let moment = 1; ; moment += everyNth(9)) {
      const home = `${kind}-${moment}`;
      const wasKilled = await killed(restoring(file), home, moment);
      const hasBegun = fs.existsSync(join(place, home, '.restore')) || Object.keys(filesOf(home)).length > 0;
      const isWhole = JSON.stringify(filesOf(home)) === JSON.stringify(whole);
      const opens = await codeOf('config list', home);
      if (hasBegun && !isWhole) expect(opens, `after write ${moment}`).toBe('restore_unfinished');
      // A restore that has ended is refused as any home with databases is.
      expect([null, isWhole && 'usage']).toContain(await codeOf(restoring(file), home));
      expect(filesOf(home), `repeated after write ${moment}`).toEqual(whole);
      expect(await codeOf('config list', home)).toBeNull();
      if (!wasKilled) return;
    }
  },
);

test.each(Object.entries(backups))(
  'another backup is never mixed with a part of one that is %s',
  async (kind, file) => {
    expect(await codeOf(restoring(other), `${kind}-other`)).toBeNull();
    const whole = filesOf(`${kind}-other`);
    let refused = 0;
    for (let moment = 5; ; moment += everyNth(9)) {
      const home = `${kind}-mixed-${moment}`;
      const wasKilled = await killed(restoring(file), home, moment);
      const half = filesOf(home);
      const code = await codeOf(restoring(other), home);
      if (code !== null) refused++;
      expect(filesOf(home), `after write ${moment}`).toEqual(code === null ? whole : half);
      if (!wasKilled) break;
    }
    expect(refused).toBeGreaterThan(0);
  },
);

test('of two restores at once into a home one is refused, and touches nothing', async () => {
  fs.mkdirSync(join(place, 'two'));
  const unlock = lockBeside(join(place, 'two', '.restore'));
  const refused = await run(restoring(backups.plain), 'two');
  expect(refused.json().error).toMatchObject({ code: 'usage', message: expect.stringContaining('is under way') });
  expect(filesOf('two')).toEqual({});
  unlock?.();
  expect(await codeOf(restoring(backups.plain), 'two')).toBeNull();
});
