import { type Kysely, sql } from 'kysely';

/**
 * One step of a database's life. A step, once released, never changes. Every statement is understood by SQLite and
 * by PostgreSQL: `bigint` for integers, `text` for everything else.
 */
export interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}

/**
 * Applies what is missing, in order, each step in one transaction with its mark. The writer's lock of the transaction
 * makes two processes that start at once take turns; the second finds the work done. `tableExists` counts the tables
 * named schema_migrations, in the dialect's own words: a database that is up to date is only read.
 */
export async function migrate<T>(
  database: Kysely<T>,
  migrations: readonly Migration[],
  tableExists: string,
): Promise<void> {
  const count = async (query: string) =>
    Number((await sql.raw<{ n: number }>(query).execute(database)).rows[0]?.n ?? 0);
  if (
    (await count(tableExists)) > 0 &&
    (await count('select count(*) as n from schema_migrations')) >= migrations.length
  )
    return;
  await database.transaction().execute(async (tx) => {
    await sql`create table if not exists schema_migrations (name text primary key)`.execute(tx);
    const applied = await sql<{ name: string }>`select name from schema_migrations`.execute(tx);
    const names = new Set(applied.rows.map((row) => row.name));
    for (const migration of migrations) {
      if (names.has(migration.name)) continue;
      for (const statement of migration.statements) await sql.raw(statement).execute(tx);
      await sql`insert into schema_migrations (name) values (${migration.name})`.execute(tx);
    }
  });
}
