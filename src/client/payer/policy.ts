import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
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
  if (!(await policy.approve(ask))) throw problem('payment_declined', { detail });
  return true;
}
