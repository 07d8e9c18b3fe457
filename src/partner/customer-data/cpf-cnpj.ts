import { weightedSum } from './check-digits.ts';
import { upperCase } from './text.ts';
import { normal, type Verdict, wrong } from './verdict.ts';

/** The Receita's modulo 11: 11 minus the remainder, and 0 where that has two digits. */
const checkDigit = (sum: number): string => (sum % 11 < 2 ? '0' : String(11 - (sum % 11)));

/** A Brazilian person's number: nine digits and two check digits; with or without its dots and hyphen. */
export function cpf(text: string): Verdict {
  const digits = text.replace(/[\s.-]/g, '');
  if (!/^\d{11}$/.test(digits)) return wrong('must be the eleven digits of a CPF.');
  if (/^(\d)\1+$/.test(digits)) return wrong('is one digit repeated, which is not a CPF.');
  const first = checkDigit(weightedSum(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]));
  const second = checkDigit(weightedSum(digits, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]));
  return digits.endsWith(first + second) ? normal(digits) : wrong('has check digits that do not match.');
}

/**
 * A Brazilian company's number: twelve characters and two check digits. Since July 2026 the twelve may hold
 * capitals, which count as their ASCII code minus 48 (Nota Técnica COCAD 49/2024).
 */
export function cnpj(text: string): Verdict {
  const code = upperCase(text.replace(/[\s./-]/g, ''));
  if (code === null || !/^[0-9A-Z]{12}\d\d$/.test(code)) {
    return wrong('must be the 14 characters of a CNPJ, the last two digits.');
  }
  if (/^(.)\1+$/.test(code)) return wrong('is one digit repeated, which is not a CNPJ.');
  const first = checkDigit(weightedSum(code, [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]));
  const second = checkDigit(weightedSum(code, [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]));
  return code.endsWith(first + second) ? normal(code) : wrong('has check digits that do not match.');
}
