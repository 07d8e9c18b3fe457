import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { Process } from './computer.ts';
import { watchedDriver } from './databases.ts';
import { outside } from './machine.ts';
import type { World } from './world.ts';

/** One writer at a time: whoever waits for another does so in the world's time, never in the server's. */
export function createWriterLock() {
  const waiting: (() => void)[] = [];
  let isTaken = false;
  return {
    take: (): Promise<void> =>
      new Promise((resolve) => {
        if (isTaken) waiting.push(resolve);
        else {
          isTaken = true;
          resolve();
        }
      }),
    give(): void {
      const next = waiting.shift();
      if (next) next();
      else isTaken = false;
    },
  };
}

export type WriterLock = ReturnType<typeof createWriterLock>;

const isWrite = (sql: string): boolean => !/^\s*select\b/i.test(sql);

/** The driver of an opened database, whose answers the world waits for. */
function driverOf(opened: Kysely<never>, process: Process, lock: WriterLock): Driver {
  const executor = opened.getExecutor();
  const releases = new Map<DatabaseConnection, () => void>();
  const writing = new Set<DatabaseConnection>();
  const real = new Map<DatabaseConnection, DatabaseConnection>();
  const query = (connection: DatabaseConnection, sql: string) =>
    outside(() => (real.get(connection) ?? connection).executeQuery(CompiledQuery.raw(sql)));
  const ended = async (connection: DatabaseConnection, sql: string): Promise<void> => {
    if (!writing.has(connection)) return;
    await query(connection, sql).finally(() => {
      writing.delete(connection);
      lock.give();
    });
  };
  // The server takes back what a process that died has left open.
  process.atEnd(() => {
    for (const connection of [...writing]) {
      void ended(connection, 'rollback')
        .catch(() => undefined)
        .finally(() => releases.get(connection)?.());
    }
  });
  return {
    init: async () => undefined,
    acquireConnection: () =>
      outside(
        () =>
          new Promise<DatabaseConnection>((resolve, reject) => {
            executor
              .provideConnection(
                (connection) =>
                  new Promise<void>((release) => {
                    const made: DatabaseConnection = {
                      async executeQuery(compiled) {
                        const alone = !writing.has(made) && isWrite(compiled.sql);
                        if (alone) await lock.take();
                        try {
                          return await outside(() => connection.executeQuery(compiled));
                        } finally {
                          if (alone) lock.give();
                        }
                      },
                      streamQuery: (compiled, size) => connection.streamQuery(compiled, size),
                    };
                    real.set(made, connection);
                    releases.set(made, release);
                    resolve(made);
                  }),
              )
              .catch(reject);
          }),
      ),
    async beginTransaction(connection) {
      await lock.take();
      writing.add(connection);
      if (!process.isAlive()) return lock.give();
      await query(connection, 'begin');
    },
    commitTransaction: (connection) => ended(connection, 'commit'),
    rollbackTransaction: (connection) => ended(connection, 'rollback'),
    async releaseConnection(connection) {
      releases.get(connection)?.();
    },
    destroy: async () => undefined,
  };
}

/** A process's own view of a PostgreSQL database that is open already; the pool is the machine's. */
export function openWatchedServer<T>(
  world: World,
  process: Process,
  opened: Kysely<T>,
  lock: WriterLock,
): Kysely<T> {
  return new Kysely<T>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createIntrospector: (database) => new PostgresIntrospector(database),
      createDriver: () =>
        watchedDriver(world, process, driverOf(opened as unknown as Kysely<never>, process, lock)),
    },
  });
}
