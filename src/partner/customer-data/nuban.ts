import { weightedSum } from './check-digits.ts';
import { ungrouped } from './text.ts';
import { isWrong, normal, type Verdict, wrong } from './verdict.ts';

/** A NUBAN account with the code of its institution, since the check digit is computed over both. */
interface Nuban {
  readonly accountNumber: string;
  readonly bankCode: string;
}

/**
 * Institutions that give a customer's mobile number without its leading zero as account number, by the codes of
 * NIBSS and of payment gateways. Such a number has no check digit.
 */
const PHONE_NUMBER_BANKS = '100004 100033 120001 120002 120003 120004 120005 999991 999992'.split(' ');

/** The code of a Nigerian institution: 3 digits for a bank, 5 for another institution, or the six of the standard. */
export function nigerianBankCode(text: string): Verdict {
  const digits = ungrouped(text);
  if (!/^(\d{3}|\d{5}|\d{6})$/.test(digits)) return wrong('must be 3, 5 or 6 digits.');
  const known = digits.length !== 6 || /^(000|9)/.test(digits) || PHONE_NUMBER_BANKS.includes(digits);
  if (!known) return wrong('must, with six digits, be 000 and a bank code, or 9 and a code of five digits.');
  return /^0+$/.test(digits) ? wrong('is all zeros.') : normal(digits);
}

/**
 * A Nigerian account number under the Central Bank's revised standard of 2020: six digits of the institution (000
 * and a bank's three, or 9 and another institution's five) and nine of the account, weighted 3-7-3, and a tenth
 * that makes the sum a multiple of ten. For a bank this is the rule of 2010, since the zeros weigh nothing.
 */
export function nubanAccount({ accountNumber, bankCode }: Nuban): Verdict {
  const digits = ungrouped(accountNumber);
  if (!/^\d{10}$/.test(digits)) return wrong('must be ten digits.');
  if (digits === '0000000000') return wrong('is all zeros.');
  const code = nigerianBankCode(bankCode);
  // The code is refused under its own name; without it there is nothing to compute.
  if (isWrong(code)) return normal(digits);
  if (PHONE_NUMBER_BANKS.includes(code.normal) && /^[789][01]\d{8}$/.test(digits)) return normal(digits);
  const institution = code.normal.length === 5 ? `9${code.normal}` : code.normal.padStart(6, '0');
  const sum = weightedSum(institution + digits, [3, 7, 3, 3, 7, 3, 3, 7, 3, 3, 7, 3, 3, 7, 3, 1]);
  return sum % 10 === 0 ? normal(digits) : wrong('has a check digit that does not match this bank.');
}
