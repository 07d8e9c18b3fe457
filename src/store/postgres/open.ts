import { createHash } from 'node:crypto';
import type {
  DatabaseConnection,
  Dialect,
  Driver,
  KyselyPlugin,
  PostgresDialectConfig,
  PostgresPool,
  PostgresPoolClient,
} from 'kysely';
import {
  CompiledQuery,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresDriver,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { addressesOf } from '../../kernel/database-url.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import { storageProblem } from '../../kernel/storage.ts';
import { type Connections, type Migrating, type Migration, migrate, type TakesTurns } from '../base/index.ts';
import { isSilence, postgresRefusal } from './refusal.ts';
import { inWordsOfPg } from './url.ts';

/**
 * The advisory lock of all writers. Transactions with turns share it. Any other transaction holds it alone, as SQLite's
 * immediate ones do, and so does every transaction of a version that knew no turns.
 */
const WRITER_LOCK = 0x0fa2e10c;

const MOST_CONNECTIONS = 10;

/** Bounds on waiting between processes and servers (milliseconds). */
const WAITS = {
  /** For a server's answer, or a free pooled connection. */
  connectMs: 10_000,
  /** For a statement's answer, before giving the connection up. */
  answerMs: 30_000,
  /** For the next statement of a transaction, before the server ends the session. */
  silentMs: 5_000,
  /** For a turn: longer than a silent process can hold it. */
  lockMs: 15_000,
  /** For a transaction's statement, by the server's clock. */
  statementMs: 20_000,
};

export type Waits = Readonly<typeof WAITS>;

class WritersDriver extends PostgresDriver {
  constructor(
    config: PostgresDialectConfig,
    private readonly beginning: () => string,
  ) {
    super(config);
  }

  override beginTransaction(connection: DatabaseConnection): Promise<void> {
    return this.begin(connection, [`pg_advisory_xact_lock(${WRITER_LOCK})`]);
  }

  async begin(connection: DatabaseConnection, locks: readonly string[]): Promise<void> {
    try {
      await connection.executeQuery(CompiledQuery.raw(`${this.beginning()}; select ${locks.join('; select ')}`));
    } catch (error) {
      // Otherwise the connection would return to the pool inside the open transaction.
      await this.rollbackTransaction(connection);
      throw error;
    }
  }
}

/** Hashes a turn into the number of an advisory lock. */
const lockOf = (turn: string): bigint => createHash('sha256').update(turn).digest().readBigInt64BE();

/** Takes locks in the same order everywhere, so that no two transactions wait for each other. */
const locksOf = (turns: readonly string[]): string[] => [
  `pg_advisory_xact_lock_shared(${WRITER_LOCK})`,
  ...[...new Set(turns.map(lockOf))].sort((a, b) => (a < b ? -1 : 1)).map((lock) => `pg_advisory_xact_lock(${lock})`),
];

/** Makes databases over the same connections, whose transactions take turns. */
class TurnsAdapter extends PostgresAdapter implements TakesTurns {
  constructor(
    private readonly writers: WritersDriver,
    readonly connections: () => Connections,
  ) {
    super();
  }

  taking<T>(turns: readonly string[], plugins: KyselyPlugin[]): Kysely<T> {
    const { writers } = this;
    const driver: Driver = {
      init: async () => undefined,
      acquireConnection: () => writers.acquireConnection(),
      beginTransaction: (connection) => writers.begin(connection, locksOf(turns)),
      commitTransaction: (connection) => writers.commitTransaction(connection),
      rollbackTransaction: (connection) => writers.rollbackTransaction(connection),
      releaseConnection: (connection) => writers.releaseConnection(connection as PooledConnection),
      destroy: async () => undefined,
    };
    return new Kysely<T>({ dialect: this.dialectOver(driver), plugins });
  }

  dialectOver(driver: Driver): Dialect {
    return {
      createDriver: () => driver,
      createAdapter: () => this,
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createIntrospector: (database) => new PostgresIntrospector(database),
    };
  }
}

type PooledConnection = Parameters<PostgresDriver['releaseConnection']>[0];

/**
 * Begins with `local` bounds, since poolers refuse startup parameters and share sessions. Any other isolation level,
 * which a database may default to, would take its snapshot before the lock.
 */
const beginWith = ({ silentMs, lockMs, statementMs }: Omit<Waits, 'connectMs' | 'answerMs'>): string =>
  `begin isolation level read committed; set local idle_in_transaction_session_timeout = ${silentMs};
  set local lock_timeout = ${lockMs}; set local statement_timeout = ${statementMs}`;

/** Bounds no statement or lock: building an index may take long while other starting processes wait. */
const patiently = ({ silentMs }: Waits): string => beginWith({ silentMs, lockMs: 0, statementMs: 0 });

/** The SQLSTATE of a server that follows another one, and takes no writes. */
const READ_ONLY = '25006';
const following = () => Object.assign(new Error('the server takes no writes now'), { code: '57P03' });

/**
 * Connects to the server that takes writes. Drops a connection after an unanswered statement, whose answer may still
 * come, and after a refused write: the server was demoted.
 */
function connecting(pools: readonly Pool[], answerMs: () => number): PostgresPool {
  const isAlone = pools.length === 1;
  let at = 0;
  const writers = new WeakSet<PoolClient>();
  async function writer(pool: Pool): Promise<PoolClient> {
    const client = await pool.connect();
    if (isAlone || writers.has(client)) return client;
    try {
      const asked = { text: 'show transaction_read_only', query_timeout: answerMs() };
      const { rows } = await client.query<{ transaction_read_only: string }>(asked);
      if (rows[0]?.transaction_read_only !== 'off') throw following();
    } catch (error) {
      client.release(true);
      throw error;
    }
    writers.add(client);
    return client;
  }
  async function anyWriter(): Promise<PoolClient> {
    const first = at;
    for (let tries = 0; ; tries++) {
      const place = (first + tries) % pools.length;
      try {
        const client = await writer(pools[place] as Pool);
        at = place;
        return client;
      } catch (error) {
        if (tries + 1 >= pools.length) throw error;
      }
    }
  }
  return {
    async connect() {
      const client = await anyWriter();
      let lost: Error | undefined;
      const query = async (text: string, values: readonly unknown[]) => {
        if (lost) throw lost;
        try {
          const asked = { text, values: [...values], query_timeout: answerMs() };
          return await client.query(asked);
        } catch (error) {
          const isDemoted = (error as { code?: unknown }).code === READ_ONLY;
          if (error instanceof Error && (isSilence(error) || isDemoted)) lost = error;
          throw error;
        }
      };
      // Without cursors, which Kysely needs only for streams.
      return { query: query as unknown as PostgresPoolClient['query'], release: () => client.release(lost) };
    },
    async end() {
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
}

const INT8 = 20;

/**
 * Opens a PostgreSQL database, and migrates an empty one unasked: it has nothing to lose. 64-bit integers become
 * numbers, far below 2^53.
 */
export async function openPostgres<T>(
  url: string,
  migrations: readonly Migration[],
  waits: Waits = WAITS,
  migrating?: Migrating,
): Promise<Kysely<T>> {
  const { default: pg } = await import('pg');
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, Number);
  const addresses = addressesOf(url);
  const pools = addresses.map((address) => {
    const pool = new pg.Pool({
      connectionString: inWordsOfPg(address),
      max: MOST_CONNECTIONS,
      // If this address is silent, another one may take writes.
      connectionTimeoutMillis: waits.connectMs / Math.min(2, addresses.length),
      // Notices an idle connection whose other end is gone.
      keepAlive: true,
      types,
    });
    // The pool replaces an idle connection that the server ended.
    pool.on('error', () => undefined);
    // A connection in use also reports its end as an event, which would crash the process without a listener.
    pool.on('connect', (client) => client.on('error', () => undefined));
    return pool;
  });
  let isUpToDate = false;
  // 0 waits without bounds.
  const config = { pool: connecting(pools, () => (isUpToDate ? waits.answerMs : 0)) };
  const writers = new WritersDriver(config, () => (isUpToDate ? beginWith : patiently)(waits));
  class WritersDialect extends PostgresDialect {
    override createDriver = () => writers;
    override createAdapter = () =>
      new TurnsAdapter(writers, () => ({
        inUse: pools.reduce((sum, { totalCount, idleCount }) => sum + totalCount - idleCount, 0),
        // A caller that gets a free connection is in the queue for a moment.
        waiting: pools.reduce(
          (sum, { waitingCount, totalCount, idleCount }) =>
            sum + (idleCount > 0 || totalCount < MOST_CONNECTIONS ? 0 : waitingCount),
          0,
        ),
      }));
  }
  const database = new Kysely<T>({ dialect: new WritersDialect(config) });
  try {
    await migrate(
      database,
      {
        migrations,
        hasTable: (table) => `select count(to_regclass('${table}')) as n`,
        name: 'The PostgreSQL database',
        countTables: 'select count(*) as n from pg_tables where schemaname = current_schema()',
      },
      migrating,
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
