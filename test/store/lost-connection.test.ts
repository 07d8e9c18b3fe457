import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openStore } from '../../src/service/home.ts';
import { isDatabaseAway } from '../../src/store/postgres/refusal.ts';
import { postgresIsInstalled, startPostgres } from './postgres.ts';

test.skipIf(!postgresIsInstalled)(
  'a connection that PostgreSQL ends while nobody uses it brings nobody down',
  async () => {
    const server = await startPostgres();
    const [store, other] = [await openStore(server.url), await openStore(server.url)];
    const read = () => store.selectFrom('meta').selectAll().execute();
    await read();
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where pid <> pg_backend_pid() and backend_type = 'client backend'`.execute(other);
    await expect.poll(() => read().catch(() => null)).toEqual([]);
    await store.destroy();
    await other.destroy();
    await server.close();
  },
);

test.skipIf(!postgresIsInstalled)(
  'a connection that PostgreSQL ends in the middle of a transaction fails that one, and nothing else',
  async () => {
    const server = await startPostgres();
    const [store, other] = [await openStore(server.url), await openStore(server.url)];
    const cut = store.transaction().execute(async (tx) => {
      await tx.insertInto('meta').values({ key: 'cut', value: 'off' }).execute();
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where pid <> pg_backend_pid() and backend_type = 'client backend'`.execute(other);
      await tx.selectFrom('meta').selectAll().execute();
    });
    const error: unknown = await cut.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(isDatabaseAway(error)).toBe(true);
    await expect
      .poll(() =>
        store
          .selectFrom('meta')
          .selectAll()
          .execute()
          .catch(() => null),
      )
      .toEqual([]);
    await store.destroy();
    await other.destroy();
    await server.close();
  },
);
