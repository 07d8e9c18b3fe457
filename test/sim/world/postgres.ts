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

/** So many at a time: who waits for another does so in the world's time, which stands still while the server works. */
export function createPlaces(count: number) {
  const waiting: (() => void)[] = [];
  let free = count;
  return {
    take: (): Promise<void> =>
      new Promise((resolve) => {
        if (free === 0) waiting.push(resolve);
        else {
          free--;
          resolve();
        }
      }),
    give(): void {
      const next = waiting.shift();
      if (next) next();
      else free++;
    },
  };
}

export type Places = ReturnType<typeof createPlaces>;

const isWrite = (sql: string): boolean => !/^\s*select\b/i.test(sql);

/** How a server ends what is under way: one connection, or all of them at once. */
const SERVER_FAULTS = { cut: 0.0006, restart: 0.00015, away: 0.00015 };
const LONGEST_AWAY_MS = 40_000;

/** A database on a server, for the processes of one world. */
export interface ServedDatabase {
  readonly opened: Kysely<never>;
  /** One writer at a time. */
  readonly lock: Places;
  /** As many connections as the pool has. */
  readonly connections: Places;
  /** Connections that somebody holds. */
  readonly held: Set<DatabaseConnection>;
  /** `pg_terminate_backend`, by somebody else's connection. */
  terminate(backend: number): Promise<void>;
  restart(): Promise<void>;
  /** Until then nothing listens there. */
  awayUntilMs: number;
}

const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });

/** What really befalls the server, or the connection of whoever is about to ask it something. */
async function strike(
  world: World,
  process: Process,
  database: ServedDatabase,
  connection: DatabaseConnection,
): Promise<void> {
  const place = world.chance.numbered(`${process.name} server`);
  const what = world.chance.happens('server', place, SERVER_FAULTS);
  if (what === null) return;
  world.tell('database', what === 'cut' ? `ends the connection of ${process.name}` : 'the server is restarted');
  const isHeard = (one: DatabaseConnection) => one.executeQuery(CompiledQuery.raw('select 1')).catch(() => null);
  await outside(async () => {
    if (what === 'cut') {
      const { rows } = await connection.executeQuery<{ pid: number }>(
        CompiledQuery.raw('select pg_backend_pid() as pid'),
      );
      await database.terminate(rows[0]?.pid ?? 0);
      await isHeard(connection);
      return;
    }
    await database.restart();
    for (const one of database.held) await isHeard(one);
  }).catch(() => undefined);
  if (what === 'away') database.awayUntilMs = world.now() + world.chance.part(place) * LONGEST_AWAY_MS;
}

/** The driver of an opened database, whose answers the world waits for. */
function driverOf(world: World, process: Process, database: ServedDatabase): Driver {
  const { opened, lock, connections, held } = database;
  const executor = opened.getExecutor();
  const releases = new Map<DatabaseConnection, () => void>();
  const writing = new Set<DatabaseConnection>();
  const real = new Map<DatabaseConnection, DatabaseConnection>();
  const query = (connection: DatabaseConnection, sql: string) =>
    outside(() => (real.get(connection) ?? connection).executeQuery(CompiledQuery.raw(sql)));
  const release = (connection: DatabaseConnection) => {
    held.delete(real.get(connection) ?? connection);
    releases.get(connection)?.();
    releases.delete(connection);
  };
  const ended = async (connection: DatabaseConnection, sql: string): Promise<void> => {
    if (!writing.delete(connection)) return;
    await query(connection, sql).finally(() => lock.give());
  };
  /** A turn to write, or a connection; one that died meanwhile passes it on, and is never heard of again. */
  const turn = async (places: Places): Promise<void> => {
    await places.take();
    if (process.isAlive()) return;
    places.give();
    await new Promise(() => undefined);
  };
  // The server takes back what a process that died has left open.
  process.atEnd(() => {
    for (const connection of [...releases.keys()]) {
      void ended(connection, 'rollback')
        .catch(() => undefined)
        .finally(() => release(connection));
    }
  });
  const made = (connection: DatabaseConnection): DatabaseConnection => {
    const self: DatabaseConnection = {
      async executeQuery(compiled) {
        const alone = !writing.has(self) && isWrite(compiled.sql);
        if (alone) await turn(lock);
        try {
          await strike(world, process, database, connection);
          return await outside(() => connection.executeQuery(compiled));
        } finally {
          if (alone) lock.give();
        }
      },
      streamQuery: (compiled, size) => connection.streamQuery(compiled, size),
    };
    return self;
  };
  return {
    init: async () => undefined,
    async acquireConnection() {
      await turn(connections);
      if (world.now() < database.awayUntilMs) {
        connections.give();
        throw refused();
      }
      const taken = await outside(
        () =>
          new Promise<DatabaseConnection>((resolve, reject) => {
            executor
              .provideConnection(
                (connection) =>
                  new Promise<void>((done) => {
                    const self = made(connection);
                    held.add(connection);
                    real.set(self, connection);
                    releases.set(self, () => {
                      done();
                      connections.give();
                    });
                    resolve(self);
                  }),
              )
              .catch(reject);
          }),
      ).catch((error: unknown) => {
        connections.give();
        throw error;
      });
      if (!process.isAlive()) release(taken);
      return taken;
    },
    async beginTransaction(connection) {
      await turn(lock);
      writing.add(connection);
      await query(connection, 'begin').catch((error: unknown) => {
        if (writing.delete(connection)) lock.give();
        throw error;
      });
    },
    async commitTransaction(connection) {
      await strike(world, process, database, real.get(connection) ?? connection);
      await ended(connection, 'commit');
    },
    rollbackTransaction: (connection) => ended(connection, 'rollback'),
    async releaseConnection(connection) {
      release(connection);
    },
    destroy: async () => undefined,
  };
}

/** A process's own view of a PostgreSQL database that is open already; the pool is the machine's. */
export function openWatchedServer<T>(world: World, process: Process, database: ServedDatabase): Kysely<T> {
  return new Kysely<T>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createIntrospector: (database) => new PostgresIntrospector(database),
      createDriver: () => watchedDriver(world, process, driverOf(world, process, database)),
    },
  });
}
