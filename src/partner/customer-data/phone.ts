import {
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/min';
import { alpha2Of } from '../../kernel/domain/countries.ts';
import type { Findings } from './verdict.ts';

interface Phone {
  readonly countryCode: string;
  readonly number: string;
}

/**
 * A phone number (spec/partner-service.md, Customer data). `countryCode` is a calling code, with or without its
 * plus, or an ISO 3166-1 country; `number` is national or international, grouped as people write it. Kept as the
 * calling code with a plus, and the digits after it.
 */
export function checkPhone(phone: Phone, at: string, found: Findings): Phone {
  const callingCode = callingCodeOf(phone.countryCode.trim());
  if (callingCode === null) {
    found.wrong(`${at}.countryCode`, 'must be a calling code, such as +351, or an ISO 3166-1 country.');
    return phone;
  }
  const text = phone.number.trim();
  const written = /^\+?[\d\s().\-/‐‑]{3,30}$/.test(text);
  const parsed = written ? parsePhoneNumberFromString(text, { defaultCallingCode: callingCode }) : undefined;
  if (parsed?.isValid() !== true) {
    found.wrong(`${at}.number`, 'is not a valid number of that country.');
    return phone;
  }
  if (parsed.countryCallingCode !== callingCode) {
    found.wrong(`${at}.number`, 'begins with a calling code other than that of countryCode.');
    return phone;
  }
  return { countryCode: `+${callingCode}`, number: parsed.nationalNumber };
}

const isCallingCode = (digits: string): boolean =>
  getCountries().some((country) => getCountryCallingCode(country) === digits);

function callingCodeOf(text: string): string | null {
  const digits = /^(?:\+|00)?([1-9]\d{0,2})$/.exec(text)?.[1];
  // The library throws on a calling code that nobody has.
  if (digits !== undefined) return isCallingCode(digits) ? digits : null;
  const country = alpha2Of(text);
  return country !== null && isSupportedCountry(country) ? getCountryCallingCode(country) : null;
}
