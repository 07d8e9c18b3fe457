import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';

/**
 * What a program may spend while the server runs. Payments take turns, and what each may cost is what the journal says
 * is left: a payment that was signed counts, whatever became of its answer.
 */
export interface Allowance {
  /**
   * Runs `pay` with the most that it may sign for, atomic USDC.
   * @throws Problem `payment_above_cap` when nothing was allowed, or nothing is left
   */
  spend<T>(pay: (most: bigint) => Promise<T>): Promise<T>;
}

export function createAllowance(given: {
  /** Atomic USDC; null: spending was not allowed. */
  readonly total: bigint | null;
  /** At most this much for one payment, whatever is left. */
  readonly perPayment: bigint | null;
  /** What was signed since the server started, atomic USDC. */
  readonly spent: () => Promise<bigint>;
}): Allowance {
  const { total, perPayment } = given;
  let turn: Promise<unknown> = Promise.resolve();
  return {
    spend(pay) {
      const run = turn.then(async () => {
        if (total === null) {
          throw problem('payment_above_cap', {
            message: 'This tool pays, and the server was started without an allowance.',
            fix: 'A person starts it with: farelock mcp --allow-spending <usdc>',
            detail: { allowed: '0.00' },
          });
        }
        const left = total - (await given.spent());
        if (left <= 0n) {
          throw problem('payment_above_cap', {
            message: `The allowance of ${formatUsdc(total)} USDC is used up.`,
            fix: 'A person starts the server again with a new --allow-spending.',
            detail: { allowed: formatUsdc(total) },
          });
        }
        return pay(perPayment !== null && perPayment < left ? perPayment : left);
      });
      turn = run.catch(() => undefined);
      return run;
    },
  };
}
