import { problem } from './problems.ts';
import { decimalOf, ORDER_DECIMALS, USDC_DECIMALS } from './usdc.ts';

export { decimalOf, formatUsdc, USDC_DECIMALS } from './usdc.ts';

declare const atomicUsdc: unique symbol;
/** Atomic USDC (1 USDC = 1,000,000): never a float, no negative prices. */
type AtomicUsdc = bigint & { readonly [atomicUsdc]: true };

export const atomic = (value: bigint | number | string): AtomicUsdc => BigInt(value) as AtomicUsdc;

/** Reads `123.45` exactly. @throws Problem `invalid_request` for other forms, or more than 6 decimals */
export function parseUsdc(decimal: string): AtomicUsdc {
  const text = decimal.trim();
  if (!/^\d{1,12}(\.\d{1,6})?$/.test(text))
    throw problem('invalid_request', { message: `"${decimal}" is not an amount. Write it as 12.50.` });
  return atomic(unitsOf(text, USDC_DECIMALS));
}

/** Writes lamports as SOL: `10`, `9.99999`. */
export const formatSol = (lamports: bigint): string => decimalOf(lamports, 9);

/** For JSON and the database; amounts are far below 2^53. */
export const asInteger = (amount: bigint): number => {
  const value = Number(amount);
  if (!Number.isSafeInteger(value)) throw new RangeError('amount beyond 2^53');
  return value;
};

/** A partner order's amount; the schema uses this too. */
export const DECIMAL_FORM = /^(0|[1-9]\d{0,17})(?:\.(\d{1,18}))?$/;

export const isDecimal = (text: string): boolean => DECIMAL_FORM.test(text);

/** Converts a valid decimal exactly to units of 10^-decimals. */
export function unitsOf(decimal: string, decimals: number = ORDER_DECIMALS): bigint {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  if (whole === undefined || fraction.length > decimals) throw new Error('not a decimal');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** Compares by value: `1.50` equals `1.5`. */
export function compareDecimals(a: string, b: string): -1 | 0 | 1 {
  const [x, y] = [unitsOf(a), unitsOf(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

export const sameDecimal = (a: string, b: string): boolean => compareDecimals(a, b) === 0;
