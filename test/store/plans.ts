import Sqlite from 'libsql';
import { vi } from 'vitest';

/** A statement, the database that it was prepared on, and the longest that it took of this process's own time. */
interface Statement {
  readonly database: Sqlite.Database;
  readonly sql: string;
  longestMs: number;
}

/**
 * Listens to every statement that this process runs on any of its libsql files, whoever runs it, so that their plans
 * can be asked for afterwards. One that stands in no list here was never run. Statements are prepared once and kept:
 * this comes before the files are opened.
 */
export function hearStatements() {
  const heard = new Map<string, Statement>();
  let listening = false;
  const prepare = Sqlite.prototype.prepare;
  const spy = vi.spyOn(Sqlite.prototype, 'prepare').mockImplementation(function (
    this: Sqlite.Database,
    sql: string,
  ) {
    const statement = prepare.call(this, sql);
    if (!/^\s*(with|select|insert|update|delete)\b/i.test(sql)) return statement;
    for (const name of ['all', 'get', 'run'] as const) {
      const run = statement[name].bind(statement) as (...given: unknown[]) => unknown;
      const timed = (...given: unknown[]) => {
        if (!listening) return run(...given);
        const known = heard.get(sql) ?? { database: this, sql, longestMs: 0 };
        heard.set(sql, known);
        const [before, beganMs] = [process.cpuUsage(), performance.now()];
        try {
          return run(...given);
        } finally {
          const { user, system } = process.cpuUsage(before);
          // Neither what the machine did besides, nor what other threads of the process did.
          const ms = Math.min(performance.now() - beganMs, (user + system) / 1000);
          known.longestMs = Math.max(known.longestMs, ms);
        }
      };
      Object.assign(statement, { [name]: timed });
    }
    return statement;
  });
  return {
    listen: (on: boolean) => {
      listening = on;
    },
    heard: () => [...heard.values()],
    stop: () => spy.mockRestore(),
    /** What SQLite would do for a statement, a line a step. */
    planOf({ database, sql }: Statement): string[] {
      const rows = prepare.call(database, `explain query plan ${sql}`).all([]) as { detail: string }[];
      return rows.map(({ detail }) => detail);
    },
  };
}

/** Tables that never grow with use, and why a look at all their rows is as quick as one at a few. */
export const SMALL: Readonly<Record<string, string>> = {
  meta: 'a fixed handful of settings',
  schema_migrations: 'a row for each step of the schema',
  api_keys: 'the keys of the operators',
  partners: 'the partners, a row each',
  partner_keys: 'the keys of the partners',
  partner_breakers: 'a row for each partner',
  ledger: 'one row',
};

/** Bounded subqueries of our own statements, by their names. */
const BOUNDED = ['CONSTANT', 'astray', 'ready', 'soonest', 'work'];

/** Sorts of what is found by these alone are short, for the reason given. */
const FEW: Readonly<Record<string, string>> = {
  '(customer_id=?':
    'what one customer gave and was asked: limited for each (partner/requirements/submission-limits.ts)',
};

/** Indexes over open work alone: what the operator's wallets need for it is summed up, at most every 15 seconds. */
const OPEN_WORK =
  /^SCAN \S+ USING (?:COVERING )?INDEX (?:bookings_open|refund_requests_undecided_\w+|affiliate_payouts_(?:open|age))$/;
const SUMS_UP = /^select (?:count|sum)\(/;

/**
 * What in a plan takes longer the more there is: a look at a whole table, a sort, or a search by nothing but a state,
 * which finds all that is done.
 */
export function slowSteps({
  plan,
  sql,
}: {
  readonly plan: readonly string[];
  readonly sql: string;
}): string[] {
  const isOfFew = Object.keys(FEW).some((key) =>
    plan.some((step) => step.startsWith('SEARCH') && step.includes(key)),
  );
  return plan.filter((step) => {
    if (/^USE TEMP B-TREE/.test(step)) return !isOfFew;
    // Those of small tables by their keys.
    if (/^SEARCH partners /.test(step)) return false;
    if (/^SEARCH .*\((?:state|status|kind|environment|creation|task|partner_id)=\?\)$/.test(step))
      return !/ limit \?/.test(sql);
    if (SUMS_UP.test(sql) && OPEN_WORK.test(step)) return false;
    const [, table] = /^SCAN (?:\d+ )?(\S+)/.exec(step) ?? [];
    return table !== undefined && !(table in SMALL) && !BOUNDED.includes(table);
  });
}
