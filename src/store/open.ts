import { CompiledQuery, type DatabaseConnection, Kysely, SqliteDialect, SqliteDriver, sql } from 'kysely';
import { openSqlite } from './libsql.ts';
import { type Migration, serviceMigrations } from './migrations.ts';
import type { ServiceTables } from './schema.ts';

export type Store = Kysely<ServiceTables>;

/** SQLite takes the write lock when a transaction begins: read-then-write is then free of races and of deadlock. */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}

/** Opens (and creates, and brings up to date) a database file of ours with typed tables `T`. */
export async function openDatabase<T>(path: string, migrations: readonly Migration[]): Promise<Kysely<T>> {
  const config = { database: openSqlite(path) };
  class Dialect extends SqliteDialect {
    override createDriver() {
      return new ImmediateDriver(config);
    }
  }
  const database = new Kysely<T>({ dialect: new Dialect(config) });
  await migrate(database, migrations);
  return database;
}

/** The service's own database at `path` (a file under FARELOCK_HOME). */
export const openStore = (path: string): Promise<Store> =>
  openDatabase<ServiceTables>(path, serviceMigrations);

/**
 * Applies what is missing, in order, each step in one transaction with its mark. The write lock of the transaction
 * makes two processes that start at once take turns; the second finds the work done.
 */
export async function migrate<T>(database: Kysely<T>, migrations: readonly Migration[]): Promise<void> {
  if ((await appliedCount(database)) >= migrations.length) return;
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

async function appliedCount<T>(database: Kysely<T>): Promise<number> {
  const table = await sql<{ n: number }>`
    select count(*) as n from sqlite_master where type = 'table' and name = 'schema_migrations'`.execute(
    database,
  );
  if (!table.rows[0]?.n) return 0;
  const rows = await sql<{ n: number }>`select count(*) as n from schema_migrations`.execute(database);
  return rows.rows[0]?.n ?? 0;
}
