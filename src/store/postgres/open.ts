import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
} from 'kysely';
import { isProblem, problem } from '../../kernel/problems.ts';
import { storageProblem } from '../../kernel/storage.ts';
import type { Migration } from '../applied-steps.ts';
import { migrate } from '../migrate.ts';
import { postgresRefusal } from './refusal.ts';
import { inWordsOfPg } from './url.ts';

/**
 * One writer at a time, as with SQLite's immediate transactions: what reads before it writes is then right on both
 * databases without a word of its own. The lock is PostgreSQL's advisory one, held until the transaction ends.
 */
const WRITER_LOCK = 0x0fa2e10c;

class OneWriterDriver extends PostgresDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin'));
    await connection.executeQuery(CompiledQuery.raw(`select pg_advisory_xact_lock(${WRITER_LOCK})`));
  }
}

const INT8 = 20;
/** A server that is silent is given up; it also bounds the wait for one of the pool's connections. */
const CONNECT_MS = 30_000;

/**
 * Opens a PostgreSQL database by URL with typed tables `T`, brought up to date. `pg` is loaded only here. Its 64-bit
 * integers are read as numbers: every integer of ours is an amount or a time far below 2^53.
 * @throws Problem `database_unavailable`, `database_newer`, of storage
 */
export async function openPostgres<T>(url: string, migrations: readonly Migration[]): Promise<Kysely<T>> {
  const { default: pg } = await import('pg');
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, Number);
  const pool = new pg.Pool({
    connectionString: inWordsOfPg(url),
    max: 10,
    connectionTimeoutMillis: CONNECT_MS,
    types,
  });
  // An idle connection that the server ends is only gone from the pool; who asks next gets a new one, or the error.
  pool.on('error', () => undefined);
  // A connection in use reports its end to its query, and once more as an event: unheard, that ends the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const config: PostgresDialectConfig = { pool };
  class Dialect extends PostgresDialect {
    override createDriver() {
      return new OneWriterDriver(config);
    }
  }
  const database = new Kysely<T>({ dialect: new Dialect(config) });
  try {
    await migrate(
      database,
      migrations,
      `select count(to_regclass('schema_migrations')) as n`,
      'The PostgreSQL database',
    );
  } catch (error) {
    await database.destroy();
    if (isProblem(error)) throw error;
    const trouble = storageProblem(error);
    if (trouble) throw trouble;
    const { said } = postgresRefusal(error);
    throw problem('database_unavailable', { message: `The PostgreSQL database: ${said}.`, cause: error });
  }
  return database;
}
