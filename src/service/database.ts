import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { behindMark, DATABASE_BEHIND, defaultOptions, knownUntilMs } from '../flights/base/index.ts';
import { BOOKS, STUCK, UNRECONCILED } from '../flights/look.ts';
import type { Clock } from '../kernel/clock.ts';
import { problem } from '../kernel/problems.ts';
import { loadCompliancePolicy } from '../partner/compliance/index.ts';
import { checkDatabaseUrl, markOnce } from '../store/index.ts';
import { FILE_PARTS, inspectFile, partsMadeBy, readRows, type TableSize, tablesIn } from '../store/libsql/index.ts';
import { loadPostgresInspect, SERVER_PARTS } from '../store/postgres/index.ts';
import { openStore } from './home.ts';
import { serviceMigrations } from './migrations.ts';

export interface DatabaseOptions {
  readonly home: string;
  readonly databaseUrl?: string | undefined;
  readonly clock: Clock;
  readonly purgeAfterDays?: number | undefined;
  readonly policyFile?: string | undefined;
}

export type DatabaseDesk = ReturnType<typeof openDatabaseDesk>;
export type DatabaseState = Awaited<ReturnType<DatabaseDesk['state']>>;
export type DatabaseCheck = Awaited<ReturnType<DatabaseDesk['check']>>;

/** Opens the desk for the services' database: its state, migration steps, backups and checks. */
export function openDatabaseDesk(options: DatabaseOptions) {
  const { databaseUrl: url } = options;
  const path = join(options.home, 'service.db');
  if (url !== undefined) checkDatabaseUrl(url);
  const look = () => (url === undefined ? lookAtFile(path) : lookAtServer(url, options.clock));
  return {
    /** Reads the state without writing; PostgreSQL's row counts are estimated. @throws `database_unavailable` */
    async state() {
      const { tables, ...state } = await look();
      const sizes = new Map(tables.map((one): [string, TableSize] => [one.name, one]));
      return { ...state, tables: await keptTables(options, sizes) };
    },

    /** Applies missing steps. @throws Problem `database_newer`, `database_unavailable`, of storage */
    async migrate() {
      let made = { steps: [] as readonly string[], tookMs: 0 };
      const onMigrated = (steps: readonly string[], tookMs: number) => {
        made = { steps, tookMs: Math.round(tookMs) };
      };
      const store = await openStore(url ?? path, undefined, { isTold: true, onMigrated });
      await store.destroy();
      return made;
    },

    /** Stops everything that moves money until the database is reconciled. */
    async needReconcile(sinceMs?: number): Promise<void> {
      const store = await openStore(url ?? path);
      try {
        const since_ms = sinceMs ?? (await knownUntilMs(store));
        const mark = behindMark({ why: 'by_hand', at_ms: options.clock.now(), since_ms });
        await markOnce(store, DATABASE_BEHIND, mark);
      } finally {
        await store.destroy();
      }
    },

    /** Backs up this home, or restores a backup into it. @throws Problem `usage`, `data_invalid`, of storage */
    async backUp(file: string, passphrase: string | null) {
      if (url !== undefined) throw ofServer();
      const { backUp } = await import('./backup.ts');
      return backUp({ home: options.home, file, passphrase }, options.clock.now());
    },
    async restore(file: string, passphrase: string | null) {
      if (url !== undefined) throw ofServer();
      const { restore } = await import('./backup.ts');
      return restore({ home: options.home, file, passphrase }, options.clock.now());
    },

    /** Looks for damage, missing tables, columns and indexes, and rows that contradict each other. */
    async check(full: boolean) {
      const { missing, newer, isEmpty } = await look();
      if (isEmpty || missing.length > 0) throw problem('database_not_migrated', { detail: { steps: missing } });
      if (newer.length > 0) throw problem('database_newer', { detail: { steps: newer } });
      const damage = url === undefined ? inspectFile(path, null, full) : null;
      const reading = url === undefined ? readingFile(path) : await readingServer(url);
      try {
        const lacking = await lackingParts(reading);
        const wrong = [];
        for (const { id, query } of BOOKS) {
          const rows = await reading.rows(`${query} limit ${MOST_NAMED}`);
          wrong.push({ id, found: rows.map((row) => String(row.id)) });
        }
        return [
          ...(damage ? [{ id: 'integrity', found: damage.said === null ? [] : [damage.said] }] : []),
          { id: 'schema', found: lacking },
          ...wrong,
        ];
      } finally {
        await reading.close();
      }
    },
  };
}

const ofServer = () =>
  problem('usage', {
    message: 'The services keep their tables in PostgreSQL (FARELOCK_DATABASE_URL).',
    fix: 'Use pg_dump and pg_restore: see Backups in docs/operators.md.',
  });

const MOST_NAMED = 10;
const PATIENCE_MS = 10_000;
type Rows = (query: string) => Promise<Record<string, unknown>[]>;

