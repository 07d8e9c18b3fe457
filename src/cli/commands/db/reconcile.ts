import { instant } from '../../../kernel/clock.ts';
import { jsonLog } from '../../../kernel/log.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { problem } from '../../../kernel/problems.ts';
import { listLines, utcTime, type View, wrapBehind } from '../../../terminal/index.ts';
import { clusterGiven } from '../../settings/index.ts';
import type { Run } from '../../spec/index.ts';
import type { DocumentOf } from '../../spec/published.ts';
import { nextLines } from '../../view/index.ts';
import { airlineSettings } from '../serve/index.ts';
import type * as result from './result.ts';
import type * as spec from './spec.ts';

type Reconciled = DocumentOf<typeof result.dbReconcile>;
type Finding = Reconciled['findings'][number];

const MOST_LISTED = 200;
const ORDER: readonly Finding['outcome'][] = ['person', 'carried_on', 'noted'];

/** Exit 8 while something waits for a person. */
export const dbReconcile: Run<typeof spec.dbReconcile> = async (context, options) => {
  const { terminal, session, globals, environment, clock } = context;
  const sinceMs = timeIn(options.since);
  const isDryRun = globals.dryRun === true;
  if (options.needed) {
    if (!isDryRun) await (await session.databaseDesk()).needReconcile(sinceMs);
    const since = sinceMs === undefined ? null : instant(sinceMs);
    terminal.result({ status: 'needed', dry_run: isDryRun, since, counts: {}, findings: [] }, view);
    terminal.aside(['', ...nextLines('farelock db reconcile')]);
    return 0;
  }
  terminal.phase('Comparing the database with the cluster and the airline');
  const service = await session.openLocal({
    ...{ flags: options, airlines: airlineSettings(environment, options), cluster: clusterGiven(options, environment) },
    isMainnetMeant: options.mainnet,
    log: jsonLog((line) => terminal.note(line), clock.now, 'error'),
  });
  const { findings, sinceMs: lookedSinceMs } = await service.reconcile({ isDryRun, sinceMs });
  const counts: Record<string, number> = {};
  for (const { kind } of findings) counts[kind] = (counts[kind] ?? 0) + 1;
  const listed = findings
    .map(({ amount, ...one }) => ({ ...one, amount: amount === null ? null : formatUsdc(amount) }))
    .sort((a, b) => ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome))
    .slice(0, MOST_LISTED);
  const status = findings.length === 0 ? ('same' as const) : ('differed' as const);
  terminal.result({ status, dry_run: isDryRun, since: instant(lookedSinceMs), counts, findings: listed }, view);
  if (isDryRun && findings.length > 0) terminal.aside(['', ...nextLines('farelock db reconcile')]);
  return findings.some(({ outcome }) => outcome === 'person') ? 8 : 0;
};

/** @throws Problem `usage` */
function timeIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (!Number.isNaN(ms)) return ms;
  throw problem('usage', { message: `--since ${text}: that is not a time.`, fix: 'Write it as 2026-11-26T08:00:00Z.' });
}

const WORDS: Readonly<Record<string, string>> = {
  escrow_acts: 'escrow moved',
  captured: 'escrow captured',
  refunded: 'escrow refunded',
  booking_forgotten: 'booking paid',
  order_forgotten: 'ticket ordered',
  order_adopted: 'booking unknown',
  order_unknown: 'order without escrow',
  escrow_unknown: 'escrow unknown',
  refund_paid: 'refund paid out',
  affiliate_paid: 'affiliate paid',
  payout_unknown: 'pay-out unknown',
  payment_unknown: 'payment unknown',
};

const OUTCOMES = { carried_on: 'goes on', noted: 'noted', person: 'for you' } as const;

/** Says what to do: for each case that needs a person, by its id; for the others, once for each kind. */
function todoLines(findings: readonly Finding[], width: number): string[] {
  const todos = findings.flatMap(({ kind, subject, outcome, todo }): [string, string][] =>
    todo === null ? [] : [[outcome === 'person' ? subject : (WORDS[kind] ?? kind), todo]],
  );
  return [...new Map(todos)].flatMap(([who, todo]) => wrapBehind(`${who}  `, todo, width));
}

const view: View<Reconciled> = {
  list: 'findings',
  lines({ status, dry_run, since, counts, findings }, screen) {
    const { paint } = screen;
    const from = since === null ? '' : ` since ${utcTime(since)}`;
    if (status === 'needed')
      return [`${paint.good('✓')} Bookings, refunds and pay-outs wait for farelock db reconcile.`];
    const sum = Object.values(counts).reduce((all, count) => all + count, 0);
    const done = dry_run ? 'Nothing was changed.' : 'The services go on.';
    if (sum === 0) return [`${paint.good('✓')} Nothing differs${from}. ${done}`];
    const words = Object.entries(counts).map(([kind, count]) => `${count} ${WORDS[kind] ?? kind}`);
    return [
      ...listLines(screen, findings, [
        { title: 'What', cell: ({ kind }) => WORDS[kind] ?? kind },
        { title: 'Which', cuts: true, cell: ({ subject }) => subject },
        { title: 'USDC', cell: ({ amount }) => amount ?? '–' },
        { title: 'Then', cell: ({ outcome }) => OUTCOMES[outcome] },
      ]),
      ...(sum > findings.length ? [`… and ${sum - findings.length} more`] : []),
      '',
      ...todoLines(findings, screen.width),
      `${paint.good('✓')} Differed${from}: ${words.join(', ')}. ${done}`,
    ];
  },
  rows: ({ findings }) =>
    findings.map(({ kind, subject, state, amount, transaction, outcome, todo }) => [
      ...[kind, subject, state, amount, transaction, outcome, todo],
    ]),
};
