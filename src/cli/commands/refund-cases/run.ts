import type { Approval } from '../../../client/operator.ts';
import type { RefundCase, RefundPlan } from '../../../flights/wire.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { problem } from '../../../kernel/problems.ts';
import { quoted } from '../../../kernel/shell-word.ts';
import type { Screen } from '../../screen/terminal.ts';
import type { Command, CommandContext } from '../../spec/command.ts';
import { caseLines, queueView } from '../../view/flights/refund.ts';
import { nextLines } from '../../view/payment.ts';
import { printPlan, stepLines } from '../../view/plan.ts';

interface QueueOptions {
  readonly status?: 'received' | 'approved' | 'refunded' | 'rejected' | 'stuck';
  readonly sort?: 'age' | 'journey';
  readonly limit?: number;
  readonly cursor?: string;
}
interface CaseOptions {
  /** Of a request, or of its intent. */
  readonly id: string;
}
export interface ClaimOptions extends CaseOptions {
  readonly release?: true;
  readonly force?: true;
  /** Whose money lies at the address of a closed escrow. */
  readonly refundWallet?: string;
}
interface NoteOptions extends CaseOptions {
  readonly text?: string;
}
interface ApproveOptions extends CaseOptions {
  /** Atomic USDC. */
  readonly amount?: bigint;
  readonly note?: string;
}
interface RejectOptions extends CaseOptions {
  readonly reason?: string;
}

/** Why an approval that is on record has not paid out yet. */
const UNFINISHED: Readonly<Record<string, string>> = {
  treasury_insufficient: 'The treasury holds less than the pay-out: fill it up. Nothing is paid twice.',
  provider_failed: 'The airline has not confirmed the cancellation.',
  cancel_by_hand: 'The ticket was recorded by an operator: cancel it with the airline.',
};

const operatorOf = async ({ session }: CommandContext) => {
  await session.work();
  return session.operator();
};

function planned({ terminal }: CommandContext, step: string): 0 {
  printPlan(terminal, [step]);
  return 0;
}

function showCase({ terminal, clock }: CommandContext, shown: RefundCase): 0 {
  terminal.result(shown, { lines: (one, screen) => caseLines(one, clock.now(), screen) });
  return 0;
}

/** What waits for a decision, oldest first or by the day of departure. */
export const refundQueue: Command<QueueOptions> = async (context, { status, sort, limit, cursor }) => {
  const operator = await operatorOf(context);
  const queue = await operator.queue({ status, sort, limit, cursor }, { signal: context.signal });
  context.terminal.result(queue, queueView(context.clock.now()));
  const [first] = queue.refund_requests;
  if (first) context.terminal.aside(['', ...nextLines(`farelock refund show ${quoted(first.request_id)}`)]);
  return 0;
};

/** One case on one screen. */
export const refundShow: Command<CaseOptions> = async (context, { id }) =>
  showCase(context, await (await operatorOf(context)).show(id, context));

/** Takes a case, so that nobody else decides it; or gives it back. */
export const refundClaim: Command<ClaimOptions> = async (context, { id, release, force }) => {
  if (context.globals.dryRun) return planned(context, release ? `Give ${id} back.` : `Take ${id}.`);
  const operator = await operatorOf(context);
  return showCase(
    context,
    release ? await operator.release(id, force === true, context) : await operator.claim(id, context),
  );
};

/** Writes a note on a case. */
export const refundNote: Command<NoteOptions> = async (context, { id, text }) => {
  const given = text === '-' ? (await context.streams.stdin.text()).trim() : text;
  const words = given ?? (await asked(context, 'the text', 'Note'));
  if (context.globals.dryRun) return planned(context, `Write a note on ${id}.`);
  return showCase(context, await (await operatorOf(context)).note(id, words, context));
};

/** Shows exactly what will move, asks, and then has exactly that done. Exit 8 when it is not finished yet. */
export const refundApprove: Command<ApproveOptions> = async (context, { id, amount, note }) => {
  const { terminal, globals } = context;
  const operator = await operatorOf(context);
  const approval: Approval = {
    ...(amount === undefined ? {} : { payout_amount: Number(amount) }),
    ...(note === undefined ? {} : { note }),
  };
  const before = await operator.show(id, context);
  const resumes = ['approved', 'stuck', 'refunded'].includes(before.status);
  // A case that was approved before goes on with what was approved: there is nothing to ask, and nothing done for a plan.
  const plan = resumes && !globals.dryRun ? null : await operator.plan(id, approval, context);
  if (plan && globals.dryRun) {
    terminal.result(plan, { lines: planLines });
    return 0;
  }
  if (plan && !globals.yes) {
    const prompts = terminal.ask('--yes');
    for (const line of planLines(plan, terminal.asideScreen)) terminal.note(line);
    const question = `Pay out ${formatUsdc(BigInt(plan.payout_amount))} USDC?`;
    if (!(await prompts.confirm(question, false))) {
      throw problem('payment_declined', {
        message: 'The approval was declined.',
        fix: 'Nothing was changed.',
      });
    }
  }
  terminal.phase('Cancelling and paying out');
  const approved = await operator.approve(
    id,
    { ...approval, ...(plan ? { expected_payout_amount: plan.payout_amount } : {}) },
    context,
  );
  showCase(context, approved);
  if (approved.status === 'refunded') return 0;
  terminal.aside([
    '',
    ...(approved.last_error === null
      ? []
      : [UNFINISHED[approved.last_error] ?? `It failed: ${approved.last_error}.`]),
    approved.status === 'stuck'
      ? `It waits for a person: farelock stuck show ${approved.request_id}`
      : 'It is not finished; the service goes on with it.',
  ]);
  return 8;
};

/** Declines a request; the customer is told the reason. */
export const refundReject: Command<RejectOptions> = async (context, { id, reason }) => {
  const words = reason ?? (await asked(context, '--reason', 'What is the customer told'));
  if (context.globals.dryRun) return planned(context, `Decline ${id}, and tell the customer why.`);
  return showCase(context, await (await operatorOf(context)).reject(id, words, context));
};

const planLines = (plan: RefundPlan, { width }: Screen): string[] => [
  'It would:',
  ...stepLines(plan.steps, width),
];

const asked = ({ terminal }: CommandContext, option: string, question: string): Promise<string> =>
  terminal.ask(option).text(question, async (typed) => (typed === '' ? 'Write something.' : null));
