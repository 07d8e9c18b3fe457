import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareDecimals, decimalOf, isDecimal, unitsOf } from '../../src/kernel/money.ts';
import { decimalString } from '../../src/wire/partner/parts.ts';

/** Amounts are decimals as text: at most 18 digits and 18 decimals, never negative, never floats. */

const digits = (least: number, most: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: least, maxLength: most });
const decimal = fc
  .tuple(fc.bigInt({ min: 0n, max: 999_999_999_999_999_999n }), fc.option(digits(1, 18), { nil: null }))
  .map(([whole, fraction]) => `${whole}${fraction === null ? '' : `.${fraction}`}`);

test('a decimal and its units are one value, to the last of 18 decimals', () => {
  fc.assert(
    fc.property(decimal, (text) => {
      expect(decimalString.safeParse(text).success).toBe(true);
      expect(compareDecimals(text, decimalOf(unitsOf(text)))).toBe(0);
    }),
  );
});

test('decimals are compared as decimals, not as text and not as floats', () => {
  expect(compareDecimals('10.50', '10.5')).toBe(0);
  expect(compareDecimals('9', '10')).toBe(-1);
  expect(compareDecimals('999999999999999999.000000000000000001', '999999999999999999')).toBe(1);
  expect(compareDecimals('0.1', '0.10000000000000001')).toBe(-1);
});

test('what is no amount is refused', () => {
  for (const text of ['', '-1', '+1', '1.', '.5', '01', '1e3', '1,5', ' 1', '1 ', '٣', 'NaN', '0x1', '1_000'])
    expect([text, isDecimal(text), decimalString.safeParse(text).success]).toEqual([text, false, false]);
  for (const text of ['1'.repeat(19), `0.${'1'.repeat(19)}`]) expect(isDecimal(text)).toBe(false);
  expect(decimalString.safeParse(1.5).success).toBe(false);
});
