import { formatUsdc } from '../kernel/money.ts';
import { type Problem, problem } from '../kernel/problems.ts';

/** Before the signature and again when the payment is written: the daily limit would be passed. */
export function overBudget(amount: bigint, spent: bigint, limit: bigint): Problem {
  const detail = { amount: formatUsdc(amount), spent: formatUsdc(spent), limit: formatUsdc(limit) };
  return problem('daily_limit_reached', {
    message: `This costs ${detail.amount} USDC; ${detail.spent} of the ${detail.limit} USDC of 24 hours are signed already.`,
    detail,
  });
}
