import type { Allowance } from '../../../client/base/index.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { type Problem, problem } from '../../../kernel/problems.ts';
import type { Usdc } from '../../../kernel/usdc.ts';

export interface ServerAllowance extends Allowance {
  /** Adds to this allowance one payment of exactly this amount, to which a person has agreed. */
  withOne(amount: bigint): Allowance;
}

/**
 * The allowance of a program while the server runs. It is kept in the memory of the process that signs every payment,
 * so that no clock, no other process and no lost answer can make it count less. A signed payment counts, however it
 * ends; the same payment sent again counts once.
 * @param total atomic USDC; null if spending was not allowed
 * @param perPayment the most for one payment, however much is left
 */
export function createAllowance({
  total,
  perPayment,
}: Readonly<Record<'total' | 'perPayment', bigint | null>>): ServerAllowance {
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
  const reservation = (giveBack: () => void) => {
    let isOpen = true;
    return {
      spend(paymentId: string) {
        isOpen = false;
        counted.add(paymentId);
      },
      giveBack() {
        if (isOpen) giveBack();
        isOpen = false;
      },
    };
  };
  const own: Allowance = {
    left,
    refusal,
    reserve: (amount) => {
      take(amount);
      return reservation(() => {
        spent -= amount;
      });
    },
    resend(paymentId, amount) {
      if (counted.has(paymentId)) return;
      take(amount);
      counted.add(paymentId);
    },
  };
  return {
    ...own,
    withOne(agreed) {
      let isUsed = false;
      const isIt = (amount: bigint) => !isUsed && amount === agreed && (perPayment === null || amount <= perPayment);
      return {
        left: () => (isIt(agreed) && agreed > left() ? agreed : left()),
        refusal: (amount) => (isIt(amount) ? null : refusal(amount)),
        reserve(amount) {
          if (!isIt(amount)) return own.reserve(amount);
          isUsed = true;
          return reservation(() => {
            isUsed = false;
          });
        },
        resend(paymentId, amount) {
          if (counted.has(paymentId) || !isIt(amount)) return own.resend(paymentId, amount);
          isUsed = true;
          counted.add(paymentId);
        },
      };
    },
  };
}

/** The server was started without an allowance. */
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
