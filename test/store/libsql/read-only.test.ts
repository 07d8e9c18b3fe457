import fs, {
  cpSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openSqlite } from '../../../src/store/libsql/file.ts';
import { inspectFile } from '../../../src/store/libsql/inspect.ts';
import { readRows } from '../../../src/store/libsql/read-only.ts';

/** A look at a file changes nothing beside it, and misses nothing that was committed. */

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'farelock-store-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const bytesOf = (at: string) =>
  Object.fromEntries(
    readdirSync(at)
      .sort()
      .map((name) => [name, readFileSync(join(at, name)).toString('base64')]),
  );

/** A folder as a process that was killed leaves it: what it has written is in the journal alone. */
function leftByKill(suffixes: readonly string[]): string {
  const writing = openSqlite(join(folder, 'live.db'));
  writing.exec('pragma wal_autocheckpoint = 0; create table fares (name text); insert into fares values (1)');
  const left = mkdtempSync(join(folder, 'left-'));
  for (const suffix of suffixes) cpSync(join(folder, `live.db${suffix}`), join(left, `a.db${suffix}`));
  writing.close();
  return left;
}

test('of a file that is not there there are no rows, and none is made', () => {
  expect(readRows(join(folder, 'none.db'), 'select 1 as one')).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ['with its index', ['', '-wal', '-shm']],
  ['restored without it', ['', '-wal']],
])('what only the journal holds is read, %s, and not one byte changes', (_said, suffixes) => {
  const left = leftByKill(suffixes);
  const before = bytesOf(left);
  expect(readRows(join(left, 'a.db'), 'select name from fares')).toEqual([{ name: '1' }]);
  expect(bytesOf(left)).toEqual(before);
});

test('copies that a killed look has left are removed by the next one; those of today and of others stay', () => {
  const left = leftByKill(['', '-wal']);
  const temporary = mkdtempSync(join(folder, 'tmp-'));
  const old = new Date('2001-01-01');
  for (const name of ['farelock-look-old', 'farelock-look-new', 'other-look-old']) {
    mkdirSync(join(temporary, name));
    if (!name.endsWith('new')) utimesSync(join(temporary, name), old, old);
  }
  symlinkSync(left, join(temporary, 'farelock-look-link'));
  lutimesSync(join(temporary, 'farelock-look-link'), old, old);
  vi.stubEnv('TMPDIR', temporary);
  expect(readRows(join(left, 'a.db'), 'select name from fares')).toEqual([{ name: '1' }]);
  vi.unstubAllEnvs();
  const stay = ['farelock-look-link', 'farelock-look-new', 'other-look-old'];
  expect(readdirSync(temporary).sort()).toEqual(stay);
});

test('a file that is in use is read as it stands now', () => {
  const path = join(folder, 'live.db');
  const writing = openSqlite(path);
  writing.exec('create table fares (name text); insert into fares values (1)');
  expect(readRows(path, 'select name from fares')).toEqual([{ name: '1' }]);
  writing.exec('insert into fares values (2)');
  expect(readRows(path, 'select count(*) as n from fares')).toEqual([{ n: 2 }]);
  writing.close();
  const left = readdirSync(folder);
  expect(readRows(path, 'select count(*) as n from fares')).toEqual([{ n: 2 }]);
  expect(readdirSync(folder)).toEqual(left);
});

test.runIf(process.platform === 'linux')('a lock on a file of the same number elsewhere makes no user', () => {
  const path = join(folder, 'live.db');
  const open = openSqlite(path);
  open.exec('create table fares (name text)');
  const { readFileSync: read } = fs;
  const usersBy = (lists: Record<string, string>) => {
    fs.readFileSync = ((file: string, how: 'utf8') => lists[file] ?? read(file, how)) as typeof read;
    syncBuiltinESMExports();
    try {
      return inspectFile(path, null, false).users;
    } finally {
      fs.readFileSync = read;
      syncBuiltinESMExports();
    }
  };
  const elsewhere = { '/proc/locks': read('/proc/locks', 'utf8').replaceAll(/ \w+:\w+:(?=\d+ )/g, ' fe:fefe:') };
  expect(usersBy({})).toEqual([process.pid]);
  expect(usersBy(elsewhere)).toEqual([]);
  // As on btrfs: the device of a file is in no list, so its number alone has to do.
  expect(usersBy({ ...elsewhere, '/proc/self/mountinfo': '' })).toEqual([process.pid]);
  open.close();
});
