import { type CompiledQuery, type DatabaseConnection, type Driver, Kysely, SqliteDialect } from 'kysely';
import { libsqlDriver } from '../../../src/store/libsql/driver.ts';
import { openSqlite, type SqliteDatabase } from '../../../src/store/libsql/file.ts';
import type { Process } from './computer.ts';
import type { World } from './world.ts';

/** What PostgreSQL says when it takes a transaction back, or ends a connection. */
const SAID: Readonly<Record<string, { readonly code: string; readonly message: string }>> = {
  serialization: { code: '40001', message: 'could not serialize access due to concurrent update' },
  deadlock: { code: '40P01', message: 'deadlock detected' },
  cut_before: { code: '57P01', message: 'terminating connection due to administrator command' },
  cut_after: { code: '57P01', message: 'terminating connection due to administrator command' },
};
const STATEMENT_FAULTS = { serialization: 0.0004, deadlock: 0.0002 };
const COMMIT_FAULTS = { cut_before: 0.002, cut_after: 0.002, serialization: 0.002 };

const saying = (what: string): Error => {
  const { code, message } = SAID[what] ?? { code: 'XX000', message: what };
  return Object.assign(new Error(message), { code });
};

/** A driver whose every statement is an event, before and after which its process may die. */
export function watchedDriver(world: World, process: Process, driver: Driver): Driver {
  const { chance } = world;
  const inTransaction = new WeakSet<DatabaseConnection>();
  const wrapped = new WeakMap<DatabaseConnection, DatabaseConnection>();
  const inner = new WeakMap<DatabaseConnection, DatabaseConnection>();
  const passing = <T>(connection: DatabaseConnection, what: string, work: () => Promise<T>) => {
    const isWithin = inTransaction.has(connection);
    const at = chance.numbered(`${process.name} database`);
    return process.boundary(what, async () => {
      const isCommit = what === 'db commit';
      const fault = isCommit
        ? chance.happens('database', at, COMMIT_FAULTS)
        : isWithin
          ? chance.happens('database', at, STATEMENT_FAULTS)
          : null;
      if (fault !== null && fault !== 'cut_after') throw saying(fault);
      const result = await work();
      world.touched(what);
      if (fault === 'cut_after') throw saying(fault);
      return result;
    });
  };
  const watched = (connection: DatabaseConnection): DatabaseConnection => {
    const known = wrapped.get(connection);
    if (known) return known;
    const made: DatabaseConnection = {
      executeQuery: <R>(query: CompiledQuery) =>
        passing(made, `db ${wordsOf(query.sql)}`, () => connection.executeQuery<R>(query)),
      async *streamQuery<R>(query: CompiledQuery) {
        yield await this.executeQuery<R>(query);
      },
    };
    wrapped.set(connection, made);
    inner.set(made, connection);
    return made;
  };
  const of = (connection: DatabaseConnection) => inner.get(connection) ?? connection;
  return {
    init: () => driver.init(),
    acquireConnection: async () => watched(await driver.acquireConnection()),
    async beginTransaction(connection, settings) {
      await process.boundary('db begin', () => driver.beginTransaction(of(connection), settings));
      inTransaction.add(connection);
    },
    commitTransaction: (connection) =>
      passing(connection, 'db commit', () => driver.commitTransaction(of(connection))).finally(() =>
        inTransaction.delete(connection),
      ),
    async rollbackTransaction(connection) {
      inTransaction.delete(connection);
      await driver.rollbackTransaction(of(connection));
    },
    releaseConnection: (connection) => driver.releaseConnection(of(connection)),
    destroy: () => driver.destroy(),
  };
}

/** `insert outbox`, `select intents`: enough to recognise a statement in a story. */
const wordsOf = (sql: string): string => {
  const [, verb = '?', table = ''] =
    /^\s*(\w+)[\s\S]*?(?:from|into|update)\s+"?(\w+)/i.exec(`${sql}`.replace(/^\s*update\s/i, 'update update ')) ?? [];
  return `${verb.toLowerCase()} ${table}`.trim();
};

/** A process's own connection to a database file, which its death cuts: what was not committed is gone. */
export function openWatchedFile<T>(world: World, process: Process, path: string): Kysely<T> {
  const file = openSqlite(path, { waitMs: 0 });
  let isOpen = true;
  const prepared = new Map<string, ReturnType<SqliteDatabase['prepare']>>();
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    // The connection itself stays until its statements are collected, and would keep its lock for as long.
    if (file.inTransaction) file.exec('rollback');
    prepared.clear();
    file.close();
  };
  process.atEnd(close);
  // A world asks the same few hundred statements again and again.
  const keeping: SqliteDatabase = {
    get inTransaction() {
      return file.inTransaction;
    },
    exec: (sql) => file.exec(sql),
    prepare(sql) {
      const known = prepared.get(sql);
      if (known) return known;
      const made = file.prepare(sql);
      // One that failed may be left half-run, and would pin what it saw.
      const keep = <G extends unknown[], R>(run: (...given: G) => R) => {
        return (...given: G): R => {
          prepared.delete(sql);
          const result = run(...given);
          prepared.set(sql, statement);
          return result;
        };
      };
      const statement: typeof made = {
        reader: made.reader,
        all: keep((...given) => made.all(...given)),
        get: keep((...given) => made.get(...given)),
        run: keep((...given) => made.run(...given)),
        iterate: (...given) => made.iterate(...given),
      };
      return statement;
    },
    close,
  };
  class Dialect extends SqliteDialect {
    override createDriver() {
      return watchedDriver(world, process, { ...libsqlDriver(keeping, path), destroy: async () => close() });
    }
  }
  return new Kysely<T>({ dialect: new Dialect({ database: file }) });
}
