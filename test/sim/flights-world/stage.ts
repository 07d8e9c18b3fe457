import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { boughtNothing, type Fulfiller } from '../../../src/airlines/fulfiller.ts';
import type { Provider, ProviderOrder } from '../../../src/airlines/provider.ts';
import { openClientStore } from '../../../src/client/journal/store.ts';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/address.ts';
import { escrowElf } from '../../../src/escrow/elf.ts';
import { createOperatorKeys } from '../../../src/flights/desk/keys.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { openSecrets } from '../../../src/kernel/secrets.ts';
import { readyForMoney } from '../../../src/payments/operator-wallets.ts';
import { createSandboxProvider, type SandboxProvider } from '../../../src/sandbox/airline/index.ts';
import { createSandboxLowcost } from '../../../src/sandbox/lowcost/index.ts';
import { openStore, type ServiceTables, type Store } from '../../../src/service/home.ts';
import { DEVNET_USDC } from '../../../src/solana/cluster.ts';
import { openEmbeddedCluster } from '../../../src/solana/embedded/open.ts';
import { type Signer, signerFromSeed } from '../../../src/solana/signer.ts';
import { openSqlite, type SqliteDatabase } from '../../../src/store/libsql/file.ts';
import type { TestPostgres } from '../../store/postgres-server.mjs';
import type { Process } from '../world/computer.ts';
import { openWatchedFile } from '../world/databases.ts';
import { createDisk, type Disk } from '../world/disk.ts';
import { outside } from '../world/machine.ts';
import { createPlaces, openWatchedServer, type ServedDatabase } from '../world/postgres.ts';
import { BEGINNING_MS, createWorld, type World } from '../world/world.ts';
import { openTills, type Tills } from './carriers.ts';
import { createChain } from './chain.ts';
import { type Changed, withChanges } from './news.ts';

export const OPERATOR = ['authority', 'facilitator', 'treasury'] as const;
export const CUSTOMERS = ['ann', 'ben', 'cid'] as const;
export const CHEATS = ['eve', 'mal'] as const;
/** They have a code each, and begin with nothing. */
export const AFFILIATES = ['fay', 'gus'] as const;
/** What everybody begins with. */
export const PURSE = 5_000_000_000n;
export const POOR = 100_000n;

export type Party = (typeof OPERATOR)[number] | (typeof CUSTOMERS)[number] | (typeof CHEATS)[number];

/** The wallet of somebody, the same in every world. */
export function walletOf(name: string): Signer {
  const known = wallets.get(name) ?? signerFromSeed(createHash('sha256').update(`wallet of ${name}`).digest());
  wallets.set(name, known);
  return known;
}
const wallets = new Map<string, Signer>();
/** Where the refunds of a customer go: a wallet that pays nothing. */
export const refundWalletOf = (name: string): Signer => walletOf(`${name}'s refunds`);

/** States that a row was ever in, written by the database itself. */
const WATCHED = [
  ['bookings', 'state', 'booking'],
  ['intents', 'status', 'intent'],
  ['settlements', 'state', 'settlement'],
  ['effects', 'state', 'effect'],
  ['refund_requests', 'state', 'refund'],
  ['outbox', 'state', 'message'],
] as const;

/** Rows of these are deleted once they are old: `sim_all_…` has them too, for the books at the end. */
const PRUNED = ['quotes', 'settlements'] as const;

/** What every world is a copy of: homes that are made already, and money that was given out. */
export interface Template {
  readonly folder: string;
  readonly operatorKey: string;
  /** The airline's own system. Its world takes long to make; its orders are forgotten between two worlds. */
  airline(now: () => number): SandboxProvider;
  readonly carriers: Fulfiller;
  close(): void;
}

export async function makeTemplate(): Promise<Template> {
  const shared = '/dev/shm';
  const folder = mkdtempSync(join(existsSync(shared) ? shared : tmpdir(), 'farelock-sim-'));
  const world = createWorld({ seed: 0, only: null, noise: false });
  const giveBack = world.take();
  // Long before: a wallet that was funded a moment ago has no history that proves anything.
  const clock = { now: () => BEGINNING_MS - 7_200_000, sleep: world.sleep };
  try {
    const ids = randomIds(clock.now);
    const secrets = openSecrets(join(folder, 'keys.json'));
    const store = await openStore(join(folder, 'service.db'));
    const keys = createOperatorKeys({ store, secrets, clock, ids });
    const { key } = await keys.issue({ keyId: 'key_0', name: 'first' }, 'opal', 'req_1');
    await store.destroy();
    watchStates(join(folder, 'service.db'));
    const client = await openClientStore({ path: join(folder, 'client.db'), secrets, clock, ids });
    await client.shut();
    settle(join(folder, 'client.db'));
    await makeLedger(join(folder, 'ledger.db'), clock);
    return { folder, operatorKey: key, ...(await airlines(folder)) };
  } finally {
    giveBack();
  }
}

