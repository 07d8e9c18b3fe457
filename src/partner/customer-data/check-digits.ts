import { normal, upperCase, type Verdict, wrong } from './verdict.ts';

/** Arithmetic that bank and tax numbers share. The functions take digits only, unless they say otherwise. */

/** Sums weighted characters: digits count as themselves, capitals as ASCII minus 48. A string has one-digit weights. */
export const weightedSum = (text: string, weights: string | readonly number[]): number =>
  [...weights].reduce<number>((sum, weight, place) => sum + Number(weight) * ((text.codePointAt(place) ?? 48) - 48), 0);

/** Picks the check character of a text: its index is the weighted sum modulo the number of `characters`. */
export const checkCharacter = (text: string, weights: string | readonly number[], characters: string): string =>
  characters.charAt(weightedSum(text, weights) % characters.length);

/** ISO/IEC 7812: doubles every second digit from the right; the sum of all digits must be a multiple of ten. */
export function isLuhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, place) => {
    const value = Number(digit) * (place % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** ISO 7064 MOD 11,10: the check digit is the last. */
export function isMod11And10(digits: string): boolean {
  let product = 10;
  for (const digit of digits.slice(0, -1)) {
    const sum = (Number(digit) + product) % 10 || 10;
    product = (2 * sum) % 11;
  }
  return (11 - product) % 10 === Number(digits.at(-1));
}

/** CRC-16 with the polynomial 0x1021 and no reflection, as in EMV (start 0xFFFF) and TON (XMODEM, start 0). */
export function crc16(bytes: Uint8Array, start: 0xffff | 0): number {
  let crc: number = start;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : crc << 1;
  }
  return crc;
}

/** Check digits modulo 11: 11 minus the remainder, or 0 if that has two digits. */
export const MOD_11 = '00987654321';

/** A CPF, the number of a Brazilian person: nine digits and two check digits, with or without dots and hyphen. */
export function cpf(text: string): Verdict {
  const digits = text.replace(/[\s.-]/g, '');
  if (!/^\d{11}$/.test(digits)) return wrong('must be the eleven digits of a CPF.');
  if (/^(\d)\1+$/.test(digits)) return wrong('is one digit repeated, which is not a CPF.');
  const first = checkCharacter(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2], MOD_11);
  const second = checkCharacter(digits, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2], MOD_11);
  return digits.endsWith(first + second) ? normal(digits) : wrong('has check digits that do not match.');
}

/**
 * A CNPJ, the number of a Brazilian company: twelve characters and two check digits. Since July 2026 the twelve may
 * include capitals, which count as their ASCII code minus 48 (Nota Técnica COCAD 49/2024).
 */
export function cnpj(text: string): Verdict {
  const code = upperCase(text.replace(/[\s./-]/g, ''));
  if (code === null || !/^[0-9A-Z]{12}\d\d$/.test(code)) {
    return wrong('must be the 14 characters of a CNPJ, the last two digits.');
  }
  if (/^(.)\1+$/.test(code)) return wrong('is one digit repeated, which is not a CNPJ.');
  const first = checkCharacter(code, '543298765432', MOD_11);
  const second = checkCharacter(code, '6543298765432', MOD_11);
  return code.endsWith(first + second) ? normal(code) : wrong('has check digits that do not match.');
}
