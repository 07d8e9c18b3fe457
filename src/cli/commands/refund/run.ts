import type { CallOptions } from '../../../client/base/index.ts';
import type { Approval, OperatorClient } from '../../../client/index.ts';
import { nothingToPay } from '../../../kernel/domain/refund-rule.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { problem, type Text } from '../../../kernel/problems.ts';
import { farelock, quoted } from '../../../kernel/shell-word.ts';
import { wrap, wrapBehind } from '../../../terminal/index.ts';
import type { RefundCase, RefundPlan } from '../../../wire/flights/index.ts';
import { askText } from '../../session/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import {
  approvalLines,
  askedLines,
  caseLines,
  mailLines,
  outcomeLine,
  queueView,
  withLines,
} from '../../view/flights/index.ts';
import { DRY_RUN, nextLines, printPlan, shortened, stepLines } from '../../view/index.ts';
import type * as spec from './spec.ts';

const operatorOf = async ({ session }: CommandContext) => {
  await session.work();
  return session.operator();
};

const caseOf = ({ session }: CommandContext, { id }: { readonly id: string }): string =>
  session.recentCases.resolve(id);

function finished(
  { terminal }: CommandContext,
  given: string,
  one: RefundCase,
  done: Parameters<typeof outcomeLine>[1],
): 0 {
  terminal.result(one, {
    lines: (shown, { paint, width }) => {
      const { refund_wallet: wallet, payout_tx_hash: transaction } = shown;
      const paid = done === 'decided' && transaction ? `to ${wallet}, in ${shortened(transaction)}` : '';
      return [
        ...wrapBehind(`${paint.good('✓')} `, outcomeLine(shown, done, paint), width),
        ...wrap(paid, width - 2).map((line) => paint.dim(`  ${line}`)),
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

/** Numbers the rows of the queue for the other commands. */
export const refundQueue: Run<typeof spec.refundQueue> = async (context, { status, sort, search, limit, cursor }) => {
  const { terminal, session } = context;
  const operator = await operatorOf(context);
  const queue = await operator.queue({ status, sort, search, limit, cursor }, context);
  terminal.result(queue, queueView(context.clock.now()));
  const cases = queue.refund_requests;
  session.recentCases.remember(cases.map((one) => one.request_id));
  const isOpen = cases[0]?.status === 'received';
  const commands = ['farelock refund show 1', ...(isOpen ? ['farelock refund approve 1'] : [])];
  if (cases.length > 0) terminal.aside(['', ...nextLines(...commands)]);
  return 0;
};

export const refundShow: Run<typeof spec.refundShow> = async (context, options) => {
  const shown = await (await operatorOf(context)).show(caseOf(context, options), context);
  context.terminal.result(shown, {
    lines: (clean, screen) => caseLines(withLines(shown, clean), context.clock.now(), screen),
  });
  return 0;
};

export const refundClaim: Run<typeof spec.refundClaim> = async (context, options) => {
  const { id: given, release, force } = options;
  const id = caseOf(context, options);
  if (context.globals.dryRun) return printPlan(context.terminal, [release ? `Give ${given} back.` : `Take ${given}.`]);
  const operator = await operatorOf(context);
  return release
    ? finished(context, given, await operator.release(id, force === true, context), 'released')
    : finished(context, given, await operator.claim(id, context), 'claimed');
};

export const refundNote: Run<typeof spec.refundNote> = async (context, options) => {
  const { id: given, text } = options;
  const id = caseOf(context, options);
  const typed = text === '-' ? (await context.streams.stdin.text()).trim() : text;
  const words = typed ?? (await askText(context, 'the text', 'Note'));
  if (context.globals.dryRun) return printPlan(context.terminal, [`Write a note on ${given}.`]);
  return finished(context, given, await (await operatorOf(context)).note(id, words, context), 'noted');
};

/** Shows the money that will move, asks, and has exactly that paid. Exit 8 if it is not finished yet. */
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

/** Declines a request after the operator has seen the mail for the customer. */
export const refundReject: Run<typeof spec.refundReject> = async (context, options) => {
  const { terminal, globals } = context;
  const { id: given } = options;
  const id = caseOf(context, options);
  const operator = await operatorOf(context);
  // Checks the request before it asks for the words.
  if (options.reason === undefined && terminal.canAsk) await checkRejection(operator, id, context);
  const reason = options.reason ?? (await askText(context, '--reason', 'Message to the customer'));
  const { mail } = await operator.planRejection(id, reason, context);
  if (globals.dryRun) {
    const plan = [`Reject ${given}, and tell the customer why.`];
    terminal.result(
      { dry_run: true, plan, mail },
      {
        lines: (shown, screen) => [
          screen.paint.bold(DRY_RUN),
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
    terminal.review(mailLines(mail, terminal.asideScreen));
    if (!(await prompts.confirm('Reject the request?', false))) throw leftAlone('Not rejected.', given);
  }
  return finished(context, given, await operator.reject(id, reason, context), 'decided');
};

const leftAlone = (message: string, given: string) =>
  problem('payment_declined', { message, fix: 'Nothing changed.', next: [farelock`refund show ${given}`] });

/** Deciding a case, for the commands and for the live desk: these functions do not ask or print. */

/** An amount of the operator's own, instead of the amount by the fare rule. */
export interface OwnAmount {
  /** Atomic USDC. */
  readonly amount?: bigint | undefined;
  readonly note?: string | undefined;
}

/**
 * Prepares an approval. `plan` is the money that will move, or null if an earlier approval continues as agreed.
 * @throws Problem the refusal of the approval, if it is known in advance
 */
export async function prepareApproval(operator: OperatorClient, id: string, own: OwnAmount, options: CallOptions) {
  const shown = await operator.show(id, options);
  const isChanged = own.amount !== undefined && Number(own.amount) !== shown.payout_amount;
  if (isApproved(shown) && !isPlanGone(shown) && !isChanged) {
    return { shown, plan: null, approval: approvalOf(own) };
  }
  const plan = await planApproval(operator, shown, own, options);
  if (plan.payout_amount === 0) throw nothingToPay(plan.airline_quote);
  const { paid_from, treasury_amount, payout_amount } = plan;
  if (paid_from !== 'escrow' && treasury_amount < payout_amount) {
    throw problem('treasury_insufficient', { detail: { treasury_amount, payout_amount } });
  }
  const approval = {
    ...approvalOf(own),
    expected_payout_amount: plan.payout_amount,
    ...(plan.airline_quote && { quote_id: plan.airline_quote.quote_id }),
  };
  return { shown, plan, approval };
}

/** Plans the money that would move. @throws Problem `invalid_request` for an impossible amount of the operator's own */
export async function planApproval(
  operator: OperatorClient,
  shown: RefundCase,
  own: OwnAmount,
  options: CallOptions,
): Promise<RefundPlan> {
  checkAmount(own, BigInt(shown.captured_amount));
  return operator.plan(shown.request_id, approvalOf(own), options);
}

/** True if the airline did not take the quote, or cancelled by itself: the operator has to agree to a new plan. */
const isPlanGone = ({ status, last_error }: RefundCase): boolean => status === 'stuck' && last_error === 'plan_changed';

const isApproved = ({ status }: RefundCase): boolean => ['approved', 'stuck', 'refunded'].includes(status);

const approvalOf = ({ amount, note }: OwnAmount): Approval => ({
  ...(amount !== undefined && { payout_amount: Number(amount) }),
  ...(note !== undefined && { note }),
});

function checkAmount({ amount, note }: OwnAmount, captured: bigint): void {
  if (amount === undefined) return;
  const wrong = (message: Text, fix: string) => problem('invalid_request', { message, fix });
  if (amount > captured) {
    throw wrong(
      (usdc) => `${usdc(amount)} is more than was paid: ${usdc(captured)}.`,
      `Enter ${formatUsdc(captured)} or less.`,
    );
  }
  if (amount === 0n) {
    throw wrong('A pay-out of 0 USDC would cost the ticket for nothing.', 'Reject the request instead.');
  }
  if (note === undefined) {
    throw wrong('An amount you set yourself needs a reason.', 'Say why it is paid: --note <text>.');
  }
}

/** Carries out a prepared approval that the operator has agreed to. */
export const approvePrepared = (
  operator: OperatorClient,
  { shown, approval }: Awaited<ReturnType<typeof prepareApproval>>,
  options: CallOptions,
): Promise<RefundCase> => operator.approve(shown.request_id, approval, options);

/** Checks a rejection before its message is written. @throws Problem the refusal */
export async function checkRejection(operator: OperatorClient, id: string, options: CallOptions): Promise<void> {
  await operator.planRejection(id, '–', options);
}

const UNFINISHED: Readonly<Record<string, string>> = {
  treasury_insufficient: 'The treasury holds less than the pay-out: top it up. Nothing is paid twice.',
  provider_failed: 'The airline has not confirmed the cancellation.',
  plan_changed: 'The airline changed its quote. Look at the new one and approve again.',
  cancel_by_hand: 'Only you can cancel it with the airline; then record that.',
};

export const unfinishedLines = ({ status, last_error, request_id }: RefundCase): string[] => [
  ...(last_error === null ? [] : [UNFINISHED[last_error] ?? `It failed: ${last_error}.`]),
  status === 'stuck'
    ? `It needs a decision: farelock stuck show ${request_id}`
    : 'Not finished yet; the service continues automatically.',
];
