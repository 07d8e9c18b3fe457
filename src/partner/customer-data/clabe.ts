import { weightedSum } from './check-digits.ts';
import { isClabeBank } from './clabe-banks-table.ts';
import { ungrouped } from './text.ts';
import { normal, type Verdict, wrong } from './verdict.ts';

/**
 * A CLABE, the account number of Mexico: a bank (3), a place (3), an account (11) and a check digit, for which
 * each digit is weighted 3-7-1 and only the last digit of each product counts.
 */
export function clabe(text: string): Verdict {
  const digits = ungrouped(text);
  if (!/^\d{18}$/.test(digits)) return wrong('must be 18 digits.');
  // Reducing each product first, as Banxico writes it, changes nothing of the sum's last digit.
  const sum = weightedSum(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7, 1, 3, 7]);
  if ((10 - (sum % 10)) % 10 !== Number(digits[17])) return wrong('has a check digit that does not match.');
  return isClabeBank(digits.slice(0, 3))
    ? normal(digits)
    : wrong('does not begin with the code of a Mexican bank.');
}
