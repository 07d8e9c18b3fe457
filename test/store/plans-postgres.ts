import pg from 'pg';
import { vi } from 'vitest';
import { serviceStatements } from '../bench/fill.mjs';

/** A statement as it was first run, and the database that it was run on. */
interface Heard {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly at: Place;
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly Plans?: readonly Plan[];
}

/** So many rows of everything, before plans are asked for: with few a database looks through all of them, and may. */
const ROWS = 2000;

/** Indexes over open work alone, and what is counted over it (plans.ts). */
const OPEN_WORK =
  /^(?:bookings_open|refund_requests_open|attestation_runs_(?:open|shown)|bookings_stuck|intents_live|intents_opening|refund_requests_(?:undecided|granted)_\w+|affiliate_payouts_\w+|outbox_\w+|effects_(?:open|sent|stuck))$/;

/** Tables of what one customer gave and was asked: limited for each. */
const OF_FEW: readonly string[] = ['partner_requirements', 'partners', 'customer_data'];

/**
 * Listens to every statement that this process runs on PostgreSQL.
 * @param small tables that never grow with use
 */
export function hearPostgres(isListening: () => boolean, small: Readonly<Record<string, string>>) {
  const heard = new Map<string, Heard>();
  type Run = (...given: unknown[]) => unknown;
  const query = pg.Client.prototype.query as Run;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...given: unknown[]
  ) {
    const [first, second] = given;
    const { text, values } = (typeof first === 'string' ? { text: first, values: second } : first) as {
      readonly text: string;
      readonly values?: unknown;
    };
    if (isListening() && /^\s*(with|select|insert|update|delete)\b/i.test(text) && !heard.has(text)) {
      const { host, port, user, database = '' } = this as unknown as Place;
      heard.set(text, { text, values: Array.isArray(values) ? values : [], at: { host, port, user, database } });
    }
    return query.apply(this, given);
  } as Run as never);

  /** What takes longer the more there is, a line a statement. */
  async function slow(): Promise<string[]> {
    const found: string[] = [];
    const places = new Map([...heard.values()].map(({ at }) => [at.database, at]));
    for (const [database, at] of places) {
      const client = new pg.Client(at);
      await client.connect();
      try {
        for (const statement of serviceStatements({ rows: ROWS }).split(/;\s*$/m))
          if (statement.trim()) await query.call(client, statement);
        await query.call(client, 'analyze');
        // What it would rather not do is done only where there is no other way.
        for (const one of ['seqscan', 'sort', 'bitmapscan', 'hashjoin', 'mergejoin'])
          await query.call(client, `set enable_${one} = off`);
        // Of a table that is as good as empty no plan says anything.
        const { rows: empty } = (await query.call(
          client,
          `select relname from pg_class where relkind = 'r' and reltuples < 50`,
        )) as { rows: { relname: string }[] };
        const few = { ...small, ...Object.fromEntries(empty.map(({ relname }) => [relname, 'empty'])) };
        for (const one of heard.values()) {
          if (one.at.database !== database || /pg_advisory|to_regclass/.test(one.text)) continue;
          const { rows } = (await query.call(client, `explain (format json) ${one.text}`, one.values)) as {
            rows: { 'QUERY PLAN': [{ Plan: Plan }] }[];
          };
          const plan = rows[0]?.['QUERY PLAN'][0].Plan;
          const steps = plan ? slowNodes(plan, few) : [];
          if (steps.length > 0) found.push(`${steps.join(', ')}: ${one.text}`);
        }
      } finally {
        await client.end();
      }
    }
    return found;
  }

  return { heard: () => [...heard.keys()], slow, stop: () => spy.mockRestore() };
}

function slowNodes(plan: Plan, small: Readonly<Record<string, string>>, isLimited = false): string[] {
  const { 'Node Type': type, 'Relation Name': relation = '', 'Index Name': index = '' } = plan;
  const inner = (limited: boolean) => (plan.Plans ?? []).flatMap((one) => slowNodes(one, small, limited));
  if (type === 'Limit') return inner(true);
  if (type === 'Seq Scan') return relation in small ? [] : [`scan of ${relation}`];
  if (/^Index (?:Only )?Scan$|^Bitmap Index Scan$/.test(type)) {
    if (plan['Index Cond'] !== undefined || relation in small || OPEN_WORK.test(index)) return inner(false);
    // The first ones in the order of an index.
    return isLimited && plan.Filter === undefined ? [] : [`all of ${index}`];
  }
  if (type === 'Sort') {
    const isOfFew = relationsOf(plan).every((name) => name in small || OF_FEW.includes(name));
    return [...(isOfFew || isBounded(plan) ? [] : ['a sort']), ...inner(false)];
  }
  return inner(isLimited && type !== 'Aggregate');
}

const relationsOf = (plan: Plan): string[] => [
  ...(plan['Relation Name'] === undefined ? [] : [plan['Relation Name']]),
  ...(plan.Plans ?? []).flatMap(relationsOf),
];

/** Of what is below, each part is limited. */
const isBounded = (plan: Plan): boolean =>
  plan['Node Type'] === 'Limit' || ((plan.Plans?.length ?? 0) > 0 && (plan.Plans ?? []).every((one) => isBounded(one)));
