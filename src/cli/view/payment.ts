import type { PaymentReceipt } from '../../client/types.ts';
import { money } from './fares.ts';

/** `Paid 0.10 USDC.` with the transaction to look it up by; nothing where no money moved. */
export function costLines(payment: PaymentReceipt | null): string[] {
  if (!payment) return [];
  const transaction = payment.transaction ? ` · ${payment.transaction}` : '';
  return [`Paid ${money(payment.amount)} USDC${transaction}`];
}

/** The next command, to copy. */
export const nextLines = (...commands: readonly string[]): string[] =>
  commands.map((command, index) => `${index === 0 ? 'Next:' : '     '} ${command}`);

/** Under --json: what was paid stands beside the service's own fields. */
export const withPayment = <T extends object>(
  value: T,
  payment: PaymentReceipt | null,
): T & { payment?: PaymentReceipt } => (payment ? { ...value, payment } : { ...value });
