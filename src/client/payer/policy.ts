import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { overBudget } from '../budget.ts';
import type { PaymentJournal, SpendingBudget } from '../journal/store.ts';
import type { PaymentRequest, SpendingPolicy } from '../types.ts';

export const capOf = (policy: SpendingPolicy, kind: PaymentRequest['kind']): bigint | null =>
  kind === 'booking' ? policy.bookingCap : policy.perCallCap;

/**
 * Lets a payment pass, or asks. What carries a warning always asks.
 * @returns whether somebody was asked: time has passed then.
 * @throws Problem `payment_above_cap` (nobody to ask), `payment_declined`.
 */
export async function approve(policy: SpendingPolicy, ask: PaymentRequest): Promise<boolean> {
  if (ask.cap !== null && ask.amount <= ask.cap && ask.warning === undefined) return false;
  const detail = {
    amount: formatUsdc(ask.amount),
    cap: ask.cap === null ? null : formatUsdc(ask.cap),
    resource: ask.resource,
  };
  if (policy.approve === null) {
    if (ask.warning !== undefined) throw problem('escrow_mismatch', { message: ask.warning, detail });
    throw problem('payment_above_cap', {
      message:
        ask.cap === null
          ? `This costs ${detail.amount} USDC and nobody could be asked.`
          : `This costs ${detail.amount} USDC, more than the cap of ${detail.cap} USDC.`,
      ...(ask.kind === 'booking' ? { fix: 'Approve it with --yes.' } : {}),
      detail,
    });
  }
  policy.refuse?.(ask);
  if (!(await policy.approve(ask))) throw problem('payment_declined', { detail });
  return true;
}

/** @throws Problem `host_not_allowed` */
export function checkHost({ hosts }: SpendingPolicy, host: string): void {
  if (hosts === undefined || hosts === null || hosts.includes(host)) return;
  throw problem('host_not_allowed', {
    message: `Payments to ${host} are not allowed.`,
    detail: { host, allowed: hosts },
  });
}

/** The day of the daily limit: the last 24 hours, so that no midnight doubles it. */
export const BUDGET_WINDOW_MS = 86_400_000;

export const budgetOf = ({ perDay }: SpendingPolicy): SpendingBudget | undefined =>
  perDay === undefined || perDay === null ? undefined : { limit: perDay, windowMs: BUDGET_WINDOW_MS };

/**
 * Says before anything is signed that the daily limit would be passed. The journal holds it once more when the
 * payment is written, for another process may be quicker.
 * @throws Problem `daily_limit_reached`
 */
export async function checkBudget(
  journal: Pick<PaymentJournal, 'spent'>,
  budget: SpendingBudget | undefined,
  payment: { readonly wallet: string; readonly network: string; readonly amount: bigint },
): Promise<void> {
  if (budget === undefined) return;
  const spent = await journal.spent(payment.wallet, payment.network, budget.windowMs);
  if (spent + payment.amount > budget.limit) throw overBudget(payment.amount, spent, budget.limit);
}