function watchStates(path: string): void {
  const file = openSqlite(path);
  file.exec('create table sim_states (name text primary key)');
  for (const [table, column, kind] of WATCHED) {
    for (const [event, name] of [
      ['insert', 'made'],
      [`update of ${column}`, 'moved'],
    ]) {
      file.exec(`create trigger sim_${table}_${name} after ${event} on ${table}
        begin insert or ignore into sim_states values ('${kind}: ' || new.${column}); end`);
    }
  }
  for (const table of PRUNED) {
    const columns = file.prepare(`pragma table_info(${table})`).all() as { readonly name: string }[];
    file.exec(`create table sim_pruned_${table} as select * from ${table} where false`);
    file.exec(`create trigger sim_${table}_pruned after delete on ${table}
      begin insert into sim_pruned_${table} values (${columns.map(({ name }) => `old."${name}"`).join(', ')}); end`);
    file.exec(`create view sim_all_${table} as select * from ${table} union all select * from sim_pruned_${table}`);
  }
  // All of it into the one file that is copied.
  file.prepare('pragma wal_checkpoint(truncate)').all();
  file.close();
}

const settle = (path: string): void => {
  const file = openSqlite(path);
  file.prepare('pragma wal_checkpoint(truncate)').all();
  file.close();
};

async function makeLedger(path: string, clock: { now(): number; sleep(ms: number): Promise<void> }) {
  const cluster = await openEmbeddedCluster({
    path,
    clock,
    programs: [{ address: ESCROW_PROGRAM_ID, elf: escrowElf }],
  });
  const [authority, facilitator, treasury] = OPERATOR.map(walletOf) as [Signer, Signer, Signer];
  await readyForMoney({
    cluster,
    faucet: cluster,
    authority,
    facilitator: facilitator.address,
    treasury: treasury.address,
    mint: DEVNET_USDC,
  });
  for (const name of CUSTOMERS) {
    await cluster.airdropUsdc(walletOf(name).address, PURSE);
    await cluster.airdropSol(walletOf(name).address, 1_000_000_000n);
    await cluster.airdropUsdc(refundWalletOf(name).address, 0n);
  }
  for (const name of CHEATS) {
    await cluster.airdropUsdc(walletOf(name).address, name === 'mal' ? POOR : PURSE);
    await cluster.airdropSol(walletOf(name).address, 1_000_000_000n);
  }
  await cluster.close();
  settle(path);
}

