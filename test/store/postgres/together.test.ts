import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../../src/service/home.ts';
import { regained, together } from '../../../src/store/base/index.ts';
import { newDatabases, postgresIsInstalled } from '../postgres.ts';

class Lost extends Error {}

describe.each(['a file', 'PostgreSQL'])('writes together in %s', (kind) => {
  const isPostgres = kind === 'PostgreSQL';
  let databases: Awaited<ReturnType<typeof newDatabases>> | null = null;
  let folder = '';
  let url = '';
  const stores: Store[] = [];
  beforeAll(async () => {
    if (isPostgres && !postgresIsInstalled) return;
    folder = mkdtempSync(join(tmpdir(), 'farelock-together-'));
    databases = isPostgres ? await newDatabases() : null;
    url = databases ? await databases.next() : join(folder, 'service.db');
  });
  afterAll(async () => {
    for (const store of stores) await store.destroy();
    if (folder) rmSync(folder, { recursive: true });
  });
  const open = async () => {
    const store = await openStore(url);
    stores.push(store);
    return store;
  };
  const rows = async (store: Store) =>
    (
      await sql<{
        key: string;
        value: string;
      }>`select key, value from meta where key like 'test:%' order by key`.execute(store)
    ).rows
      .map(({ key, value }) => `${key.slice(5)}=${value}`)
      .join(' ');
  const put = (store: Store, key: string, value: string) =>
    store
      .insertInto('meta')
      .values({ key: `test:${key}`, value })
      .execute();
  /** Moves a row from one value to another, with a note of its own. */
  const move = (store: Store, key: string, from: string, to: string, note: string) =>
    together(
      store,
      async (tx) => {
        const moved = await tx
          .updateTable('meta')
          .set({ value: to })
          .where('key', '=', `test:${key}`)
          .where('value', '=', from)
          .executeTakeFirst();
        if (moved.numUpdatedRows === 0n) throw new Lost();
        await tx
          .insertInto('meta')
          .values({ key: `test:${note}`, value: to })
          .execute();
      },
      () => new Lost(),
    );

  test.skipIf(isPostgres && !postgresIsInstalled)('are all there, or none', async () => {
    const store = await open();
    await put(store, 'a', '1');
    await move(regained(store), 'a', '1', '2', 'b');
    expect(await rows(store)).toBe('a=2 b=2');
    // Not there as it was seen.
    await expect(move(store, 'a', '1', '3', 'c')).rejects.toThrow(Lost);
    // A later write is refused.
    await expect(move(store, 'a', '2', '3', 'b')).rejects.toThrow(/unique/i);
    expect(await rows(store)).toBe('a=2 b=2');
  });

  test.skipIf(isPostgres && !postgresIsInstalled)('of several at once one finds its row', async () => {
    const processes = await Promise.all([open(), open(), open()]);
    const [first] = processes;
    for (let round = 0; round < 10; round++) {
      await put(first, `at${round}`, 'seen');
      const ends = await Promise.allSettled(
        processes.map((store, place) => move(store, `at${round}`, 'seen', `by${place}`, `note${round}:${place}`)),
      );
      expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const end of ends) if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(Lost);
      expect((await rows(first)).match(new RegExp(`note${round}:`, 'g'))).toHaveLength(1);
    }
  });
});
