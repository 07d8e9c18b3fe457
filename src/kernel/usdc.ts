/** Amounts as text: below the problems, whose texts have amounts in them. */

export const USDC_DECIMALS = 6;

/** Amounts of partners' orders: at most 18 digits before the point and 18 after it, never floats (CONTRACT, section 11). */
export const ORDER_DECIMALS = 18;

/** Writes units of 10^-decimals as a decimal with at least so many places, more only where they are not zero. */
export function decimalOf(units: bigint, decimals: number = ORDER_DECIMALS, least = 0): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const fraction = digits
    .slice(digits.length - decimals)
    .replace(/0+$/, '')
    .padEnd(least, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, digits.length - decimals)}${fraction && `.${fraction}`}`;
}

/** Writes an amount with two decimals, more only where they are not zero: `0.10`, `151.20`, `0.000001`. */
export const formatUsdc = (amount: bigint): string => decimalOf(amount, USDC_DECIMALS, 2);

/** Writes an amount with its coin for a person: atomic units as a number, a decimal as it is. */
export type Usdc = (amount: bigint | number | string) => string;

export const plainUsdc: Usdc = (amount) => `${typeof amount === 'string' ? amount : formatUsdc(BigInt(amount))} USDC`;

/** Amounts of real money: `12.50 USDC (MAINNET)`. */
export const mainnetUsdc: Usdc = (amount) => `${plainUsdc(amount)} (MAINNET)`;
