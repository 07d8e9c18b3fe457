import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import type { Values } from './values.ts';

/**
 * Splits a phone number. `phone_country` is the calling code (351), with `:iso` the country (PT). `phone_national` is
 * the number within the country (912345678), with `:local` as dialled there (07911123456). An invalid number has no
 * parts.
 */
export function phoneParts(prefix: string, number: string | undefined): Values {
  const phone = parsePhoneNumberFromString(number ?? '');
  if (!phone) return {};
  return {
    [`${prefix}.phone_country`]: phone.countryCallingCode,
    [`${prefix}.phone_country:iso`]: phone.country,
    [`${prefix}.phone_national`]: phone.nationalNumber,
    [`${prefix}.phone_national:local`]: phone.formatNational().replace(/\D/g, ''),
  };
}
