import type { Allowance } from '../../../client/base/index.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { type Problem, problem } from '../../../kernel/problems.ts';
import type { Usdc } from '../../../kernel/usdc.ts';

/**
 * The allowance of a program while the server runs, in the memory of this process: every payment of its tools is signed
 * here, so that no clock, no other process and no lost answer can make it count less. A signed payment counts, however it
 * ends; the same payment sent again counts once.
 * @param total atomic USDC; null: spending was not allowed
 * @param perPayment the most for one payment, however much is left
 */
export function createAllowance({
  total,
  perPayment,
}: Readonly<Record<'total' | 'perPayment', bigint | null>>): Allowance {
  let spent = 0n;
  const counted = new Set<string>();
  const left = (): bigint => (total ?? 0n) - spent;
  const refusal = (amount: bigint): Problem | null => {
    if (total === null) return notAllowed();
    const isTooMuch = perPayment !== null && amount > perPayment;
    if (!isTooMuch && amount <= left()) return null;
    return aboveAllowance(amount, left(), total, isTooMuch ? perPayment : null);
  };
  const take = (amount: bigint): void => {
    const refused = refusal(amount);
    if (refused) throw refused;
    spent += amount;
  };
  return {
    left,
    refusal,
    reserve(amount) {
      take(amount);
      let isOpen = true;
      return {
        spend(paymentId) {
          isOpen = false;
          counted.add(paymentId);
        },
        giveBack() {
          if (isOpen) spent -= amount;
          isOpen = false;
        },
      };
    },
    resend(paymentId, amount) {
      if (counted.has(paymentId)) return;
      take(amount);
      counted.add(paymentId);
    },
  };
}

/** The server was started to read. */
export const notAllowed = (): Problem =>
  problem('payment_above_cap', {
    message: 'This tool moves money, but the server was started without an allowance.',
    fix: 'A person has to start it with: farelock mcp --allow-spending <usdc>',
    detail: { allowed: '0.00' },
  });

function aboveAllowance(amount: bigint, left: bigint, total: bigint, perPayment: bigint | null): Problem {
  const detail = {
    amount: formatUsdc(amount),
    left: formatUsdc(left),
    allowed: formatUsdc(total),
    ...(perPayment === null ? {} : { per_payment: formatUsdc(perPayment) }),
  };
  const why = (usdc: Usdc) =>
    perPayment === null
      ? `${usdc(left)} are left of the allowance of ${usdc(total)}`
      : `a payment may cost ${formatUsdc(perPayment)} at most`;
  return problem('payment_above_cap', {
    message: (usdc) => `This costs ${usdc(amount)}; ${why(usdc)}.`,
    fix: 'A person has to restart the server with a higher --allow-spending or --max-payment.',
    charged: 'nothing',
    detail,
  });
}
