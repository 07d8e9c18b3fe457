import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../src/service/home.ts';
import { newDatabase, postgresIsInstalled } from './postgres.ts';

const folder = mkdtempSync(join(tmpdir(), 'farelock-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const effect = (id: string, liveKey: string | null) => ({
  effect_id: id,
  kind: 'capture' as const,
  subject: 'int_1',
  state: 'planned' as const,
  live_key: liveKey,
  attempt: 1,
  transaction: 'bytes',
  signature: null,
  last_valid_block_height: 9_007_199_254_740_991,
  reference: null,
  result: null,
  error: null,
  detail: null,
  created_at_ms: 1,
  updated_at_ms: 1,
});

let database = '';
beforeAll(async () => {
  if (postgresIsInstalled) database = await newDatabase();
});

describe.each(['sqlite', 'postgres'])('the store on %s', (kind) => {
  const available = kind === 'sqlite' || postgresIsInstalled;
  const where = () => (kind === 'sqlite' ? join(folder, 'service.db') : database);

  test.runIf(available)('opened by many at once, each finds every table, once', async () => {
    const stores = await Promise.all(Array.from({ length: 6 }, () => openStore(where())));
    for (const store of stores) expect(await store.selectFrom('effects').selectAll().execute()).toEqual([]);
    await Promise.all(stores.map((store) => store.destroy()));
  });

  test.runIf(available)('integers come back as the numbers that went in, and a unique live key holds', async () => {
    const store = await openStore(where());
    await store.insertInto('effects').values(effect('eff_1', 'capture:int_1')).execute();
    const rows = await store.selectFrom('effects').selectAll().execute();
    expect(rows).toEqual([effect('eff_1', 'capture:int_1')]);
    await expect(store.insertInto('effects').values(effect('eff_2', 'capture:int_1')).execute()).rejects.toThrow();
    await store.insertInto('effects').values(effect('eff_3', null)).execute();
    await store.insertInto('effects').values(effect('eff_4', null)).execute();
    await store.destroy();
  });

  test.runIf(available)('a transaction that throws leaves nothing behind', async () => {
    const store = await openStore(where());
    const doomed = store.transaction().execute(async (tx) => {
      await tx.insertInto('meta').values({ key: 'doomed', value: 'x' }).execute();
      throw new Error('no');
    });
    await expect(doomed).rejects.toThrow('no');
    expect(await store.selectFrom('meta').where('key', '=', 'doomed').selectAll().execute()).toEqual([]);
    await store.destroy();
  });

  test.runIf(available)('two connections that read and then write lose no update', async () => {
    const stores = await Promise.all([openStore(where()), openStore(where())]);
    await stores[0]?.insertInto('meta').values({ key: 'count', value: '0' }).execute();
    const add = (store: Store) =>
      store.transaction().execute(async (tx) => {
        const row = await tx.selectFrom('meta').where('key', '=', 'count').select('value').executeTakeFirstOrThrow();
        await tx
          .updateTable('meta')
          .set({ value: String(Number(row.value) + 1) })
          .where('key', '=', 'count')
          .execute();
      });
    await Promise.all(Array.from({ length: 40 }, (_, i) => stores[i % 2]).map((store) => store && add(store)));
    const row = await stores[1]?.selectFrom('meta').where('key', '=', 'count').select('value').executeTakeFirst();
    expect(row?.value).toBe('40');
    await Promise.all(stores.map((store) => store.destroy()));
  });
});

test('the file and its folder are private to the user', () => {
  expect(statSync(join(folder, 'service.db')).mode & 0o077).toBe(0);
  expect(statSync(folder).mode & 0o077).toBe(0);
});
