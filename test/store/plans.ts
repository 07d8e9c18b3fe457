import Sqlite from 'libsql';
import { vi } from 'vitest';
import { hearPostgres } from './plans-postgres.ts';

/** A statement and SQLite's plan for it, a line a step. */
interface Statement {
  readonly sql: string;
  plan(): readonly string[];
}

/**
 * Listens to every statement that this process runs on any of its libsql files or on PostgreSQL, whoever runs it, so
 * that their plans can be asked for afterwards; or at once, of files that are closed by then. One that stands in no list
 * here was never run. Statements are prepared once and kept: this comes before the files are opened.
 */
export function hearStatements({ atOnce = false } = {}) {
  const heard = new Map<string, Statement>();
  let listening = false;
  const prepare = Sqlite.prototype.prepare;
  /** Of parts that are limited each by itself, the plans of the parts: what is put together of them is short. */
  const planOf = (database: Sqlite.Database, sql: string): string[] => {
    const parts = [...sql.matchAll(LIMITED_PARTS)].flatMap(([, part]) => part ?? []);
    if (parts.length > 0) return parts.flatMap((part) => planOf(database, part));
    const rows = prepare.call(database, `explain query plan ${sql}`).all([]) as { detail: string }[];
    return rows.map(({ detail }) => detail);
  };
  const planning = (database: Sqlite.Database, sql: string): (() => readonly string[]) => {
    if (!atOnce) return () => planOf(database, sql);
    const plan = planOf(database, sql);
    return () => plan;
  };
  const spy = vi.spyOn(Sqlite.prototype, 'prepare').mockImplementation(function (this: Sqlite.Database, sql: string) {
    const statement = prepare.call(this, sql);
    if (!/^\s*(with|select|insert|update|delete)\b/i.test(sql)) return statement;
    for (const name of ['all', 'get', 'run'] as const) {
      const run = statement[name].bind(statement) as (...given: unknown[]) => unknown;
      const timed = (...given: unknown[]) => {
        if (!listening) return run(...given);
        if (!heard.has(sql)) heard.set(sql, { sql, plan: planning(this, sql) });
        return run(...given);
      };
      Object.assign(statement, { [name]: timed });
    }
    return statement;
  });
  const postgres = hearPostgres(() => listening, SMALL);
  return {
    listen: (on: boolean) => {
      listening = on;
    },
    heard: () => [...heard.values()],
    /** How many different statements were heard, on both. */
    count: () => heard.size + postgres.heard().length,
    stop: () => {
      spy.mockRestore();
      postgres.stop();
    },
    /** Statements that take longer the more there is, and why. While PostgreSQL runs. */
    async slow(): Promise<string[]> {
      const onFiles = [...heard.values()].flatMap((one) => {
        const steps = slowSteps({ plan: one.plan(), sql: one.sql });
        return steps.length === 0 ? [] : [`${steps.join(', ')}: ${one.sql}`];
      });
      return [...onFiles, ...(await postgres.slow())];
    },
  };
}

/** Tables that never grow with use, and why a look at all their rows is as quick as one at a few. */
export const SMALL: Readonly<Record<string, string>> = {
  meta: 'a fixed handful of settings',
  schema_steps: 'a row for each step of the schema',
  api_keys: 'the keys of the operators',
  partners: 'the partners, a row each',
  partner_keys: 'the keys of the partners',
  partner_breakers: 'a row for each partner',
  ledger: 'one row',
};

/** In a statement: `(select … limit 50) as newest`. */
const LIMITED_PARTS = /\((select (?:[^()]|\([^()]*\))*? limit \d+)\) as/g;

/** Bounded subqueries of our own statements, by their names. */
const BOUNDED = ['CONSTANT', 'astray', 'ready', 'soonest', 'work'];

/** Sorts of what is found by these alone are short, for the reason given. */
const FEW: Readonly<Record<string, string>> = {
  '(customer_id=?':
    'what one customer gave and was asked: limited for each (partner/requirements/submission-limits.ts)',
  '(escrow_address=?': 'an escrow is of one intent',
};

/** Parts of one row each: sums and counts over open work (bookings/funds.ts). */
const ONE_ROW = ['open_bookings', 'live_intents', 'granted', 'earned', 'tickets', 'marks'];

/** Indexes over open work alone: what the operator's wallets need for it is summed up, at most every 15 seconds. */
const OPEN_WORK =
  /^SCAN \S+ USING (?:COVERING )?INDEX (?:bookings_open|refund_requests_(?:undecided|granted)_\w+|affiliate_payouts_(?:open|age))$/;
const SUMS_UP = /^select (?:count|sum)\(|^select \* from \(select count\(\*\) as "bookings"/;

/**
 * What in a plan takes longer the more there is: a look at a whole table, a sort, or a search by nothing but a state,
 * which finds all that is done.
 */
function slowSteps({ plan, sql }: { readonly plan: readonly string[]; readonly sql: string }): string[] {
  const isOfFew = Object.keys(FEW).some((key) => plan.some((step) => step.startsWith('SEARCH') && step.includes(key)));
  const tables = plan.flatMap((step) => /^(?:SCAN|SEARCH) (\S+)/.exec(step)?.[1] ?? []);
  const isOfSmall = tables.length > 0 && tables.every((table) => table in SMALL);
  return plan.filter((step) => {
    if (/^USE TEMP B-TREE/.test(step)) return !isOfFew && !isOfSmall;
    // Those of small tables by their keys.
    const [, searched = ''] = /^SEARCH (\S+)/.exec(step) ?? [];
    if (searched in SMALL) return false;
    if (/^SEARCH .*\((?:state|status|kind|environment|creation|task|partner_id)=\?\)$/.test(step))
      return !/ limit \?/.test(sql);
    if (SUMS_UP.test(sql) && OPEN_WORK.test(step)) return false;
    const [, table] = /^SCAN (?:\d+ )?(\S+)/.exec(step) ?? [];
    return table !== undefined && !(table in SMALL) && ![...BOUNDED, ...ONE_ROW].includes(table);
  });
}
