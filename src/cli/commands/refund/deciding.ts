import type { CallOptions } from '../../../client/base/index.ts';
import type { Approval, OperatorClient } from '../../../client/index.ts';
import { nothingToPay } from '../../../kernel/domain/refund-rule.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { problem, type Text } from '../../../kernel/problems.ts';
import type { RefundCase, RefundPlan } from '../../../wire/flights/index.ts';

/** How a case is decided: the same for a command and for the live desk. Nothing is asked or printed here. */

/** An amount of the operator's own, instead of what the fare rule gives. */
export interface OwnAmount {
  /** Atomic USDC. */
  readonly amount?: bigint | undefined;
  readonly note?: string | undefined;
}

/** An approval that nothing stands in the way of. */
interface PreparedApproval {
  readonly shown: RefundCase;
  /** The money that will move; null: it was approved before, and goes on with what was agreed. */
  readonly plan: RefundPlan | null;
  readonly approval: Approval;
}

/** @throws Problem what an approval would be refused with, as far as that is known before it */
export async function prepareApproval(
  operator: OperatorClient,
  id: string,
  own: OwnAmount,
  options: CallOptions,
): Promise<PreparedApproval> {
  const shown = await operator.show(id, options);
  const isChanged = own.amount !== undefined && Number(own.amount) !== shown.payout_amount;
  if (isApproved(shown) && !isPlanGone(shown) && !isChanged) {
    return { shown, plan: null, approval: approvalOf(own) };
  }
  const plan = await planApproval(operator, shown, own, options);
  if (plan.payout_amount === 0) throw nothingToPay(plan.airline_quote);
  const { treasury_amount, payout_amount } = plan;
  if (treasury_amount < payout_amount) {
    throw problem('treasury_insufficient', { detail: { treasury_amount, payout_amount } });
  }
  const approval = {
    ...approvalOf(own),
    expected_payout_amount: plan.payout_amount,
    ...(plan.airline_quote && { quote_id: plan.airline_quote.quote_id }),
  };
  return { shown, plan, approval };
}

/** Plans an approval: the money that would move. @throws Problem `invalid_request` for an amount of one's own that can't be */
export async function planApproval(
  operator: OperatorClient,
  shown: RefundCase,
  own: OwnAmount,
  options: CallOptions,
): Promise<RefundPlan> {
  checkAmount(own, BigInt(shown.captured_amount));
  return operator.plan(shown.request_id, approvalOf(own), options);
}

/** The airline did not take the quote, or cancelled by itself: what follows from that has to be agreed to. */
const isPlanGone = ({ status, last_error }: RefundCase): boolean => status === 'stuck' && last_error === 'plan_changed';

const isApproved = ({ status }: RefundCase): boolean => ['approved', 'stuck', 'refunded'].includes(status);

const approvalOf = ({ amount, note }: OwnAmount): Approval => ({
  ...(amount === undefined ? {} : { payout_amount: Number(amount) }),
  ...(note === undefined ? {} : { note }),
});

function checkAmount({ amount, note }: OwnAmount, captured: bigint): void {
  if (amount === undefined) return;
  const wrong = (message: Text, fix: string) => problem('invalid_request', { message, fix });
  if (amount > captured) {
    throw wrong(
      (usdc) => `${usdc(amount)} is more than was paid: ${usdc(captured)}.`,
      `Give --amount at most ${formatUsdc(captured)}.`,
    );
  }
  if (amount === 0n) {
    throw wrong('A pay-out of 0 USDC would cost the ticket for nothing.', 'Reject the request instead.');
  }
  if (note === undefined) {
    throw wrong('An amount you set yourself needs a reason.', 'Say why it is paid: --note <text>.');
  }
}

/** Does what was prepared, and what the operator has agreed to. */
export const approvePrepared = (
  operator: OperatorClient,
  { shown, approval }: PreparedApproval,
  options: CallOptions,
): Promise<RefundCase> => operator.approve(shown.request_id, approval, options);

/** @throws Problem what a rejection would be refused with: before anybody words one */
export async function checkRejection(operator: OperatorClient, id: string, options: CallOptions): Promise<void> {
  await operator.planRejection(id, '–', options);
}

/** Why an approval that is on record has not paid out yet. */
const UNFINISHED: Readonly<Record<string, string>> = {
  treasury_insufficient: 'The treasury holds less than the pay-out: top it up. Nothing is paid twice.',
  provider_failed: 'The airline has not confirmed the cancellation.',
  plan_changed: 'The airline says something else than what was agreed to: approve it again, by what it says now.',
  cancel_by_hand: 'Only you can cancel it with the airline; then record that.',
};

/** Reasons why an approval has not paid out yet. */
export const unfinishedLines = ({ status, last_error, request_id }: RefundCase): string[] => [
  ...(last_error === null ? [] : [UNFINISHED[last_error] ?? `It failed: ${last_error}.`]),
  status === 'stuck'
    ? `It needs a decision: farelock stuck show ${request_id}`
    : 'Not finished yet; the service continues by itself.',
];
