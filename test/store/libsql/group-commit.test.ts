import fs, { mkdtempSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import Sqlite from 'libsql';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { regained } from '../../../src/store/base/index.ts';
import { openDatabase } from '../../../src/store/open.ts';

/** What is written at the same moment is committed together, and nobody is told before it is on the disk. */

interface Tables {
  fares: { name: string; amount: number };
}

const MADE = [
  {
    name: '001',
    statements: ['create table fares (name text primary key, amount bigint not null check (amount >= 0))'],
  },
];

let folder: string;
let database: Kysely<Tables>;
let restore: (() => void)[];
beforeEach(async () => {
  restore = [];
  folder = mkdtempSync(join(tmpdir(), 'farelock-store-'));
  database = await openDatabase<Tables>(join(folder, 'a.db'), MADE);
});
afterEach(async () => {
  for (const put of restore) put();
  await database.destroy();
  rmSync(folder, { recursive: true, force: true });
});

const put = (name: string, amount = 1, on: Pick<Kysely<Tables>, 'insertInto'> = database) =>
  on.insertInto('fares').values({ name, amount }).execute();
const names = async () =>
  (await database.selectFrom('fares').select('name').orderBy('name').execute()).map(({ name }) => name);
/** What another connection sees: what is committed. */
const committed = () => {
  const other = new Sqlite(join(folder, 'a.db'));
  try {
    return (other.prepare('select name from fares order by name').all() as { name: string }[]).map(({ name }) => name);
  } finally {
    other.close();
  }
};

/** A disk that answers when it is told to. */
function slowDisk() {
  const { fdatasync } = fs;
  const waiting: ((error: Error | null) => void)[] = [];
  const held = ((_file: number, done: (error: Error | null) => void) => waiting.push(done)) as never;
  fs.fdatasync = held;
  syncBuiltinESMExports();
  restore.push(() => {
    fs.fdatasync = fdatasync;
    syncBuiltinESMExports();
  });
  return {
    waits: () => waiting.length,
    answer: (error: Error | null = null) => {
      for (const done of waiting.splice(0)) done(error);
    },
  };
}

/** Every `commit` of the file. */
function commits(fail = false) {
  const exec = Sqlite.prototype.exec;
  let count = 0;
  const spy = vi.spyOn(Sqlite.prototype, 'exec').mockImplementation(function (this: Sqlite.Database, text) {
    if (text !== 'commit') return exec.call(this, text);
    count += 1;
    if (fail) throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });
    return exec.call(this, text);
  });
  restore.push(() => spy.mockRestore());
  return () => count;
}

const later = () => new Promise((resolve) => setTimeout(resolve, 30));

test('statements and transactions of the same moment are one commit', async () => {
  const count = commits();
  const pair = (one: string, other: string) =>
    database.transaction().execute(async (tx) => {
      await put(one, 1, tx);
      await put(other, 1, tx);
    });
  await Promise.all([put('a'), pair('b', 'c'), put('d'), pair('e', 'f')]);
  expect(await names()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  expect(count()).toBe(1);
});

test('one that is undone undoes nothing of the others', async () => {
  const outcomes = await Promise.allSettled([
    database.transaction().execute((tx) => put('a', 1, tx)),
    database.transaction().execute(async (tx) => {
      await put('b', 1, tx);
      throw new Error('changed its mind');
    }),
    database.transaction().execute(async (tx) => {
      await put('c', 1, tx);
      await put('a', 1, tx);
    }),
    put('d'),
    put('a'),
    put('e', -1),
    put('f'),
  ]);
  expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, false, false, true, false, false, true]);
  expect(await names()).toEqual(['a', 'd', 'f']);
  expect(committed()).toEqual(['a', 'd', 'f']);
});

