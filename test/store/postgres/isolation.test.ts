import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { openStore } from '../../../src/service/home.ts';
import { newDatabases, postgresIsInstalled } from '../postgres.ts';

let databases: Awaited<ReturnType<typeof newDatabases>>;
beforeAll(async () => {
  if (postgresIsInstalled) databases = await newDatabases();
});

test.runIf(postgresIsInstalled)('writers see each other whatever isolation the database defaults to', async () => {
  const url = await databases.next();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `alter database ${new URL(url).pathname.slice(1)} set default_transaction_isolation = 'repeatable read'`,
  );
  await client.end();
  const stores = await Promise.all([openStore(url), openStore(url)]);
  await stores[0]?.insertInto('meta').values({ key: 'count', value: '0' }).execute();
  const add = (store: (typeof stores)[number]) =>
    store.transaction().execute(async (tx) => {
      const { value } = await tx
        .selectFrom('meta')
        .select('value')
        .where('key', '=', 'count')
        .executeTakeFirstOrThrow();
      await tx
        .updateTable('meta')
        .set({ value: String(Number(value) + 1) })
        .where('key', '=', 'count')
        .execute();
    });
  await Promise.all(Array.from({ length: 10 }, () => stores.map(add)).flat());
  const row = await stores[0]?.selectFrom('meta').select('value').where('key', '=', 'count').executeTakeFirst();
  expect(row?.value).toBe('20');
  await Promise.all(stores.map((store) => store.destroy()));
});
