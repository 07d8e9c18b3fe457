import { createHash } from 'node:crypto';
import type { CardIssuer } from '../../airlines/browser/index.ts';

const ISSUER = '9999';
const MOST_CENTS = 99_999_999;

/**
 * Makes a card of the sandbox's issuer: 9999, which no bank has, amount, serial and Luhn's digit. It pays exactly its
 * amount, once. A six-digit `serial` distinguishes cards with equal amounts.
 */
export function sandboxCard(amountCents: number, serial: number) {
  if (amountCents < 1 || amountCents > MOST_CENTS) throw new RangeError('an amount that no sandbox card holds');
  const body = `${ISSUER}${String(amountCents).padStart(8, '0')}${String(serial % 1_000_000).padStart(6, '0')}`;
  const number = body + luhnDigit(body);
  return { number, cvc: cvcOf(number) };
}

/** Cents; null for another bank's card. */
export function amountOnCard({ number, cvc }: { number: string; cvc: string }): number | null {
  if (!/^\d{19}$/.test(number) || !number.startsWith(ISSUER)) return null;
  if (luhnDigit(number.slice(0, -1)) !== number.at(-1) || cvc !== cvcOf(number)) return null;
  return Number(number.slice(4, 12));
}

export const cardDigest = (number: string): string => createHash('sha256').update(number).digest('hex').slice(0, 32);

const cvcOf = (number: string): string =>
  String(createHash('sha256').update(`cvc ${number}`).digest().readUInt32BE(0) % 1000).padStart(3, '0');

function luhnDigit(body: string): string {
  const sum = [...body].reverse().reduce((total, digit, i) => {
    const value = Number(digit) * (i % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return String((10 - (sum % 10)) % 10);
}

/** Worthless cards for the pretend till; a reference always gets the same card. */
export const createSandboxCards = (): CardIssuer => ({
  isSandbox: true,
  async issue({ reference, amountDecimal }) {
    const serial = createHash('sha256').update(`farelock sandbox card ${reference}`).digest().readUInt32BE(0);
    const cents = Math.min(MOST_CENTS, Math.max(1, Math.round(Number(amountDecimal) * 100)));
    return { ...sandboxCard(cents, serial), expiry: '2031-12', holder: 'Farelock Sandbox' };
  },
  revoke: async () => undefined,
});
