import { problem } from './problems.ts';

declare const atomicUsdc: unique symbol;
/** USDC in atomic units: 1 USDC = 1,000,000. Never a float, never negative where a price is meant. */
type AtomicUsdc = bigint & { readonly [atomicUsdc]: true };

export const USDC_DECIMALS = 6;
const UNIT = 10n ** BigInt(USDC_DECIMALS);

/** Brands an integer amount that is already in atomic units. */
export const atomic = (value: bigint | number | string): AtomicUsdc => BigInt(value) as AtomicUsdc;

/**
 * Reads a decimal string such as `123.45` exactly.
 * @throws Problem `invalid_request` when it is not a plain decimal of at most 6 decimals.
 */
export function parseUsdc(decimal: string): AtomicUsdc {
  const match = /^(\d{1,12})(?:\.(\d{1,6}))?$/.exec(decimal.trim());
  if (!match) {
    throw problem('invalid_request', { message: `"${decimal}" is not an amount. Write it as 12.50.` });
  }
  return atomic(BigInt(match[1] ?? '0') * UNIT + BigInt((match[2] ?? '').padEnd(USDC_DECIMALS, '0')));
}

/** Writes an amount with two decimals, more only where they are not zero: `0.10`, `151.20`, `0.000001`. */
export function formatUsdc(amount: bigint): string {
  const sign = amount < 0n ? '-' : '';
  const absolute = amount < 0n ? -amount : amount;
  const fraction = (absolute % UNIT)
    .toString()
    .padStart(USDC_DECIMALS, '0')
    .replace(/0{1,4}$/, '');
  return `${sign}${absolute / UNIT}.${fraction}`;
}

/** Integer form for JSON and the database; every amount here is far below 2^53. */
export const asInteger = (amount: bigint): number => {
  const value = Number(amount);
  if (!Number.isSafeInteger(value)) throw new RangeError('amount beyond 2^53');
  return value;
};
