import type { CallOptions } from '../../../client/base/index.ts';
import { problem } from '../../../kernel/problems.ts';
import { farelock, quoted } from '../../../kernel/shell-word.ts';
import { wrap } from '../../../terminal/index.ts';
import type { RefundCase } from '../../../wire/flights/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { approvalLines, askedLines, caseLines, mailLines, outcomeLine, queueView } from '../../view/flights/index.ts';
import { nextLines, printPlan, shortened, stepLines } from '../../view/index.ts';
import { approvePrepared, checkRejection, planApproval, prepareApproval, unfinishedLines } from './deciding.ts';
import type * as spec from './spec.ts';

const operatorOf = async ({ session }: CommandContext) => {
  await session.work();
  return session.operator();
};

const caseOf = ({ session }: CommandContext, { id }: { readonly id: string }): string =>
  session.recentCases.resolve(id);

function planned({ terminal }: CommandContext, step: string): 0 {
  printPlan(terminal, [step]);
  return 0;
}

/** A finished act: what changed, in a line. */
function finished(
  { terminal }: CommandContext,
  given: string,
  one: RefundCase,
  done: Parameters<typeof outcomeLine>[1],
): 0 {
  terminal.result(one, {
    lines: (shown, { paint, width }) => {
      const paid =
        done === 'decided' && shown.payout_tx_hash
          ? wrap(`to ${shown.refund_wallet}, in ${shortened(shown.payout_tx_hash)}`, width - 2)
          : [];
      const [first, ...more] = wrap(outcomeLine(shown, done, paint), width - 2);
      return [
        `${paint.good('✓')} ${first}`,
        ...more.map((line) => `  ${line}`),
        ...paid.map((line) => paint.dim(`  ${line}`)),
      ];
    },
  });
  if (done === 'claimed' && one.status === 'received')
    terminal.aside([
      '',
      ...nextLines(`farelock refund show ${quoted(given)}`, `farelock refund approve ${quoted(given)}`),
    ]);
  return 0;
}

/** Requests that wait for a decision, oldest first or by the day of departure; its rows are numbered for the other commands. */
export const refundQueue: Run<typeof spec.refundQueue> = async (context, { status, sort, limit, cursor }) => {
  const { terminal, session } = context;
  const operator = await operatorOf(context);
  const queue = await operator.queue({ status, sort, limit, cursor }, context);
  terminal.result(queue, queueView(context.clock.now()));
  const cases = queue.refund_requests;
  // A script that looks must not renumber what a person sees.
  if (!terminal.settings.json) session.recentCases.remember(cases.map((one) => one.request_id));
  const isOpen = cases[0]?.status === 'received';
  const commands = ['farelock refund show 1', ...(isOpen ? ['farelock refund approve 1'] : [])];
  if (cases.length > 0) terminal.aside(['', ...nextLines(...commands)]);
  return 0;
};

/** One case on one screen. */
export const refundShow: Run<typeof spec.refundShow> = async (context, options) => {
  const shown = await (await operatorOf(context)).show(caseOf(context, options), context);
  context.terminal.result(shown, { lines: (one, screen) => caseLines(one, context.clock.now(), screen) });
  return 0;
};

/** Takes a case, so that nobody else decides it; or gives it back. */
export const refundClaim: Run<typeof spec.refundClaim> = async (context, options) => {
  const { id: given, release, force } = options;
  const id = caseOf(context, options);
  if (context.globals.dryRun) return planned(context, release ? `Give ${given} back.` : `Take ${given}.`);
  const operator = await operatorOf(context);
  return release
    ? finished(context, given, await operator.release(id, force === true, context), 'released')
    : finished(context, given, await operator.claim(id, context), 'claimed');
};

/** Writes a note on a case. */
export const refundNote: Run<typeof spec.refundNote> = async (context, options) => {
  const { id: given, text } = options;
  const id = caseOf(context, options);
  const typed = text === '-' ? (await context.streams.stdin.text()).trim() : text;
  const words = typed ?? (await asked(context, 'the text', 'Note'));
  if (context.globals.dryRun) return planned(context, `Write a note on ${given}.`);
  return finished(context, given, await (await operatorOf(context)).note(id, words, context), 'noted');
};

/** Shows exactly what will move, asks, and then has exactly that done. Exit 8 when it is not finished yet. */
export const refundApprove: Run<typeof spec.refundApprove> = async (context, options) => {
  const { terminal, globals, clock } = context;
  const { id: given, amount, note } = options;
  const id = caseOf(context, options);
  const operator = await operatorOf(context);
  if (globals.dryRun) {
    const plan = await planApproval(operator, await operator.show(id, context), { amount, note }, context);
    terminal.result(plan, { lines: approvalLines });
    return 0;
  }
  const prepared = await prepareApproval(operator, id, { amount, note }, context);
  const { shown, plan } = prepared;
  if (plan && !globals.yes) {
    const prompts = terminal.ask('--yes');
    const screen = terminal.asideScreen;
    terminal.review([...askedLines(shown, clock.now(), screen), '', ...approvalLines(plan, screen)]);
    const question = `Pay out ${terminal.usdc(plan.payout_amount)}?`;
    if (!(await prompts.confirm(question, false))) throw leftAlone('Not approved.', given);
  }
  terminal.phase('Cancelling and paying out');
  const approved = await approvePrepared(operator, prepared, context);
  finished(context, given, approved, 'decided');
  if (approved.status === 'refunded') return 0;
  terminal.aside(['', ...unfinishedLines(approved)]);
  return 8;
};

/** Declines a request, once the operator has seen the mail that tells the customer why. */
export const refundReject: Run<typeof spec.refundReject> = async (context, options) => {
  const { terminal, globals } = context;
  const { id: given, reason } = options;
  const id = caseOf(context, options);
  const operator = await operatorOf(context);
  const plan = await rejection(context, operator, id, reason);
  if (globals.dryRun) {
    const steps = [`Reject ${given}, and tell the customer why.`];
    terminal.result(
      { dry_run: true, plan: steps, mail: plan.mail },
      {
        lines: (shown, screen) => [
          screen.paint.bold('Nothing was done. It would:'),
          ...stepLines(shown.plan, screen.width),
          '',
          ...mailLines(shown.mail, screen),
        ],
      },
    );
    return 0;
  }
  if (!globals.yes) {
    const prompts = terminal.ask('--yes');
    terminal.review(mailLines(plan.mail, terminal.asideScreen));
    if (!(await prompts.confirm('Reject the request?', false))) throw leftAlone('Not rejected.', given);
  }
  return finished(context, given, await operator.reject(id, plan.reason, context), 'decided');
};

/** The mail of a rejection, and the words in it. What can't be rejected is refused before the words are asked for. */
async function rejection(
  context: CommandContext,
  operator: Awaited<ReturnType<typeof operatorOf>>,
  id: string,
  given: string | undefined,
) {
  const options: CallOptions = context;
  if (given === undefined && context.terminal.canAsk) await checkRejection(operator, id, options);
  const reason = given ?? (await asked(context, '--reason', 'Message to the customer'));
  return { reason, ...(await operator.planRejection(id, reason, options)) };
}

const leftAlone = (message: string, given: string) =>
  problem('payment_declined', { message, fix: 'Nothing changed.', next: [farelock`refund show ${given}`] });

const asked = ({ terminal }: CommandContext, option: string, question: string): Promise<string> =>
  terminal.ask(option).text(question, async (typed) => (typed === '' ? 'Type something.' : null));
