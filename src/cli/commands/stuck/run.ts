import type { OperatorClient, Verdict } from '../../../client/operator.ts';
import { isProblem, problem } from '../../../kernel/problems.ts';
import { quoted } from '../../../kernel/shell-word.ts';
import type { Screen } from '../../../terminal/terminal.ts';
import type { StuckItem, StuckPlan } from '../../../wire/flights/index.ts';
import type { Command, CommandContext } from '../../spec/command.ts';
import { resolvedLines, stuckLines, stuckView } from '../../view/flights/stuck.ts';
import { nextLines } from '../../view/payment.ts';
import { stepLines } from '../../view/plan.ts';

interface StuckOptions {
  /** Of an intent, a refund request, a pay-out or an effect. */
  readonly id: string;
}
interface StuckShowOptions extends StuckOptions {
  readonly evidence?: string | true;
}
interface StuckResolveOptions extends StuckOptions {
  readonly decision: 'ticketed' | 'not_ticketed' | 'cancelled' | 'retry';
  readonly reference?: string;
  readonly ticket?: readonly string[];
}

const POLL_MS = 500;
const MOST_POLLS = 30;
/** States that nothing follows on by itself. */
const ENDED = ['booked', 'refunded', 'paid', 'done', 'failed', 'stuck'];

const operatorOf = async ({ session }: CommandContext) => {
  await session.work();
  return session.operator();
};

/** Work that waits for a person. */
export const stuckList: Command<object> = async (context) => {
  const found = await (await operatorOf(context)).stuck(context);
  context.terminal.result(found, stuckView(context.clock.now()));
  const first = found.bookings[0]?.intent_id ?? found.refund_requests[0]?.request_id;
  if (first) context.terminal.aside(['', ...nextLines(`farelock stuck show ${first}`)]);
  return 0;
};

/** One of them on one screen. */
export const stuckShow: Command<StuckShowOptions> = async (context, { id, evidence }) => {
  const operator = await operatorOf(context);
  if (evidence === undefined) {
    showItem(context, await operator.stuckItem(id, context));
    return 0;
  }
  const [{ keptEvidence }, { evidenceLines }] = await Promise.all([
    import('./evidence.ts'),
    import('../../view/evidence.ts'),
  ]);
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

/** Shows exactly what will move, asks, and has that done. Exit 8 when it is not finished yet. */
export const stuckResolve: Command<StuckResolveOptions> = async (context, given) => {
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
        next: [`farelock stuck show ${quoted(given.id)}`],
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
    decided.is_stuck ? 'It needs a decision again.' : 'Not finished yet; the service continues by itself.',
  ]);
  return 8;
};

/** The first answer is usually the end; a slow chain is waited for, a while. */
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
  { decision, reference, ticket }: StuckResolveOptions,
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
      .text('Booking reference', async (typed) =>
        typed.trim() === '' ? 'Type a booking reference.' : null,
      ));
  return {
    decision,
    booking_reference: pnr,
    documents: (ticket ?? []).map((number) => ({ type: 'electronic_ticket', number })),
  };
}

const planLines = (plan: StuckPlan, { width }: Screen): string[] => [
  'It would:',
  ...stepLines(plan.steps, width),
];

function showItem({ terminal, clock }: CommandContext, item: StuckItem): void {
  terminal.result(item, { lines: (one, screen) => stuckLines(one, clock.now(), screen) });
}
