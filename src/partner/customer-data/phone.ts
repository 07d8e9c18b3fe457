import {
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/min';
import { alpha2Of } from '../../kernel/domain/countries.ts';
import { normal, type Rules, type Verdict, wrong } from './verdict.ts';

/**
 * Rules for a phone number (spec/partner-service.md, Customer data). `countryCode` is a calling code, with or without a
 * plus, or an ISO 3166-1 country; `number` is national or international, in any grouping. Kept as +code and the digits
 * after it.
 */
export const rules: Rules = {
  'phone.countryCode': (text) => {
    const code = callingCodeOf(text);
    return code === null
      ? wrong('must be a calling code, such as +351, or an ISO 3166-1 country.')
      : normal(`+${code}`);
  },
  'phone.number': (text, { phone }) => {
    const code = callingCodeOf(phone?.countryCode ?? '');
    // The field countryCode reports a bad code.
    return code === null ? normal(text) : nationalNumber(text.trim(), code);
  },
};

function nationalNumber(text: string, callingCode: string): Verdict {
  const written = /^\+?[\d\s().\-/‐‑]{3,30}$/.test(text);
  const parsed = written ? parsePhoneNumberFromString(text, { defaultCallingCode: callingCode }) : undefined;
  if (parsed?.isValid() !== true) return wrong('is not a valid number of that country.');
  return parsed.countryCallingCode === callingCode
    ? normal(parsed.nationalNumber)
    : wrong('begins with a calling code other than that of countryCode.');
}

function callingCodeOf(given: string): string | null {
  const text = given.trim();
  const digits = /^(?:\+|00)?([1-9]\d{0,2})$/.exec(text)?.[1];
  // The library throws on a calling code that no country has.
  if (digits !== undefined) return getCountries().some((one) => getCountryCallingCode(one) === digits) ? digits : null;
  const country = alpha2Of(text);
  return country !== null && isSupportedCountry(country) ? getCountryCallingCode(country) : null;
}
