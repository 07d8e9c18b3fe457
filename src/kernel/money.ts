import { problem } from './problems.ts';

declare const atomicUsdc: unique symbol;
/** USDC in atomic units: 1 USDC = 1,000,000. Never a float, never negative where a price is meant. */
type AtomicUsdc = bigint & { readonly [atomicUsdc]: true };

export const USDC_DECIMALS = 6;

/** Brands an integer amount that is already in atomic units. */
export const atomic = (value: bigint | number | string): AtomicUsdc => BigInt(value) as AtomicUsdc;

/**
 * Reads a decimal string such as `123.45` exactly.
 * @throws Problem `invalid_request` when it is not a plain decimal of at most 6 decimals.
 */
export function parseUsdc(decimal: string): AtomicUsdc {
  const text = decimal.trim();
  if (!/^\d{1,12}(\.\d{1,6})?$/.test(text))
    throw problem('invalid_request', { message: `"${decimal}" is not an amount. Write it as 12.50.` });
  return atomic(unitsOf(text, USDC_DECIMALS));
}

/** Writes an amount with two decimals, more only where they are not zero: `0.10`, `151.20`, `0.000001`. */
export const formatUsdc = (amount: bigint): string => decimalOf(amount, USDC_DECIMALS, 2);

/** Lamports as SOL: `10`, `9.99999`. */
export const formatSol = (lamports: bigint): string => decimalOf(lamports, 9);

/** Integer form for JSON and the database; every amount here is far below 2^53. */
export const asInteger = (amount: bigint): number => {
  const value = Number(amount);
  if (!Number.isSafeInteger(value)) throw new RangeError('amount beyond 2^53');
  return value;
};

/** Amounts of partners' orders: at most 18 digits before the point and 18 after it, never floats (CONTRACT, section 11). */
const ORDER_DECIMALS = 18;
/** The form of such an amount; the schema checks it too. */
export const DECIMAL_FORM = /^(0|[1-9]\d{0,17})(?:\.(\d{1,18}))?$/;

export const isDecimal = (text: string): boolean => DECIMAL_FORM.test(text);

/** Reads a plain decimal exactly, as units of 10^-decimals. The caller has checked its form. */
export function unitsOf(decimal: string, decimals: number = ORDER_DECIMALS): bigint {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  if (whole === undefined || fraction.length > decimals) throw new Error('not a decimal');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** Writes units of 10^-decimals as a decimal with at least so many places, more only where they are not zero. */
export function decimalOf(units: bigint, decimals: number = ORDER_DECIMALS, least = 0): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const fraction = digits
    .slice(digits.length - decimals)
    .replace(/0+$/, '')
    .padEnd(least, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, digits.length - decimals)}${fraction && `.${fraction}`}`;
}

/** -1, 0 or 1: `1.50` and `1.5` are equal. */
export function compareDecimals(a: string, b: string): -1 | 0 | 1 {
  const [x, y] = [unitsOf(a), unitsOf(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

export const sameDecimal = (a: string, b: string): boolean => compareDecimals(a, b) === 0;
