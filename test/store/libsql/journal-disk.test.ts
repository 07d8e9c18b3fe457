import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
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
