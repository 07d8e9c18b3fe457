/**
 * Decimals as strings, never floats (CONTRACT, section 11): at most 18 digits before the point and 18 after it.
 * Counted in units of 10^-18.
 */
const DECIMALS = 18;
const ONE = 10n ** BigInt(DECIMALS);
/** How an amount is written; the schema holds to it too. */
export const DECIMAL_FORM = /^(0|[1-9]\d{0,17})(?:\.(\d{1,18}))?$/;

export const isDecimal = (text: string): boolean => DECIMAL_FORM.test(text);

/** `10.5` in units of 10^-18. The text has passed the schema. */
export function unitsOf(text: string): bigint {
  const match = DECIMAL_FORM.exec(text);
  if (!match) throw new Error('not a decimal');
  return BigInt(match[1] ?? '0') * ONE + BigInt((match[2] ?? '').padEnd(DECIMALS, '0'));
}

/** The shortest decimal of so many units: no trailing zeros. */
export function decimalOf(units: bigint): string {
  const fraction = (units % ONE).toString().padStart(DECIMALS, '0').replace(/0+$/, '');
  return `${units / ONE}${fraction && `.${fraction}`}`;
}

/** -1, 0 or 1: `1.50` and `1.5` are equal. */
export function compareDecimals(a: string, b: string): -1 | 0 | 1 {
  const [x, y] = [unitsOf(a), unitsOf(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

export const sameDecimal = (a: string, b: string): boolean => compareDecimals(a, b) === 0;
