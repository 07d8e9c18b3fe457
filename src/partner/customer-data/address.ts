import { alpha2Of } from '../../domain/countries.ts';
import { country } from './identity.ts';
import { POSTAL_CODES } from './postal-codes-table.ts';
import { SUBDIVISIONS } from './subdivisions-table.ts';
import { line } from './text.ts';
import { type Findings, isWrong, normal, type Verdict, wrong } from './verdict.ts';

interface Address {
  readonly streetLine1: string;
  readonly streetLine2?: string | undefined;
  readonly city: string;
  readonly postalCode?: string | undefined;
  readonly country: string;
  readonly subdivision?: string | undefined;
}

/** A postal code by the form of its country; `countryAlpha3` is empty when the country was refused. */
function postalCode(text: string, countryAlpha3: string): Verdict {
  const code = text.trim().replace(/\s+/g, ' ').toUpperCase();
  const form = POSTAL_CODES[countryAlpha3] ?? /^(?=.*[A-Z0-9])[A-Z0-9 -]{2,12}$/;
  // Many write the country in front, as D-10115 or SE-111 22.
  const bare = code.replace(/^[A-Z]{1,3}-(?=\d)/, '');
  const kept = [code, bare].find((one) => form.test(one));
  return kept === undefined ? wrong('is not a postal code of that country.') : normal(kept);
}

/**
 * A state or province: a name, or a code. A code with its country in front (ISO 3166-2) is of the address's country, and
 * of that country's list where there is one; so is a bare one that is written like the codes of such a list.
 */
function subdivision(text: string, countryAlpha3: string): Verdict {
  const plain = text.trim().replace(/[‐‑–]/g, '-');
  const written = /^(?:([A-Z]{2})-)?([A-Z0-9]{1,3})$/.exec(isOneCase(plain) ? plain.toUpperCase() : '');
  const [, prefix, code = ''] = written ?? [];
  if (prefix !== undefined && countryAlpha3 !== '' && alpha2Of(countryAlpha3) !== prefix)
    return wrong('is a state or province of another country.');
  const list = SUBDIVISIONS[countryAlpha3];
  if (written === null || list === undefined)
    return line(prefix === undefined ? text : plain.toUpperCase(), 100);
  const isCode = prefix !== undefined || [...list].some((one) => one.length === code.length);
  if (isCode && !list.has(code)) return wrong('is not a code of a state or province of that country.');
  return isCode ? normal(written[0]) : line(text, 100);
}

/** `US-CA` and `us-ca` are codes; `Al-Jof` is a name. */
const isOneCase = (text: string): boolean => text === text.toUpperCase() || text === text.toLowerCase();

/** A home address; streets and cities are in any script. Kept with its country as alpha-3. */
export function checkAddress(address: Address, at: string, found: Findings): Address {
  const verdict = country(address.country);
  const alpha3 = isWrong(verdict) ? '' : verdict.normal;
  found.take(`${at}.country`, verdict);
  if (address.postalCode === undefined && POSTAL_CODES[alpha3] !== undefined) {
    found.wrong(`${at}.postalCode`, 'is missing: every address in that country has one.');
  }
  return {
    streetLine1: found.take(`${at}.streetLine1`, line(address.streetLine1, 200)),
    ...(address.streetLine2 !== undefined && {
      streetLine2: found.take(`${at}.streetLine2`, line(address.streetLine2, 200)),
    }),
    city: found.take(`${at}.city`, line(address.city, 100)),
    ...(address.postalCode !== undefined && {
      postalCode: found.take(`${at}.postalCode`, postalCode(address.postalCode, alpha3)),
    }),
    country: alpha3,
    ...(address.subdivision !== undefined && {
      subdivision: found.take(`${at}.subdivision`, subdivision(address.subdivision, alpha3)),
    }),
  };
}
