import { isCountry } from '../../domain/countries.ts';
import { upperCase } from './text.ts';
import { normal, type Verdict, wrong } from './verdict.ts';

/**
 * Countries whose banks stand in each other's payment system: the IBAN begins with the first one's letters, the
 * code of the bank or the customer's own country may say another (SWIFT's IBAN registry, territories).
 */
const SYSTEMS = [
  'FR GF GP MQ RE MF BL PM YT NC PF WF TF MC',
  'GB GG JE IM',
  'FI AX',
  'IT SM VA',
  'CH LI',
  'ES IC EA',
  'NO SJ',
  'DK FO GL',
];

/** True where an account in one country (alpha-2) can be held at a bank of the other. */
export const shareBanks = (one: string, other: string): boolean =>
  one === other ||
  SYSTEMS.some((system) => system.split(' ').includes(one) && system.split(' ').includes(other));

/**
 * A BIC (ISO 9362): four letters, a country, two characters of place, and three more for a branch.
 * @param ibanCountry the first two letters of the IBAN beside it; null when that is not valid
 */
export function bic(text: string, ibanCountry: string | null): Verdict {
  const code = upperCase(text.replace(/\s/g, ''));
  if (code === null) return wrong('mixes upper and lower case.');
  if (!/^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$/.test(code)) return wrong('must be a BIC of 8 or 11 characters.');
  const country = code.slice(4, 6);
  // Kosovo has no code in ISO 3166, and XK everywhere in banking.
  if (!isCountry(country) && country !== 'XK') return wrong('has no country in its fifth and sixth letters.');
  return ibanCountry === null || shareBanks(ibanCountry, country)
    ? normal(code)
    : wrong('belongs to a bank in another country than the IBAN.');
}
