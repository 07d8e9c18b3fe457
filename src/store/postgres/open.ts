import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
  type PostgresPool,
  type PostgresPoolClient,
} from 'kysely';
import type { Pool } from 'pg';
import { isProblem, problem } from '../../kernel/problems.ts';
import { storageProblem } from '../../kernel/storage.ts';
import { type Migration, migrate } from '../base/index.ts';
import { inWordsOfPg, isSilence, postgresRefusal } from './refusal.ts';

/**
 * One writer at a time, as with SQLite's immediate transactions: read-then-write is then right on both databases. The
 * lock is PostgreSQL's advisory one, held until the transaction ends.
 */
const WRITER_LOCK = 0x0fa2e10c;

/** How long one process may keep the others, or a server may keep this process, waiting (milliseconds). */
export interface Waits {
  /** For a connection: the server's answer, or a free one of the pool. */
  readonly connectMs: number;
  /** For the answer to a statement, whatever keeps it: then the connection is given up. */
  readonly answerMs: number;
  /** For the next statement of a transaction: the server ends the session of a process that falls silent in one. */
  readonly silentMs: number;
  /** For the writers' lock: longer than a silent process can hold it. */
  readonly lockMs: number;
  /** For a statement of a transaction, by the server's clock. */
  readonly statementMs: number;
}

const WAITS: Waits = { connectMs: 10_000, answerMs: 30_000, silentMs: 5_000, lockMs: 15_000, statementMs: 20_000 };

class OneWriterDriver extends PostgresDriver {
  readonly #begin: () => string;

  constructor(config: PostgresDialectConfig, begin: () => string) {
    super(config);
    this.#begin = begin;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await connection.executeQuery(CompiledQuery.raw(this.#begin()));
    } catch (error) {
      // The transaction is open already: the connection would go back to the pool within it.
      await this.rollbackTransaction(connection);
      throw error;
    }
  }
}

/**
 * Begins a transaction, and waits for the writers' lock. The bounds are its own (`local`), not those of the session: a
 * pooler refuses them as start parameters, and hands sessions on.
 */
const beginWith = ({ silentMs, lockMs, statementMs }: Waits): string =>
  `begin; set local idle_in_transaction_session_timeout = ${silentMs}; set local lock_timeout = ${lockMs};
  set local statement_timeout = ${statementMs}; select pg_advisory_xact_lock(${WRITER_LOCK})`;

/** The same without bounds for work: building an index may take long, and other processes that start wait for it. */
const patiently = ({ silentMs }: Waits): string => beginWith({ ...NO_BOUNDS, silentMs });
const NO_BOUNDS = { connectMs: 0, answerMs: 0, lockMs: 0, statementMs: 0 };

/** The pool, where an unanswered statement costs its connection: the answer to it may still come. */
const givingUp = (pool: Pool, answerMs: () => number): PostgresPool => ({
  async connect() {
    const client = await pool.connect();
    let silent: Error | undefined;
    const query = async (text: string, values: readonly unknown[]) => {
      if (silent) throw silent;
      try {
        const asked = { text, values: [...values], query_timeout: answerMs() };
        return await client.query(asked);
      } catch (error) {
        if (error instanceof Error && isSilence(error)) silent = error;
        throw error;
      }
    };
    // No cursors: Kysely opens them for streams alone.
    return { query: query as unknown as PostgresPoolClient['query'], release: () => client.release(silent) };
  },
  end: () => pool.end(),
});

const INT8 = 20;

/**
 * Opens a PostgreSQL database by URL with typed tables `T`, brought up to date. `pg` is loaded only here. Its 64-bit
 * integers are read as numbers: every integer of ours is an amount or a time far below 2^53.
 * @throws Problem `database_unavailable`, `database_newer`, of storage
 */
export async function openPostgres<T>(
  url: string,
  migrations: readonly Migration[],
  waits: Waits = WAITS,
): Promise<Kysely<T>> {
  const { default: pg } = await import('pg');
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, Number);
  const pool = new pg.Pool({
    connectionString: inWordsOfPg(url),
    max: 10,
    connectionTimeoutMillis: waits.connectMs,
    // Notices an idle connection whose other end is gone.
    keepAlive: true,
    types,
  });
  // An idle connection that the server ends is only gone from the pool; the next caller gets a new one, or the error.
  pool.on('error', () => undefined);
  // A connection in use reports its end to its query, and once more as an event: without a listener that ends the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  let isUpToDate = false;
  // Without a bound, 0, an answer is waited for.
  const config = { pool: givingUp(pool, () => (isUpToDate ? waits.answerMs : 0)) };
  class Dialect extends PostgresDialect {
    override createDriver() {
      return new OneWriterDriver(config, () => (isUpToDate ? beginWith : patiently)(waits));
    }
  }
  const database = new Kysely<T>({ dialect: new Dialect(config) });
  try {
    await migrate(
      database,
      migrations,
      (table) => `select count(to_regclass('${table}')) as n`,
      'The PostgreSQL database',
    );
    isUpToDate = true;
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
