import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { OperatorClient, Verdict } from '../../../client/index.ts';
import { isProblem, problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { onFile } from '../../../kernel/storage.ts';
import {
  fieldLines,
  fromNow,
  harmlessDocument,
  listLines,
  momentText,
  type Screen,
  utcTime,
  type View,
  wrap,
  wrapBehind,
} from '../../../terminal/index.ts';
import type { PageEvidence, Stuck, StuckItem, StuckPlan } from '../../../wire/flights/index.ts';
import type { CommandContext, OptionsOf, Run } from '../../spec/index.ts';
import type { DocumentOf } from '../../spec/published.ts';
import { nextLines, stepLines } from '../../view/index.ts';
import type * as result from './result.ts';
import type * as spec from './spec.ts';

const POLL_MS = 500;
const MOST_POLLS = 30;

/** States without a next step of their own. */
const ENDED = ['booked', 'refunded', 'paid', 'done', 'failed', 'stuck'];

const operatorOf = async ({ session }: CommandContext) => {
  await session.work();
  return session.operator();
};

export const stuckList: Run<typeof spec.stuckList> = async (context) => {
  const found = await (await operatorOf(context)).stuck(context);
  context.terminal.result(found, stuckView(context.clock.now()));
  const first = found.bookings[0]?.intent_id ?? found.refund_requests[0]?.request_id;
  if (first) context.terminal.aside(['', ...nextLines(`farelock stuck show ${first}`)]);
  return 0;
};

export const stuckShow: Run<typeof spec.stuckShow> = async (context, { id, evidence }) => {
  const operator = await operatorOf(context);
  if (evidence === undefined) {
    showItem(context, await operator.stuckItem(id, context));
    return 0;
  }
  const { evidence: found } = await operator.stuckEvidence(id, context);
  const kept = keptEvidence(found, evidence === true ? null : evidence);
  // Searches, and bookings that need no decision, leave pages too.
  const item = await operator.stuckItem(id, context).catch((error: unknown) => {
    if (!isProblem(error, 'stuck_not_found')) throw error;
    return null;
  });
  context.terminal.result(
    { ...(item ?? { id }), evidence: kept },
    {
      lines: (_, screen) => [
        ...(item ? stuckLines(item, context.clock.now(), screen) : [screen.paint.bold(id)]),
        ...evidenceLines(kept, screen),
      ],
    },
  );
  return 0;
};

/** Shows the plan, asks, and has exactly that done. Exit 8 if it is not finished yet. */
export const stuckResolve: Run<typeof spec.stuckResolve> = async (context, given) => {
  const { terminal, globals } = context;
  const operator = await operatorOf(context);
  const verdict = await verdictOf(context, given);
  const plan = await operator.planResolve(given.id, verdict, context);
  if (globals.dryRun) {
    terminal.result(plan, { lines: planLines });
    return 0;
  }
  if (!globals.yes) {
    const prompts = terminal.ask('--yes');
    for (const line of planLines(plan, terminal.asideScreen)) terminal.note(line);
    if (!(await prompts.confirm('Go ahead?', false))) {
      throw problem('payment_declined', {
        message: 'Not decided.',
        fix: 'Nothing changed.',
        next: [farelock`stuck show ${given.id}`],
      });
    }
  }
  terminal.phase('Carrying it out');
  const decided = await followed(context, operator, await operator.resolve(given.id, verdict, context));
  if (!decided.is_stuck && ENDED.includes(decided.state)) {
    terminal.result(decided, { lines: resolvedLines });
    if (decided.intent_id) terminal.aside(['', ...nextLines(`farelock status ${decided.intent_id}`)]);
    return 0;
  }
  showItem(context, decided);
  terminal.aside([
    '',
    decided.is_stuck ? 'It needs a decision again.' : 'Not finished yet; the service continues automatically.',
  ]);
  return 8;
};

/** Follows an item for a while if the chain is slow; usually the first answer is the end. */
async function followed(
  { session, clock, signal }: CommandContext,
  operator: OperatorClient,
  first: StuckItem,
): Promise<StuckItem> {
  let item = first;
  for (let polls = 0; polls < MOST_POLLS && !ENDED.includes(item.state); polls++) {
    await clock.sleep(POLL_MS, signal);
    await session.work();
    item = await operator.stuckItem(first.id, { signal });
  }
  return item;
}

async function verdictOf(
  { terminal }: CommandContext,
  { decision, reference, ticket }: OptionsOf<typeof spec.stuckResolve>,
): Promise<Verdict> {
  if (decision !== 'ticketed') {
    if (reference !== undefined || ticket !== undefined) {
      throw problem('usage', {
        message: '--reference and --ticket belong to the decision ticketed.',
        fix: 'Leave them out.',
      });
    }
    return { decision };
  }
  const pnr =
    reference ??
    (await terminal
      .ask('--reference')
      .text('Booking reference', async (typed) => (typed.trim() === '' ? 'Type a booking reference.' : null)));
  return {
    decision,
    booking_reference: pnr,
    documents: (ticket ?? []).map((number) => ({ type: 'electronic_ticket', number })),
  };
}

const planLines = (plan: StuckPlan, { width }: Screen): string[] => [
  'This decision would:',
  ...stepLines(plan.steps, width),
];

function showItem({ terminal, clock }: CommandContext, item: StuckItem): void {
  terminal.result(item, { lines: (one, screen) => stuckLines(one, clock.now(), screen) });
}

/** Every kind in one list, the money that travellers wait for first: kind, id, reason, since. */
const rowsOf = (found: Stuck): string[][] => [
  ...found.bookings.map((one) => ['booking', one.intent_id, one.last_error ?? '–', one.updated_at]),
  ...found.refund_requests.map((one) => ['refund', one.request_id, one.status, one.requested_at]),
  ...found.affiliate_payouts.map((one) => ['pay-out', one.payout_id, one.last_error ?? '–', one.created_at]),
  // A service of an earlier version does not list these.
  ...(found.partner_orders ?? []).map((one) => ['ramp-order', one.order_id, one.last_error ?? '–', one.updated_at]),
  ...found.effects.map((one) => [`effect ${one.kind}`, one.effect_id, one.error ?? one.state, one.created_at]),
];

const stuckView = (nowMs: number): View<Stuck> => ({
  lines: (found, screen) => {
    const rows = rowsOf(found);
    if (rows.length === 0) return ['Nothing is waiting for a decision.'];
    return listLines(screen, rows, [
      // The kind of an effect is left to its own screen, so that ids fit into 60 columns.
      { title: 'Kind', cell: ([kind = '']) => kind.replace(/ .*/, '') },
      { title: 'Id', cell: ([, id = '']) => id },
      { title: 'Why', cuts: true, cell: ([, , why = '']) => why },
      { title: 'Since', cell: ([, , , since]) => fromNow(since, nowMs) },
    ]);
  },
  rows: rowsOf,
});

const REFUSALS: Readonly<Record<string, string>> = {
  escrow_refunded: 'the escrow was already refunded',
  escrow_captured: 'the escrow is captured',
  escrow_missing: 'there is no escrow on chain',
  escrow_unfunded: 'the escrow holds less than the ticket costs',
  airline_ticketed: 'the airline has a ticket: cancel it there first, or keep it',
  airline_has_no_order: 'the airline has no record of this order',
  airline_cancelled: 'the airline no longer has a ticket',
  cancelled_by_airline: 'the airline cancelled it itself: approve the request again, for the whole amount',
  capture_under_way: 'a capture may still land',
  refund_under_way: 'a refund may still land',
  payment_unsettled: 'the outcome of the payment is not known yet',
  other_kind: 'it ends with its booking or its refund',
};

function stuckLines(one: StuckItem, nowMs: number, { paint, width }: Screen): string[] {
  const usdc = (amount: number | null) => (amount === null ? null : paint.usdc(amount));
  return [
    `${paint.bold(one.id)}  ${one.is_stuck ? paint.bad('stuck') : paint.good(one.state)}`,
    ...fieldLines(paint.dim, [
      ['Kind', one.kind.replace('_', ' ')],
      ['Stuck in', one.stuck_in],
      ['Why', one.reason],
      ['Since', momentText(one.since, nowMs)],
      ['Intent', one.intent_id === one.id ? null : one.intent_id],
      ['Amount', usdc(one.amount)],
      ['Escrow', one.escrow && `${one.escrow.state}, holds ${usdc(one.escrow.held_amount)}`],
      ['Anyone can refund', one.escrow && `after ${momentText(one.escrow.refund_after, nowMs)}`],
      ['Airline says', one.airline && [one.airline.status, one.airline.booking_reference].filter(Boolean).join(' ')],
      // A service of an earlier version does not say these.
      ['Its code', one.airline?.code ?? null],
      ['Its request', one.airline?.request_id ?? null],
      ['Decided', one.decided && `${one.decided.decision}, by ${one.decided.by}, ${utcTime(one.decided.at)}`],
    ]),
    ...(one.ask == null ? [] : ['', ...wrap(one.ask, width).map(paint.warn)]),
    ...one.decisions.flatMap(({ decision, refusal, steps }) => [
      '',
      `${paint.bold(decision.replace('_', '-'))}${refusal === null ? '' : paint.dim(`  not now: ${REFUSALS[refusal] ?? refusal}`)}`,
      ...(refusal === null ? steps.flatMap((step) => wrap(step, width - 4).map((line) => `  ${line}`)) : []),
    ]),
  ];
}

function resolvedLines(one: StuckItem, { paint, width }: Screen): string[] {
  const decided = one.decided ? `${one.decided.decision.replace('_', '-')}: ` : '';
  const amount = one.amount === null ? '' : `, ${paint.usdc(one.amount)}`;
  return wrapBehind(`${paint.good('✓')} `, `${one.id} ${decided}${one.state}${amount}`, width);
}

/** Writes screenshots and texts into a folder, for this user alone; none if null. @throws Problem of storage */
export function keptEvidence(found: readonly PageEvidence[], folder: string | null): ShownEvidence[] {
  const place = folder === null ? null : resolve(folder);
  if (place !== null) onFile(place, () => mkdirSync(place, { recursive: true, mode: 0o700 }));
  const write = (name: string, content: string | Buffer | null): string | null => {
    if (place === null || content === null) return null;
    const path = join(place, name);
    onFile(path, () => writeFileSync(path, content, { mode: 0o600 }));
    return path;
  };
  return found.map(({ screenshot, ...one }) => {
    // The ids come from a service: as file names they must not lead out of the folder.
    const name = one.evidence_id.replace(/[^0-9a-z]/gi, '');
    return {
      ...one,
      screenshot_file: write(`${name}.png`, screenshot && Buffer.from(screenshot, 'base64')),
      text_file: write(`${name}.txt`, one.text),
    };
  });
}

type ShownEvidence = NonNullable<DocumentOf<typeof result.stuckShow>['evidence']>[number];

const MOST_LINES = 12;

/**
 * Shows the first lines of the page of a carrier's web site where each visit ended.
 * @param found as it came: this function makes its texts harmless
 */
export function evidenceLines(found: readonly ShownEvidence[], { paint, width }: Screen): string[] {
  if (found.length === 0) return ['', 'No page was kept of it.'];
  return found.flatMap(({ text: page, ...about }) => {
    const one = harmlessDocument(about);
    const text = harmlessDocument(page.split('\n').filter((line) => line.trim() !== ''));
    return [
      '',
      `${paint.bold(utcTime(one.at))}  ${one.outcome}`,
      ...fieldLines(paint.dim, [
        ['Site', `${one.carrier}, recipe version ${one.recipe_version}`],
        ['Step', one.step || null],
        ['Screenshot', one.screenshot_file],
        ['Text', one.text_file],
      ]),
      ...text.slice(0, MOST_LINES).flatMap((line) => wrap(line.trim(), width - 2).map((part) => `  ${part}`)),
      ...(text.length > MOST_LINES ? [paint.dim(`  … ${text.length - MOST_LINES} more lines`)] : []),
    ];
  });
}
