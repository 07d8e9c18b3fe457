import { isRealDate } from '../../kernel/domain/calendar.ts';
import { alpha3Of } from '../../kernel/domain/countries.ts';
import { line, ungrouped, withoutBracket } from './text.ts';
import { type DataContext, normal, todayOf, type Verdict, wrong } from './verdict.ts';

const LEAST_AGE_YEARS = 18;
const MOST_AGE_YEARS = 120;

// Any script: letters and their marks, joined by the punctuation of names (d'Arc, Smith-Jones, Jr., Gal·la, a/l,
// ジョン・ポール, ז׳בוטינסקי).
const NAME = /^['’‘]?\p{L}(?:\u200c|\u200d|[\p{L}\p{M}'’‘´`.·・･׳״‐‑–,/ -])*$/u;

/** A first or last name as in the document, up to 100 characters. */
export function personName(text: string): Verdict {
  const tidy = line(text, 100);
  if ('wrong' in tidy) return tidy;
  return NAME.test(tidy.normal)
    ? tidy
    : wrong('must be letters of any script, with spaces, hyphens, apostrophes or dots between them.');
}

/** The birth date of an adult: at least 18 today (UTC; born on 29 February counts from 1 March), at most 120. */
export function birthDate(text: string, context: DataContext): Verdict {
  const today = todayOf(context);
  if (!isRealDate(text)) return wrong('must be a real date, written as YYYY-MM-DD.');
  if (text >= today) return wrong('must be in the past.');
  if (yearsLater(text, MOST_AGE_YEARS) < today) return wrong(`is more than ${MOST_AGE_YEARS} years ago.`);
  return yearsLater(text, LEAST_AGE_YEARS) <= today
    ? normal(text)
    : wrong(`makes the customer younger than ${LEAST_AGE_YEARS}.`);
}

// Dates of this form compare as text, also one that its later year doesn't have.
const yearsLater = (date: string, years: number): string =>
  `${String(Number(date.slice(0, 4)) + years).padStart(4, '0')}${date.slice(4)}`;

/** A country where the specification says alpha-3. */
export const countryAlpha3 = (text: string): Verdict =>
  text.length === 3 && alpha3Of(text) !== null
    ? normal(text)
    : wrong('must be an ISO 3166-1 alpha-3 code, such as PRT.');

/** A country where the specification does not say which code; kept as alpha-3. */
export function country(text: string): Verdict {
  const code = alpha3Of(text);
  return code === null ? wrong('must be an ISO 3166-1 code, such as PRT.') : normal(code);
}

/** The number of a document: 4 to 30 letters (of any script) and digits, at least one a digit; kept in capitals. */
export function documentNumber(text: string): Verdict {
  const code = withoutBracket(ungrouped(text.normalize('NFC'))).toUpperCase();
  return /^(?=.*\p{Nd})[\p{L}\p{Nd}]{4,30}$/u.test(code)
    ? normal(code)
    : wrong('must be 4 to 30 letters and digits, at least one of them a digit.');
}

/** The last day on which a document is valid: a real date, today (UTC) or later. */
export function expiryDate(text: string, context: DataContext): Verdict {
  if (!isRealDate(text)) return wrong('must be a real date, written as YYYY-MM-DD.');
  return text >= todayOf(context) ? normal(text) : wrong('has passed: the document has expired.');
}
