import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOperatorKeys } from '../../../src/flights/desk/keys.ts';
import type { Clock } from '../../../src/kernel/clock.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { openSecrets, type Secrets } from '../../../src/kernel/secrets.ts';
import { mintToken } from '../../../src/partner/base/credentials.ts';
import { defaultPartnerOptions } from '../../../src/partner/base/ports.ts';
import { createPartner } from '../../../src/partner/index.ts';
import { partnerDemo } from '../../../src/sandbox/index.ts';
import { partnerKeyFile, webhookSecretFile } from '../../../src/sandbox/partners/index.ts';
import { openStore } from '../../../src/service/home.ts';
import { openSqlite, type SqliteDatabase } from '../../../src/store/libsql/file.ts';
import { BEGINNING_MS, createWorld, type World } from '../world/world.ts';
import { createBooks } from './platform-books.ts';

export const PARTNERS = ['bank', 'pix', 'redirect'] as const;
export type Slug = (typeof PARTNERS)[number];
export const partnerIdOf = (slug: Slug): string => `par_sandbox_${slug}`;

export const CUSTOMERS = ['ana', 'bo', 'sam', 'eva'] as const;
export type CustomerName = (typeof CUSTOMERS)[number];
export const customerIdOf = (name: CustomerName): string => `cus_demo_${name}`;

/** The columns of an order that somebody sees, or that decide what happens to it. */
const WATCHED = [
  'creation',
  'status',
  'version',
  'external_id',
  'source_transaction_id',
  'destination_transaction_id',
  'destination_amount',
  'funds_seen',
  'payment_processed',
  'return_details_sealed',
] as const;
const KEPT = ['order_id', 'partner_id', 'customer_id', 'source_amount', 'updated_at_ms', ...WATCHED] as const;

/** What every world is a copy of: a service's home with its partners, customers, keys and tokens. */
export interface Template {
  readonly folder: string;
  readonly operatorKey: string;
  readonly apiKeys: Readonly<Record<Slug, string>>;
  readonly webhookSecrets: Readonly<Record<Slug, string>>;
  readonly tokens: ReadonlyMap<CustomerName, string>;
  close(): void;
}

export async function makeTemplate(): Promise<Template> {
  const shared = '/dev/shm';
  const folder = mkdtempSync(join(existsSync(shared) ? shared : tmpdir(), 'farelock-sim-'));
  const world = createWorld({ seed: 0, only: null, noise: false });
  const giveBack = world.take();
  try {
    const clock = { now: () => BEGINNING_MS - 60_000, sleep: world.sleep };
    const secrets = openSecrets(join(folder, 'keys.json'));
    const made = await fillHome(folder, secrets, clock);
    watchOrders(join(folder, 'service.db'));
    const lineOf = (path: string) => readFileSync(path, 'utf8').trim();
    const bySlug = (path: (home: string, partnerId: string) => string) =>
      Object.fromEntries(PARTNERS.map((slug) => [slug, lineOf(path(folder, partnerIdOf(slug)))])) as Readonly<
        Record<Slug, string>
      >;
    return {
      folder,
      ...made,
      apiKeys: bySlug(partnerKeyFile),
      webhookSecrets: bySlug(webhookSecretFile),
      close: () => rmSync(folder, { recursive: true, force: true }),
    };
  } finally {
    giveBack();
  }
}

/** The demo's partners and customers, without its orders: those of a world are all made in it. */
async function fillHome(folder: string, secrets: Secrets, clock: Clock) {
  const ids = randomIds(clock.now);
  const store = await openStore(join(folder, 'service.db'));
  const operators = createOperatorKeys({ store, secrets, clock, ids });
  const ports = {
    store,
    secrets,
    clock,
    ids,
    log: silentLog,
    environment: 'demo' as const,
    demo: partnerDemo,
    serviceName: 'farelock',
    home: folder,
    desk: { authenticate: operators.authenticate, audit: async () => undefined },
  };
  await createPartner(ports).ready();
  await store.deleteFrom('partner_order_changes').execute();
  await store.deleteFrom('partner_orders').execute();
  await store.deleteFrom('partner_order_counts').execute();
  const tokens = new Map<CustomerName, string>();
  for (const name of CUSTOMERS) {
    const minted = await store
      .transaction()
      .execute((tx) =>
        mintToken(
          { ...ports, options: defaultPartnerOptions },
          tx,
          customerIdOf(name),
          defaultPartnerOptions.longestTokenLifeMs,
        ),
      );
    tokens.set(name, minted.token);
  }
  const { key } = await operators.issue({ keyId: 'key_0', name: 'first' }, 'opal', 'req_1');
  await store.destroy();
  return { operatorKey: key, tokens };
}

/** The database itself writes down every change of an order, and every state that an attestation was in. */
function watchOrders(path: string): void {
  const file = openSqlite(path);
  const picture = (row: string) => `json_object(${KEPT.map((one) => `'${one}', ${row}.${one}`).join(', ')})`;
  file.exec('create table sim_moves (id integer primary key, before text, after text not null)');
  file.exec(`create trigger sim_orders_made after insert on partner_orders
    begin insert into sim_moves (before, after) values (null, ${picture('new')}); end`);
  file.exec(`create trigger sim_orders_moved after update of ${WATCHED.join(', ')} on partner_orders
    begin insert into sim_moves (before, after) values (${picture('old')}, ${picture('new')}); end`);
  file.exec('create table sim_states (name text primary key)');
  for (const [event, name] of [
    ['insert', 'made'],
    ['update of state', 'moved'],
  ]) {
    file.exec(`create trigger sim_attestations_${name} after ${event} on attestation_runs
      begin insert or ignore into sim_states values ('attestation: ' || new.state); end`);
  }
  for (const event of ['insert', 'update of outcome']) {
    file.exec(`create trigger sim_outbound_${event.slice(0, 6)} after ${event} on partner_outbound
      begin insert or ignore into sim_states values ('outbound: ' || new.outcome); end`);
  }
  file.exec(`create trigger sim_breakers after update of open_until_ms on partner_breakers when new.open_until_ms > 0
    begin insert or ignore into sim_states values ('a breaker opens'); end`);
  // All of it into the one file that is copied.
  file.prepare('pragma wal_checkpoint(truncate)').all();
  file.close();
}

/** Whether the world goes at its usual pace, comes to rest, or has ended. */
export interface Pace {
  phase: 'usual' | 'finish' | 'rest' | 'over';
}

export type Stage = ReturnType<typeof openStage>;

/** Everything outside of our processes: the disk, the platforms' books, and a look into the database for who checks. */
export function openStage(world: World, template: Template) {
  const folder = mkdtempSync(join(template.folder, 'world-'));
  for (const name of ['service.db', 'keys.json']) copyFileSync(join(template.folder, name), join(folder, name));
  const books: SqliteDatabase = openSqlite(join(folder, 'service.db'));
  const prepared = new Map<string, ReturnType<SqliteDatabase['prepare']>>();
  const pace: Pace = { phase: 'usual' };
  return {
    folder,
    template,
    pace,
    /** The operator has rejected Eva's check once. */
    doubts: { had: false },
    secrets: openSecrets(join(folder, 'keys.json')),
    platform: createBooks(world, pace),
    /** Rows of the service's database as they are committed now. */
    rows<T>(sql: string, ...given: unknown[]): T[] {
      const known = prepared.get(sql) ?? books.prepare(sql);
      prepared.set(sql, known);
      return known.all(...given) as T[];
    },
    close(): void {
      for (const { name } of books.prepare('select name from sim_states').all() as { name: string }[]) {
        world.saw(name);
      }
      books.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
