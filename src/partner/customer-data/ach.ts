import { weightedSum } from './check-digits.ts';
import { ungrouped } from './text.ts';
import { normal, type Verdict, wrong } from './verdict.ts';

/**
 * A routing number of the American Bankers Association: nine digits, weights 3-7-1, and a first pair that the
 * Federal Reserve gives out (00-12 districts, 21-32 thrifts, 61-72 electronic, 80 traveller's cheques).
 */
export function routingNumber(text: string): Verdict {
  const digits = ungrouped(text);
  if (!/^\d{9}$/.test(digits)) return wrong('must be nine digits.');
  const pair = Number(digits.slice(0, 2));
  const given = pair <= 12 || (pair >= 21 && pair <= 32) || (pair >= 61 && pair <= 72) || pair === 80;
  if (!given || digits === '000000000')
    return wrong('begins with a pair that no Federal Reserve district uses.');
  return weightedSum(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0
    ? normal(digits)
    : wrong('has a check digit that does not match.');
}

/** An account number at an American bank: 4 to 17 digits; there is no check digit. */
export function achAccountNumber(text: string): Verdict {
  const digits = ungrouped(text);
  if (!/^\d{4,17}$/.test(digits)) return wrong('must be 4 to 17 digits.');
  return /^0+$/.test(digits) ? wrong('is all zeros.') : normal(digits);
}
