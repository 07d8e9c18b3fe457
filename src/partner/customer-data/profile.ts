import { isRealDate, yearsLater } from '../../kernel/clock.ts';
import { alpha2Of, alpha3Of } from '../../kernel/domain/countries.ts';
import places from './addresses.json' with { type: 'json' };
import type { CustomerData } from './schema.ts';
import {
  countryAlpha3,
  type DataContext,
  emailAddress,
  line,
  type Missing,
  normal,
  type Rules,
  todayOf,
  type Verdict,
  wrong,
} from './verdict.ts';

/** Rules for what customers say about themselves. The schema alone checks kinds with a single enum value. */
export const rules: Rules = {
  'email.value': emailAddress,
  'name.firstName': personName,
  'name.lastName': personName,
  'birthDate.date': birthDate,
  'nationality.country': countryAlpha3,
  'residentialAddress.country': country,
  'residentialAddress.streetLine1': words,
  'residentialAddress.streetLine2': words,
  'residentialAddress.city': (text) => line(text, 100),
  'residentialAddress.postalCode': (text, data) => postalCode(text, countryOf(data)),
  'residentialAddress.subdivision': (text, data) => subdivision(text, countryOf(data)),
  'lastOccupation.code': occupationCode,
  'occupation.companyName': words,
  'occupation.industry': words,
  'occupation.employmentStatus': words,
  'occupation.jobTitle': words,
  'accountPurpose.other': words,
  'employmentStatus.other': words,
};

export const missing: Missing = {
  'name.firstName': ({ name }) => name?.lastName === undefined && 'is missing: give firstName, lastName or both.',
  'residentialAddress.postalCode': (data) =>
    PLACES[countryOf(data)]?.postalCode !== undefined && 'is missing: every address in that country has one.',
};

/** A person's own words, in any script. */
function words(text: string): Verdict {
  return line(text, 200);
}

const LEAST_AGE_YEARS = 18;
const MOST_AGE_YEARS = 120;

// Any script: letters and their marks, joined by the punctuation of names (d'Arc, Smith-Jones, Jr., Gal·la, a/l,
// ジョン・ポール, ז׳בוטינסקי).
const NAME = /^['’‘]?\p{L}(?:\u200c|\u200d|[\p{L}\p{M}'’‘´`.·・･׳״‐‑–,/ -])*$/u;

/** A first or last name as in the document, up to 100 characters. */
function personName(text: string): Verdict {
  const tidy = line(text, 100);
  if ('wrong' in tidy) return tidy;
  return NAME.test(tidy.normal)
    ? tidy
    : wrong('must be letters of any script, with spaces, hyphens, apostrophes or dots between them.');
}

/** The birth date of an adult: at least 18 today (UTC; born on 29 February counts from 1 March), at most 120. */
function birthDate(text: string, _data: CustomerData, context: DataContext): Verdict {
  const today = todayOf(context);
  if (!isRealDate(text)) return wrong('must be a real date, written as YYYY-MM-DD.');
  if (text >= today) return wrong('must be in the past.');
  if (yearsLater(text, MOST_AGE_YEARS) < today) return wrong(`is more than ${MOST_AGE_YEARS} years ago.`);
  return yearsLater(text, LEAST_AGE_YEARS) <= today
    ? normal(text)
    : wrong(`makes the customer younger than ${LEAST_AGE_YEARS}.`);
}

/** A country in either ISO 3166-1 code (the specification leaves it open); kept as alpha-3. */
function country(text: string): Verdict {
  const code = alpha3Of(text);
  return code === null ? wrong('must be an ISO 3166-1 code, such as PRT.') : normal(code);
}

/** The six digits of an occupation code, also grouped as `15-1252`. */
function occupationCode(text: string): Verdict {
  const digits = text.replace(/[\s.-]/g, '');
  return /^\d{6}$/.test(digits) ? normal(digits) : wrong('must be six digits.');
}

/**
 * By alpha-3 country: the format of postal codes, if every address has one, and the codes of states (ISO 3166-2 without
 * the country), if addresses or partners use them. India's include the codes from before 2023.
 */
const PLACES: Readonly<Record<string, { readonly postalCode?: string; readonly subdivisions?: string }>> = places;

/** The alpha-3 country of the address; empty if it is not valid. */
const countryOf = ({ residentialAddress }: CustomerData): string => alpha3Of(residentialAddress?.country ?? '') ?? '';

/** A postal code in its country's format, or 2 to 12 letters, digits, spaces and hyphens if none is known. */
function postalCode(text: string, countryAlpha3: string): Verdict {
  const code = text.trim().replace(/\s+/g, ' ').toUpperCase();
  const form = new RegExp(PLACES[countryAlpha3]?.postalCode ?? '^(?=.*[A-Z0-9])[A-Z0-9 -]{2,12}$');
  // Many write the country in front, as D-10115 or SE-111 22.
  const bare = code.replace(/^[A-Z]{1,3}-(?=\d)/, '');
  const kept = [code, bare].find((one) => form.test(one));
  return kept === undefined ? wrong('is not a postal code of that country.') : normal(kept);
}

/**
 * A state or province, by name or code. A code with its country (ISO 3166-2), or a bare code as long as those in the
 * country's list, must belong to the address's country and be in its list, if there is one.
 */
function subdivision(text: string, countryAlpha3: string): Verdict {
  const plain = text.trim().replace(/[‐‑–]/g, '-');
  const written = /^(?:([A-Z]{2})-)?([A-Z0-9]{1,3})$/.exec(isOneCase(plain) ? plain.toUpperCase() : '');
  const [, prefix, code = ''] = written ?? [];
  if (prefix !== undefined && countryAlpha3 !== '' && alpha2Of(countryAlpha3) !== prefix)
    return wrong('is a state or province of another country.');
  const list = PLACES[countryAlpha3]?.subdivisions?.split(' ');
  if (written === null || list === undefined) return line(prefix === undefined ? text : plain.toUpperCase(), 100);
  const isCode = prefix !== undefined || list.some((one) => one.length === code.length);
  if (isCode && !list.includes(code)) return wrong('is not a code of a state or province of that country.');
  return isCode ? normal(written[0]) : line(text, 100);
}

/** `US-CA` and `us-ca` are codes; `Al-Jof` is a name. */
const isOneCase = (text: string): boolean => text === text.toUpperCase() || text === text.toLowerCase();
