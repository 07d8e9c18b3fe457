import { createHash } from 'node:crypto';
import type { CardIssuer } from '../flights/providers/browser/card.ts';

/** Numbers of a range that no bank has issued cards in; the last digit makes the sum that tills check. */
const RANGE = '400000';

function luhnDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, i) => {
    const doubled = Number(digit) * (i % 2 === 0 ? 2 : 1);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return String((10 - (sum % 10)) % 10);
}

/** Cards for a pretend till: the same reference has the same card, in every process. They are worth nothing. */
export const createSandboxCards = (): CardIssuer => ({
  isSandbox: true,
  async issue({ reference }) {
    const bits = createHash('sha256').update(`farelock sandbox card ${reference}`).digest();
    const digits = RANGE + String(bits.readUIntBE(0, 6) % 1_000_000_000).padStart(9, '0');
    return {
      number: digits + luhnDigit(digits),
      expiry: '2031-12',
      cvc: String(100 + (bits.readUInt16BE(6) % 900)),
      holder: 'Farelock Sandbox',
    };
  },
  // There is nobody to tell.
  revoke: async () => undefined,
});
