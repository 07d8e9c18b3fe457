import { normal, type Verdict, wrong } from './verdict.ts';

/**
 * Upper case, for codes in which case means nothing. Null when upper and lower case are mixed: a single changed
 * letter is then a typing error that no check digit would catch.
 */
export function upperCase(text: string): string | null {
  return /[a-z]/.test(text) && /[A-Z]/.test(text) ? null : text.toUpperCase();
}

/** Without the spaces, dots, hyphens and slashes that people group numbers with. */
export const ungrouped = (text: string): string => text.replace(/[\s.\-/]/g, '');

/** Without the brackets around a check digit at the end, as in the identity numbers of Hong Kong: `A123456(3)`. */
export const withoutBracket = (text: string): string => text.replace(/\(([0-9A-Za-z])\)$/, '$1');

/**
 * A line that a person wrote: its spaces tidied, in NFC, no control or direction characters. The joiners stay,
 * since Persian and Indic spelling needs them.
 * @param most characters at most
 */
export function line(text: string, most: number): Verdict {
  const tidy = text.normalize('NFC').trim().replace(/\s+/gu, ' ');
  if (/[\p{Cc}\p{Co}\p{Cn}\p{Cs}]|(?![\u200c\u200d])\p{Cf}/u.test(tidy)) {
    return wrong('has characters that cannot be printed.');
  }
  if (!/[\p{L}\p{N}]/u.test(tidy)) return wrong('must have a letter or a digit.');
  return [...tidy].length > most ? wrong(`has more than ${most} characters.`) : normal(tidy);
}