test('the first one is undone like any other', async () => {
  const first = database.transaction().execute(async (tx) => {
    await put('a', 1, tx);
    throw new Error('changed its mind');
  });
  const outcomes = await Promise.allSettled([first, database.transaction().execute((tx) => put('b', 1, tx)), put('c')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(await names()).toEqual(['b', 'c']);
});

test('a commit that fails fails all who were in it, and leaves nothing', async () => {
  commits(true);
  const outcomes = await Promise.allSettled([
    put('a'),
    put('b'),
    database.transaction().execute((tx) => put('c', 1, tx)),
    database.transaction().execute((tx) => put('d', 1, tx)),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
  for (const undo of restore.splice(0)) undo();
  expect(await names()).toEqual([]);
  await put('e');
  expect(committed()).toEqual(['e']);
});

test('nobody sees what is not committed yet', async () => {
  let seen: string[] = [];
  let goOn: () => void = () => undefined;
  const open = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const first = database.transaction().execute((tx) => put('a', 1, tx));
  const second = database.transaction().execute(async (tx) => {
    await put('b', 1, tx);
    await open;
  });
  const reading = names().then((found) => {
    seen = found;
  });
  await later();
  expect(seen).toEqual([]);
  expect(committed()).toEqual([]);
  goOn();
  await Promise.all([first, second, reading]);
  expect(seen).toEqual(['a', 'b']);
});

test('nobody is told of a write, nor shown it, before it is on the disk', async () => {
  const disk = slowDisk();
  const told: string[] = [];
  const all = Promise.all([
    put('a').then(() => told.push('a')),
    database
      .transaction()
      .execute((tx) => put('b', 1, tx))
      .then(() => told.push('b')),
    later()
      .then(names)
      .then(() => told.push('read')),
  ]);
  await later();
  await later();
  expect(committed()).toEqual(['a', 'b']);
  expect(told).toEqual([]);
  expect(disk.waits()).toBe(1);
  disk.answer();
  await all;
  expect(told.sort()).toEqual(['a', 'b', 'read']);
});

test('what was written while the disk was busy waits for it once more, all together', async () => {
  const disk = slowDisk();
  const first = put('a');
  await later();
  const others = [put('b'), later().then(() => put('c'))];
  await later();
  await later();
  expect(disk.waits()).toBe(1);
  disk.answer();
  await first;
  await later();
  expect(disk.waits()).toBe(1);
  disk.answer();
  await Promise.all(others);
});

test('a disk that fails fails those who wait for it, and says so of the file', async () => {
  const disk = slowDisk();
  const outcome = put('a').catch((error: unknown) => error);
  await later();
  disk.answer(Object.assign(new Error('i/o error'), { code: 'EIO', syscall: 'fdatasync' }));
  expect(await outcome).toMatchObject({ code: 'storage_failed' });
});

test('a statement that may be found out again waits for no disk, and one that changes nothing neither', async () => {
  const disk = slowDisk();
  await put('a', 1, regained(database));
  await regained(database)
    .transaction()
    .execute((tx) => put('b', 1, tx));
  await database.updateTable('fares').set({ amount: 2 }).where('name', '=', 'none').execute();
  await sql`delete from fares where name = 'none'`.execute(database);
  expect(committed()).toEqual(['a', 'b']);
  expect(disk.waits()).toBe(0);
});

test('who reads while others commit sees nothing that a failing commit takes back', async () => {
  commits(true);
  let isOver = false;
  const writing = database
    .transaction()
    .execute((tx) => put('a', 1, tx))
    .catch((error: unknown) => error)
    .finally(() => {
      isOver = true;
    });
  const seen: string[][] = [];
  const reading: Promise<unknown>[] = [];
  while (!isOver) {
    reading.push(names().then((found) => seen.push(found)));
    await new Promise((resolve) => process.nextTick(resolve));
    if (reading.length > 200) await later();
  }
  await Promise.all(reading);
  expect(await writing).toMatchObject({ code: 'storage_failed' });
  expect(seen.flat()).toEqual([]);
});
