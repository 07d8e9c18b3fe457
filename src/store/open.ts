import { Kysely, SqliteDialect } from 'kysely';
import { openSqlite } from './libsql.ts';
import { libsqlDriver } from './libsql-driver.ts';
import { type Migration, migrate } from './migrate.ts';
import { serviceMigrations } from './migrations.ts';
import type { ServiceTables } from './schema.ts';

export type Store = Kysely<ServiceTables>;

/** Opens (and creates, and brings up to date) a database file of ours with typed tables `T`. */
export async function openDatabase<T>(path: string, migrations: readonly Migration[]): Promise<Kysely<T>> {
  const file = openSqlite(path, { waitMs: 0 });
  class Dialect extends SqliteDialect {
    override createDriver() {
      return libsqlDriver(file);
    }
  }
  const database = new Kysely<T>({ dialect: new Dialect({ database: file }) });
  await migrate(
    database,
    migrations,
    `select count(*) as n from sqlite_master where type = 'table' and name = 'schema_migrations'`,
  );
  return database;
}

/** The service's own database: a file under FARELOCK_HOME, or a `postgres://` URL. */
export async function openStore(where: string): Promise<Store> {
  if (!/^postgres(ql)?:\/\//.test(where)) return openDatabase<ServiceTables>(where, serviceMigrations);
  const { openPostgres } = await import('./postgres.ts');
  return openPostgres<ServiceTables>(where, serviceMigrations);
}
