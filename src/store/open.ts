import { statSync } from 'node:fs';
import { Kysely, SqliteDialect } from 'kysely';
import { isProblem, problem } from '../kernel/problems.ts';
import { type Migration, migrate } from './base/index.ts';
import { isBusy, libsqlDriver, type OnTrouble, openSqlite, type SqliteDatabase } from './libsql/index.ts';
import { loadPostgresOpen } from './postgres/index.ts';

/**
 * Opens (and creates, and brings up to date) a database file of ours with typed tables `T`.
 * @param onTrouble called for trouble with the file
 * @throws Problem of storage, here and from every statement; `database_newer`
 */
export async function openDatabase<T>(
  path: string,
  migrations: readonly Migration[],
  onTrouble?: OnTrouble,
): Promise<Kysely<T>> {
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
      migrations,
      (table) => `select count(*) as n from sqlite_master where type = 'table' and name = '${table}'`,
      path,
    );
    cleanOnce(file, path);
  } catch (error) {
    await database.destroy();
    throw error;
  }
  return database;
}

/** `pragma user_version` of a file in which nothing that was removed can be read. */
const CLEAN = 1;
/** Writing a larger file anew takes too long for a start: docs/notifications.md says how it is done by hand. */
const MOST_CLEANED_BYTES = 256 * 1024 * 1024;

/** Earlier releases left what they removed readable in free pages: such a file is written anew, once. */
function cleanOnce(file: SqliteDatabase, path: string): void {
  const { user_version } = file.prepare('pragma user_version').get() as { user_version: number };
  if (user_version === CLEAN || statSync(path).size > MOST_CLEANED_BYTES) return;
  try {
    file.exec(`vacuum; pragma user_version = ${CLEAN}; pragma wal_checkpoint(truncate)`);
  } catch (error) {
    // Another process is writing, or the disk takes no copy: the next start tries again.
    if (!isBusy(error) && !isProblem(error)) throw error;
  }
}

const POSTGRES = /^postgres(ql)?:\/\//;

export const isDatabaseUrl = (url: string): boolean => POSTGRES.test(url) && URL.canParse(url);

/**
 * Refuses anything but a PostgreSQL address: it would be taken for a file name. It is not shown: it may hold a
 * password.
 * @throws Problem `usage`
 */
export function checkDatabaseUrl(url: string): void {
  if (isDatabaseUrl(url)) return;
  throw problem('usage', {
    message: 'The database address (FARELOCK_DATABASE_URL, --database-url) is not one of PostgreSQL.',
    fix: 'Write postgres://user:password@host:5432/database, or leave it out for the file under FARELOCK_HOME.',
  });
}

/**
 * Opens a database with typed tables `T`: a file by its path, or a PostgreSQL database by its `postgres://` URL.
 * @throws Problem `database_unavailable`: PostgreSQL did not let us in; of storage; `database_newer`
 */
export async function openFileOrServer<T>(
  where: string,
  migrations: readonly Migration[],
  onTrouble?: OnTrouble,
): Promise<Kysely<T>> {
  if (!POSTGRES.test(where)) return openDatabase<T>(where, migrations, onTrouble);
  const { openPostgres } = await loadPostgresOpen();
  return openPostgres<T>(where, migrations);
}
