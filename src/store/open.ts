import { existsSync, statSync } from 'node:fs';
import { Kysely, SqliteDialect } from 'kysely';
import { isDatabaseUrl } from '../kernel/database-url.ts';
import { isProblem, problem } from '../kernel/problems.ts';
import { type Migrating, type Migration, migrate } from './base/index.ts';
import { isBusy, libsqlDriver, type OnTrouble, openSqlite, type SqliteDatabase } from './libsql/index.ts';
import { loadPostgresOpen } from './postgres/index.ts';

/** Opens and migrates a file. @throws Problem `database_newer`, and of storage, which statements throw, too */
export async function openDatabase<T>(
  path: string,
  migrations: readonly Migration[],
  onTrouble?: OnTrouble,
  migrating?: Migrating,
): Promise<Kysely<T>> {
  const isNew = !existsSync(path);
  const file = openSqlite(path, { waitMs: 0, onTrouble });
  file.exec('pragma secure_delete = on');
  class Dialect extends SqliteDialect {
    override createDriver() {
      return libsqlDriver(file, path, { onTrouble });
    }
  }
  const database = new Kysely<T>({ dialect: new Dialect({ database: file }) });
  try {
    await migrate(
      database,
      {
        migrations,
        hasTable: (table) => `select count(*) as n from sqlite_master where type = 'table' and name = '${table}'`,
        name: path,
      },
      migrating,
    );
    cleanOnce(file, path, isNew);
  } catch (error) {
    await database.destroy();
    throw error;
  }
  return database;
}

/** `pragma user_version` of a file in which removed rows are no longer readable. */
const CLEAN = 1;
/** Larger files take too long for a start; docs/notifications.md has the manual way. */
const MOST_CLEANED_BYTES = 256 * 1024 * 1024;

/** Rewrites a file of earlier releases once, as removed rows stayed readable in free pages; a new file has none. */
function cleanOnce(file: SqliteDatabase, path: string, isNew: boolean): void {
  const { user_version } = file.prepare('pragma user_version').get() as { user_version: number };
  if (user_version === CLEAN || statSync(path).size > MOST_CLEANED_BYTES) return;
  try {
    file.exec(`${isNew ? '' : 'vacuum; '}pragma user_version = ${CLEAN}; pragma wal_checkpoint(truncate)`);
  } catch (error) {
    // Retried at the next start: another process writes, or the disk has no room for a copy.
    if (!isBusy(error) && !isProblem(error)) throw error;
  }
}

/** Refuses addresses that would be taken for file names, without showing them. @throws Problem `usage` */
export function checkDatabaseUrl(url: string): void {
  if (isDatabaseUrl(url)) return;
  throw problem('usage', {
    message: 'The database address (FARELOCK_DATABASE_URL, --database-url) is not one of PostgreSQL.',
    fix: 'Write postgres://user:password@host:5432/database, or leave it out for the file under FARELOCK_HOME.',
  });
}

/**
 * Opens a file or, by URL, PostgreSQL.
 * @throws Problem `database_unavailable`, `database_newer`, `database_not_migrated`, of storage
 */
export async function openFileOrServer<T>(
  where: string,
  migrations: readonly Migration[],
  onTrouble?: OnTrouble,
  migrating?: Migrating,
): Promise<Kysely<T>> {
  if (!isDatabaseUrl(where)) return openDatabase<T>(where, migrations, onTrouble, migrating);
  const { openPostgres } = await loadPostgresOpen();
  return openPostgres<T>(where, migrations, undefined, migrating);
}
