import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'libsql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore } from '../../src/service/home.ts';
import { erasing } from '../../src/store/remove.ts';

/** What is removed or overwritten is gone from the file, whoever did it: the key of what was sealed lies beside it. */

const SECRET = 'sealed-passenger-'.repeat(40);
let home: string;
let path: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'farelock-erase-'));
  path = join(home, 'service.db');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const isLeft = () => ['', '-wal'].some((end) => readIfThere(`${path}${end}`).includes(SECRET.slice(0, 40)));

function readIfThere(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}

test('what any statement removes or moves is gone from the file, and with a purge from its log', async () => {
  const store = await openStore(path);
  for (let row = 0; row < 30; row++) {
    await store
      .insertInto('meta')
      .values({ key: `k${row}`, value: SECRET + row })
      .execute();
  }
  await store.updateTable('meta').set({ value: 'short' }).where('key', '<', 'k2').execute();
  await store.deleteFrom('meta').execute();
  await erasing(store, async () => undefined);
  await store.destroy();
  expect(isLeft()).toBe(false);
});

test('a file of an earlier release is cleaned of what was removed, the first time that it is opened', async () => {
  await (await openStore(path)).destroy();
  const old = new Sqlite(path);
  old.exec('pragma secure_delete = off; pragma user_version = 0');
  for (let row = 0; row < 30; row++)
    old.prepare('insert into meta (key, value) values (?, ?)').run(`k${row}`, SECRET + row);
  old.exec('delete from meta');
  old.exec('pragma wal_checkpoint(truncate)');
  old.close();
  expect(isLeft()).toBe(true);
  await (await openStore(path)).destroy();
  expect(isLeft()).toBe(false);
});
