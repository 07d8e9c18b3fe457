import type { Client } from 'pg';
import { addressesOf } from '../../kernel/database-url.ts';
import { appliedSteps, FORMER_STEPS, type Migration, STEPS } from '../base/index.ts';
import { type PostgresRefusal, postgresRefusal } from './refusal.ts';
import { inWordsOfPg } from './url.ts';

/** The result of an inspection in a read-only transaction. */
export type PostgresState = Awaited<ReturnType<typeof read>> & { readonly kind: 'fine'; readonly place: PostgresPlace };

export interface PostgresRefused extends PostgresRefusal {
  readonly place: PostgresPlace;
}

/** The address without its password. */
export interface PostgresPlace {
  readonly host: string;
  readonly database: string;
  readonly user: string;
}

export interface PostgresLook {
  readonly migrations: readonly Migration[];
  /** Selects `id`s of rows that wait for a person; for a migrated database only. */
  readonly stuckQuery: string;
  readonly now: () => number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

type Inspected = PostgresState | PostgresRefused | null;

/** Looks at the server that takes writes, else at the first. @returns null for an address that is not PostgreSQL's */
export async function inspectPostgres(url: string, look: PostgresLook): Promise<Inspected> {
  const found: Inspected[] = [];
  for (const address of addressesOf(url)) {
    const one = await inspectOne(address, look);
    if (one?.kind === 'fine' && one.writing !== 'read_only') return one;
    found.push(one);
  }
  return found[0] ?? null;
}

async function inspectOne(url: string, look: PostgresLook): Promise<Inspected> {
  const { default: pg } = await import('pg');
  let client: Client;
  try {
    client = new pg.Client({
      connectionString: inWordsOfPg(url),
      connectionTimeoutMillis: look.timeoutMs,
      query_timeout: look.timeoutMs,
      application_name: 'farelock doctor',
    });
  } catch {
    return null;
  }
  const place = {
    host: client.host.startsWith('/') ? client.host : `${client.host}:${client.port}`,
    database: client.database ?? '',
    user: client.user ?? '',
  };
  // The query reports the error of its connection, too.
  client.on('error', () => undefined);
  const leave = () => void client.end();
  look.signal.addEventListener('abort', leave, { once: true });
  try {
    await client.connect();
    return { kind: 'fine', place, ...(await read(client, look)) };
  } catch (error) {
    return { place, ...postgresRefusal(error) };
  } finally {
    look.signal.removeEventListener('abort', leave);
    leave();
  }
}

async function read(client: Client, { migrations, stuckQuery, now }: PostgresLook) {
  const rows = async (query: string, values: unknown[] = []) =>
    (await client.query<Record<string, unknown>>(query, values)).rows;
  const askedMs = now();
  const [server] = await rows(`select current_setting('server_version') as version,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms,
    pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean as is_read_only,
    has_schema_privilege(current_schema(), 'CREATE') as may_create,
    coalesce(to_regclass('${STEPS}'), to_regclass('${FORMER_STEPS}'))::text as steps`);
  const aheadMs = Number(server?.now_ms) - (askedMs + now()) / 2;
  await client.query('begin read only');
  const isEmpty = !server?.steps;
  const steps = String(server?.steps ?? STEPS);
  const applied = isEmpty ? [] : await rows(`select name, ${steps === STEPS ? 'breaks' : '1 as breaks'} from ${steps}`);
  const names = migrations.flatMap(({ statements }) => statements.flatMap(tableMade));
  const lacking = await rows(
    // Rights on a missing table are unknown.
    `select name from unnest($1::text[]) as name where not (
      has_table_privilege(to_regclass(name), 'SELECT') and has_table_privilege(to_regclass(name), 'INSERT')
      and has_table_privilege(to_regclass(name), 'UPDATE') and has_table_privilege(to_regclass(name), 'DELETE'))`,
    [[steps, ...names]],
  );
  const known = appliedSteps(
    applied.map(({ name, breaks }) => ({ name: String(name), breaks: Number(breaks) })),
    migrations,
  );
  const isWhole = !isEmpty && known.missing.length === 0;
  // From the statistics, as counting would read every row.
  const tables = await rows(
    `select relname as name, greatest(reltuples, 0)::float8 as rows, pg_total_relation_size(oid)::float8 as bytes
     from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace`,
  );
  const stuck = isWhole ? await rows(stuckQuery) : [];
  await client.query('rollback');
  const cannotGrow = !isWhole && server?.may_create !== true;
  const denied = [...lacking.map(({ name }) => String(name)), ...(cannotGrow ? ['its schema'] : [])];
  const writing = server?.is_read_only === true ? 'read_only' : denied.length > 0 ? 'no_rights' : 'allowed';
  return {
    ...known,
    tables: tables.map((row) => ({ name: String(row.name), rows: Number(row.rows), bytes: Number(row.bytes) })),
    version: String(server?.version).split(' ')[0] ?? '',
    /** Never migrated. */
    isEmpty,
    /** Found from the server's mode and our rights, without writing. */
    writing: writing as 'read_only' | 'no_rights' | 'allowed',
    lacking: denied,
    /** How far the server's clock is ahead. */
    aheadMs,
    /** Bookings and refunds that wait for a person. */
    stuck: stuck.map(({ id }) => String(id)),
  };
}

const tableMade = (statement: string): string[] => {
  const name = /^\s*create table (?:if not exists )?"?(\w+)/i.exec(statement)?.[1];
  return name === undefined ? [] : [name];
};

/** Selects the names of all columns, as `table.column`, and of all indexes. */
export const SERVER_PARTS = `select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = current_schema()
  union all select indexname from pg_indexes where schemaname = current_schema()`;