function lookAtFile(path: string) {
  const isEmpty = !existsSync(path);
  const state = isEmpty ? null : inspectFile(path, serviceMigrations, false);
  if (state?.kind === 'busy') throw problem('storage_locked', { message: `${path} is locked by another process.` });
  if (state && state.kind !== 'fine') throw problem('storage_damaged', { message: `${path}: ${state.said}` });
  const bytes = isEmpty ? 0 : statSync(path).size;
  const tables = isEmpty ? [] : tablesIn(path);
  const all = serviceMigrations.map(({ name }) => name);
  const isCurrent = state?.missing.length === 0 && state.newer.length === 0;
  return {
    ...{ kind: 'file' as const, at: path, version: null, isEmpty, bytes, tables },
    ...stepsOf(state ?? { applied: [], missing: all, newer: [] }),
    needsReconcile: isCurrent && readRows(path, STUCK).some(({ id }) => id === UNRECONCILED),
  };
}

const stepsOf = ({ applied, missing, newer }: { applied: string[]; missing: string[]; newer: string[] }) => ({
  applied,
  missing,
  newer,
  /** Steps of newer versions that older versions may run beside. */
  beside: applied.filter((one) => !newer.includes(one) && !serviceMigrations.some(({ name }) => name === one)),
});

/** @throws Problem `database_unavailable` */
async function lookAtServer(url: string, clock: Clock) {
  const { inspectPostgres } = await loadPostgresInspect();
  const state = await inspectPostgres(url, {
    ...{ migrations: serviceMigrations, stuckQuery: STUCK, now: clock.now, timeoutMs: PATIENCE_MS },
    signal: new AbortController().signal,
  });
  if (state === null) throw problem('database_unavailable');
  const { place } = state;
  const at = `${place.database} at ${place.host} as ${place.user}`;
  if (state.kind !== 'fine') {
    throw problem('database_unavailable', { message: `The PostgreSQL database ${at}: ${state.said}.` });
  }
  const { version, isEmpty, tables } = state;
  const bytes = tables.reduce((sum, one) => sum + one.bytes, 0);
  const needsReconcile = state.stuck.includes(UNRECONCILED);
  return { ...{ kind: 'postgresql' as const, at, version, isEmpty, bytes, tables, needsReconcile }, ...stepsOf(state) };
}

const readingFile = (path: string) => ({
  rows: (async (query) => readRows(path, query)) as Rows,
  parts: FILE_PARTS,
  close: async (): Promise<void> => undefined,
});

async function readingServer(url: string) {
  const store = await openStore(url);
  return {
    rows: (async (query) => (await sql.raw<Record<string, unknown>>(query).execute(store)).rows) as Rows,
    parts: SERVER_PARTS,
    close: () => store.destroy(),
  };
}

async function lackingParts({ rows, parts }: ReturnType<typeof readingFile>): Promise<string[]> {
  const found = new Set((await rows(parts)).map(({ name }) => String(name)));
  return partsMadeBy(serviceMigrations).filter((name) => !found.has(name));
}

/** The retention of a table's rows. */
interface Kept {
  /** Null if they stay for good. */
  readonly days: number | null;
  /** Days after which personal data is removed from rows that stay. */
  readonly personalDays: number | null;
  /** The setting that changes it, and its default. */
  readonly setting: string | null;
  readonly usualDays: number | null;
}

const fixed = (days: number | null): Kept => ({ days, personalDays: null, setting: null, usualDays: null });

/** Lists the tables that grow with use, the largest first, with their retention. */
async function keptTables({ purgeAfterDays, policyFile }: DatabaseOptions, sizes: ReadonlyMap<string, TableSize>) {
  const { loadPolicy } = await loadCompliancePolicy();
  const of = (setting: string, days: number, usualDays: number) => ({
    rows: { days, personalDays: null, setting, usualDays },
    personal: { days: null, personalDays: days, setting, usualDays },
  });
  const journey = of(
    'FARELOCK_PURGE_AFTER_DAYS',
    purgeAfterDays ?? defaultOptions.purgeAfterDays,
    defaultOptions.purgeAfterDays,
  );
  const policy = of('retentionDays', loadPolicy(policyFile).retentionDays, loadPolicy().retentionDays);
  const kept: readonly [Kept, readonly string[]][] = [
    [journey.personal, ['intents', 'bookings', 'orders', 'refund_requests', 'refund_notes']],
    [policy.personal, ['partner_orders', 'partner_order_changes', 'partner_outbound']],
    [policy.rows, ['customer_data', 'customer_data_fields']],
    [fixed(null), ['effects', 'outbox', 'operator_audit', 'fare_menus', 'affiliates', 'affiliate_payouts', 'upkeep']],
    [fixed(null), ['lowcost_sales', 'browser_purchases', 'duffel_attempts', 'customers', 'attestation_runs']],
    [fixed(0), ['quotes', 'searches', 'browser_looks', 'sponsored_signatures', 'partner_answers', 'customer_tokens']],
    [fixed(1), ['search_completions', 'browser_offers']],
    [fixed(2), ['wrong_codes']],
    [fixed(7), ['settlements', 'paid_answers']],
    [fixed(30), ['browser_evidence', 'wanted_orders']],
  ];
  return kept
    .flatMap(([keeps, names]) => names.map((name) => ({ name, ...(sizes.get(name) ?? NOTHING), keeps })))
    .sort((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0) || b.rows - a.rows);
}

const NOTHING = { rows: 0, bytes: 0 };