async function airlines(folder: string) {
  let now = () => BEGINNING_MS;
  const orders = join(folder, 'airline.db');
  const airline = createSandboxProvider({
    seed: 'test',
    clock: { now: () => now(), sleep: async () => undefined },
    scenario: 'none',
    ticketingMs: 8_000,
    orders,
  });
  const carriers = createSandboxLowcost({
    seed: 'test',
    clock: { now: () => now(), sleep: async () => undefined },
    scenario: 'none',
    ticketingMs: 8_000,
    quotingMs: 12_000,
    orders,
  });
  // What is opened when it is first asked for is opened before the first world, or that world would be another.
  await carriers.find('nothing');
  return {
    carriers,
    airline(clock: () => number): SandboxProvider {
      now = clock;
      if (existsSync(orders)) {
        const file = openSqlite(orders);
        file.exec('delete from orders; delete from lowcost_sales');
        file.close();
      }
      return airline;
    },
    close(): void {
      void airline.close();
      void carriers.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What a world stands on. The same players must find the same books at the end, whatever it is. */
export interface Setting {
  /** A PostgreSQL server for the service's rows; null: a libsql file. */
  readonly postgres: TestPostgres | null;
  /** `nodes`: JSON-RPC of a cluster that can misbehave; `embedded`: the ledger in the same process. */
  readonly chain: 'nodes' | 'embedded';
  /** `http`: the door of `serve`, over sockets; `call`: the service's own function. */
  readonly door: 'http' | 'call';
  /** `stock`: x402's own client signs, and keeps no journal. */
  readonly payer: 'own' | 'stock';
}

export const USUAL: Setting = { postgres: null, chain: 'nodes', door: 'call', payer: 'own' };

/** Everything of the template's, and what `watchStates` does, on a server. */
async function makeServerTemplate(server: TestPostgres, books: SqliteDatabase): Promise<string> {
  const name = 'world_template';
  await withServer(server.url, (admin) => admin.query(`create database ${name}`));
  const store = await openStore(databaseOn(server, name));
  const run = (statement: string) => sql.raw(statement).execute(store);
  await run('create table sim_states (name text primary key)');
  for (const [table, column, kind] of WATCHED) {
    await run(`create function sim_${table}() returns trigger language plpgsql as $$ begin
      insert into sim_states values ('${kind}: ' || new.${column}) on conflict do nothing; return null; end $$`);
    await run(`create trigger sim_${table} after insert or update of ${column} on ${table}
      for each row execute function sim_${table}()`);
  }
  for (const table of PRUNED) {
    await run(`create table sim_pruned_${table} as select * from ${table} where false`);
    await run(`create function sim_${table}_pruned() returns trigger language plpgsql as $$ begin
      insert into sim_pruned_${table} select old.*; return null; end $$`);
    await run(`create trigger sim_${table}_pruned after delete on ${table}
      for each row execute function sim_${table}_pruned()`);
  }
  const keys = books.prepare('select * from api_keys').all() as never[];
  await store.insertInto('api_keys').values(keys).execute();
  await store.destroy();
  return name;
}
/** The pool has ten: one is for whoever checks, and one to spare. */
const MOST_CONNECTIONS = 8;

const serverTemplates = new WeakMap<TestPostgres, Promise<string>>();

function databaseOn({ url }: TestPostgres, name: string): string {
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
}

async function withServer(
  url: string,
  work: (admin: { query(text: string): Promise<unknown> }) => Promise<unknown>,
): Promise<void> {
  const { default: pg } = await import('pg');
  const admin = new pg.Client({ connectionString: url });
  admin.on('error', () => undefined);
  await admin.connect();
  await work(admin).finally(() => admin.end());
}

/** A database of its own on a server, with the operator's key in it. */
async function openServer(server: TestPostgres, books: SqliteDatabase) {
  const name = `world_${process.pid}_${databases++}`;
  const url = databaseOn(server, name);
  const template = serverTemplates.get(server) ?? outside(() => makeServerTemplate(server, books));
  serverTemplates.set(server, template);
  const from = await template;
  const store = await outside(async () => {
    await withServer(server.url, (admin) => admin.query(`create database ${name} template ${from}`));
    return openStore(url);
  });
  const served: ServedDatabase = {
    opened: store as unknown as ServedDatabase['opened'],
    lock: createPlaces(1),
    connections: createPlaces(MOST_CONNECTIONS),
    held: new Set(),
    terminate: (backend) =>
      withServer(server.url, (admin) => admin.query(`select pg_terminate_backend(${backend}, 5000)`)),
    restart: () => server.restart(),
    awayUntilMs: 0,
  };
  /** Whoever checks asks again where the server has been restarted meanwhile. */
  const query = async (statement: string, tries = 3): Promise<readonly unknown[]> => {
    try {
      return (await sql.raw(statement).execute(store)).rows;
    } catch (error) {
      if (tries === 0) throw error;
      return query(statement, tries - 1);
    }
  };
  return {
    served,
    query: (statement: string) => outside(() => query(statement)),
    /** Copies all rows into a file of the same tables. */
    async copyTo(file: SqliteDatabase): Promise<void> {
      file.exec('pragma foreign_keys = off');
      const named = (type: string) =>
        (file.prepare(`select name from sqlite_master where type = '${type}'`).all() as { name: string }[]).map(
          (one) => one.name,
        );
      for (const trigger of named('trigger')) file.exec(`drop trigger ${trigger}`);
      file.exec('begin');
      for (const table of named('table').filter((one) => !one.startsWith('sqlite_'))) {
        const columns = (file.prepare(`pragma table_info(${table})`).all() as { readonly name: string }[]).map(
          (one) => one.name,
        );
        file.exec(`delete from ${table}`);
        const insert = file.prepare(
          `insert into ${table} (${columns.map((one) => `"${one}"`).join(', ')})
            values (${columns.map(() => '?').join(', ')})`,
        );
        for (const row of (await query(`select * from ${table}`)) as Record<string, unknown>[]) {
          insert.run(...columns.map((one) => row[one] ?? null));
        }
      }
      file.exec('commit');
    },
    async close(): Promise<void> {
      await outside(async () => {
        await store.destroy();
        await withServer(server.url, (admin) => admin.query(`drop database ${name} with (force)`));
      });
    },
  };
}
let databases = 0;

/** An order as the seller's own books have it. */
type Truth = Pick<ProviderOrder, 'status' | 'bookingReference' | 'documents'>;

/** null: nothing was sold under this reference. */
async function truthOf(airline: Provider, carriers: Fulfiller, tills: Tills, intentId: string): Promise<Truth | null> {
  const order = await airline.findOrder(intentId, '');
  if (order !== null && order !== 'unknown') return order;
  const bought = await carriers.find(intentId);
  if (bought === null || boughtNothing(bought)) return null;
  if (bought.kind === 'pending') return { status: 'pending', bookingReference: null, documents: [] };
  if (bought.kind === 'booked') {
    const { bookingReference, documents, cancelledAtMs } = bought;
    return { status: cancelledAtMs === null ? 'ticketed' : 'cancelled', bookingReference, documents };
  }
  return tills.isPaid(intentId)
    ? {
        status: 'ticketed',
        bookingReference: 'QX7RTP',
        documents: [{ type: 'electronic_ticket', number: '999-1234567890' }],
      }
    : null;
}

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** Everything outside of our processes: disks, the chain, the airline, and a look into the books for whoever checks. */
export async function openStage(world: World, template: Template, disks: Map<string, Disk>, setting: Setting = USUAL) {
  const folder = mkdtempSync(join(template.folder, 'world-'));
  for (const name of ['service.db', 'ledger.db', 'keys.json']) {
    copyFileSync(join(template.folder, name), join(folder, name));
  }
  const names = new Map<string, string>();
  for (const name of [...OPERATOR, ...CUSTOMERS, ...CHEATS]) {
    names.set(walletOf(name).address, name);
    names.set(refundWalletOf(name).address, `${name}'s refunds`);
  }
  for (const name of AFFILIATES) names.set(walletOf(name).address, name);
  const ledger = await openEmbeddedCluster({
    path: join(folder, 'ledger.db'),
    clock: { now: () => Math.floor(world.now()), sleep: world.sleep },
  });
  const disk = createDisk(world, "the services' disk", join(folder, 'service.db'));
  disks.set('service', disk);
  let books: SqliteDatabase = openSqlite(disk.path());
  const prepared = new Map<string, ReturnType<SqliteDatabase['prepare']>>();
  disk.onRenewal(() => {
    prepared.clear();
    books.close();
    books = openSqlite(disk.path());
  });
  const server = setting.postgres === null ? null : await openServer(setting.postgres, books);
  const airline = template.airline(() => Math.floor(world.now()));
  const changes = new Map<string, Changed>();
  const doesChange = world.chance.takesPart('an airline that changes what it sold', 0.5);
  const tills = openTills(world);
  return {
    setting,
    /** The service's database, by a connection of a process's own. */
    storeOf: (process: Process): Store =>
      server
        ? openWatchedServer<ServiceTables>(world, process, server.served)
        : openWatchedFile<ServiceTables>(world, process, disk.path()),
    /** Rows of the service's database, wherever it is. */
    async query(statement: string): Promise<readonly unknown[]> {
      if (!server) return books.prepare(statement).all();
      return server.query(statement);
    },
    /** From now on `rows` are those that are in the database now, also of one on a server. */
    settleBooks: async (): Promise<void> => server?.copyTo(books),
    folder,
    template,
    names,
    ledger,
    chain: createChain(world, ledger, (address) => names.get(address) ?? 'an escrow'),
    /** The airline's own system, and what it has done to orders since it sold them. */
    airline: doesChange ? withChanges(airline, changes) : airline,
    doesChange,
    changes,
    carriers: template.carriers,
    tills,
    orderOf: (intentId: string): Promise<Truth | null> =>
      truthOf(doesChange ? withChanges(airline, changes) : airline, template.carriers, tills, intentId),
    /** Orders that the airline is making without having said so. */
    pendingOrders: new Map<string, number>(),
    secrets: openSecrets(join(folder, 'keys.json')),
    /** Rows of the service's database as they are committed now. */
    rows<T>(sql: string, ...given: unknown[]): T[] {
      const known = prepared.get(sql) ?? books.prepare(sql);
      prepared.set(sql, known);
      return known.all(...given) as T[];
    },
    /** How many journeys each wallet has begun. */
    journeys: new Map<string, number>(),
    /** What people have sent to each other without the services. */
    sentByHand: [] as { readonly from: string; readonly to: string; readonly amount: bigint }[],
    /** The amounts that the operator decided to pay out, of each request. */
    decided: new Map<string, Set<number>>(),
    messages: [] as { readonly kind: 'page' | 'email'; readonly about: string }[],
    /** The disk of the services; null: their rows are on a server. */
    disk: server ? null : disk,
    /** The disk with the journal of somebody's tool, made when it is first used. */
    journalOf(name: string): Disk {
      const known = disks.get(name);
      if (known) return known;
      const path = join(folder, `${name}.db`);
      copyFileSync(join(template.folder, 'client.db'), path);
      const made = createDisk(world, `${name}'s disk`, path);
      disks.set(name, made);
      return made;
    },
    async close(): Promise<void> {
      for (const { name } of books.prepare('select name from sim_states').all() as { name: string }[]) {
        world.saw(name);
      }
      books.close();
      for (const made of disks.values()) made.close();
      await server?.close();
      await ledger.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
