import type { CommandDescription } from '../spec/description.ts';

/** Commands of the desk that pay out, though nothing is signed with the wallet: what their plans say is counted. */
const AMOUNTS: Readonly<Record<string, string>> = {
  'refund approve': 'payout_amount',
  'stuck resolve': 'amount',
};

export const movesOthersMoney = ({ name }: CommandDescription): boolean => name in AMOUNTS;

/**
 * The amount that the plan of such a command would move, atomic USDC.
 * @returns null when there is no plan: it was refused
 */
export function amountMoved(plan: Readonly<Record<string, unknown>> | null): bigint | null {
  if (plan === null || plan.dry_run !== true) return null;
  const amount = Object.values(AMOUNTS)
    .map((field) => plan[field])
    .find((value) => typeof value === 'number');
  return typeof amount === 'number' ? BigInt(amount) : 0n;
}
