/** Amounts as text, for `problems.ts`, which `money.ts` imports. */

export const USDC_DECIMALS = 6;

/** Partner orders' amounts have up to 18 digits on each side, never floats (CONTRACT, section 11). */
export const ORDER_DECIMALS = 18;

/** Writes units of 10^-decimals with at least `least` places, and without further trailing zeros. */
export function decimalOf(units: bigint, decimals: number = ORDER_DECIMALS, least = 0): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const fraction = digits
    .slice(digits.length - decimals)
    .replace(/0+$/, '')
    .padEnd(least, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, digits.length - decimals)}${fraction && `.${fraction}`}`;
}

/** Writes at least two decimals: `0.10`, `151.20`, `0.000001`. */
export const formatUsdc = (amount: bigint): string => decimalOf(amount, USDC_DECIMALS, 2);

/** Writes an amount with its coin: numbers are atomic units, texts decimals. */
export type Usdc = (amount: bigint | number | string) => string;

export const plainUsdc: Usdc = (amount) => `${typeof amount === 'string' ? amount : formatUsdc(BigInt(amount))} USDC`;

/** Real money: `12.50 USDC (MAINNET)`. */
export const mainnetUsdc: Usdc = (amount) => `${plainUsdc(amount)} (MAINNET)`;
