import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { readRows } from '../../../src/store/libsql/read-only.ts';
import { openDatabase } from '../../../src/store/open.ts';

const home = fs.mkdtempSync(join(tmpdir(), 'farelock-journal-'));
const { fdatasync } = fs;
const use = (one: typeof fdatasync) => {
  fs.fdatasync = one;
  syncBuiltinESMExports();
};
afterEach(() => {
  use(fdatasync);
  fs.rmSync(home, { recursive: true, force: true });
});

interface Tables {
  readonly note: { readonly id: number };
}
const MADE = [{ name: '001', statements: ['create table note (id bigint primary key)'] }];

test('after a write that the disk refused, nothing is acknowledged that stands behind it in the journal alone', async () => {
  const path = join(home, 'journal.db');
  const db = await openDatabase<Tables>(path, MADE);
  const note = (id: number) => db.insertInto('note').values({ id }).execute();
  await note(1);

  const failing = (_file: number, done: fs.NoParamCallback) =>
    done(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO', syscall: 'fdatasync' }));
  use(Object.assign(failing, fdatasync));
  await expect(note(2)).rejects.toMatchObject({ code: 'storage_failed' });
  use(fdatasync);
  await note(3);

  // The system takes the refused part of the journal for written: only the file itself can be relied on.
  const alone = join(home, 'alone.db');
  fs.copyFileSync(path, alone);
  const found = await openDatabase<Tables>(alone, MADE);
  const rows = await found.selectFrom('note').select('id').orderBy('id').execute();
  expect(rows.map(({ id }) => Number(id))).toEqual([1, 2, 3]);
  await found.destroy();
  await db.destroy();
});

const NEVER = Object.assign(() => undefined, fdatasync);
let waits = 0;
const COUNTED = Object.assign((file: number, done: fs.NoParamCallback) => {
  waits++;
  fdatasync(file, done);
}, fdatasync);

test.each(['was killed before the disk had it', 'still waits for the disk'])(
  'what another process has written that %s is on the disk before anybody reads it, once',
  async (what) => {
    const written = join(home, 'written.db');
    const writer = await openDatabase<Tables>(written, MADE);
    const reading = await openDatabase<Tables>(written, MADE);
    const ids = async (db: typeof writer) =>
      (await db.selectFrom('note').select('id').execute()).map(({ id }) => Number(id));
    expect(await ids(reading)).toEqual([]);
    use(NEVER);
    void writer.insertInto('note').values({ id: 1 }).execute();
    const left = join(home, 'left.db');
    await vi.waitFor(() => {
      for (const end of ['', '-wal']) fs.copyFileSync(`${written}${end}`, `${left}${end}`);
      expect(readRows(left, 'select id from note')).toHaveLength(1);
    });
    use(COUNTED);
    waits = 0;
    const next = what.startsWith('was') ? await openDatabase<Tables>(left, MADE) : reading;
    expect(await ids(next)).toEqual([1]);
    expect(waits).toBe(1);
    expect(await ids(next)).toEqual([1]);
    expect(waits).toBe(1);
    if (next !== reading) await next.destroy();
    await reading.destroy();
  },
);
