import type { RoundTrip } from '../../provider.ts';
import { queryValues } from '../flights.ts';
import { passengerValues } from '../page/index.ts';
import { escaped, filled, PLACE, type Values } from '../recipes/index.ts';
import { contactValues } from '../to-till.ts';
import { inventedTravellers } from '../trial/index.ts';

/** A card for recordings, with a test number that no bank has issued. */
export const RECORDED_CARD = { number: '4000000000000002', expiry: '2031-12', cvc: '737', holder: 'Nomen Nescio' };

/** Date formats without separators. */
const RUNS = ['YYYYMMDD', 'DDMMYYYY', 'MMDDYYYY', 'DDMMYY', 'MMYY', 'MMYYYY'];
const TOKENS = ['YYYY', 'MMMM', 'MMM', 'DD', 'MM', 'D', 'M', 'YY', 'dddd', 'ddd'];
/** Dates with a month's name or a single digit: leading zeros are rare there. */
const SHORT = ['YYYY', 'MMMM', 'MMM', 'D', 'M', 'DD', 'MM', 'YY', 'dddd', 'ddd'];

/** Values to type: the journey, the invented traveller, and the card. */
export function recordedValues(query: RoundTrip): Values {
  const [traveller] = inventedTravellers(1);
  return {
    ...queryValues(query),
    ...(traveller && passengerValues(traveller, 0)),
    ...contactValues(traveller, null),
    ...Object.fromEntries(Object.entries(RECORDED_CARD).map(([field, value]) => [`card.${field}`, value])),
  };
}

const bare = (text: string): string => text.replace(/[\s.-]/g, '').toLowerCase();

/** Names whose values are too common to be recognised. */
const WEAK = /^adults$|\.(number|index|title|gender|phone_country)$|:iso$/;

/** Our name for a typed text, such as `{passenger.born_on:DD/MM/YYYY}`; null if it is not our value. */
export function placeholderOf(typed: string, values: Values, isOfCard = false): string | null {
  const names = Object.keys(values).filter((name) => name.startsWith('card.') === isOfCard && values[name]);
  // A form asks for a contact once, but for the names of each passenger.
  const first = names.filter((name) => /^contact\.(email|phone)/.test(name));
  for (const name of [...first, ...names]) {
    const value = values[name] ?? '';
    if ((!isOfCard && WEAK.test(name)) || bare(value) !== bare(typed)) continue;
    if (/^\d{4}-\d\d/.test(value) && value !== typed.trim()) continue;
    if (/\d/.test(value) || value === typed.trim()) return `{${name}}`;
    if (value.toUpperCase() === typed.trim()) return `{${name}:upper}`;
    return value.toLowerCase() === typed.trim() ? `{${name}:lower}` : `{${name}}`;
  }
  for (const name of names) {
    const format = dateFormat(typed.trim(), values[name] ?? '');
    if (format !== null && (isOfCard || /[YD].*M|M.*[YD]|YYYY/.test(format))) return `{${name}:${format}}`;
  }
  return isOfCard ? null : composed(typed, values);
}

/** The format in which a date was typed; null if the text is not that date. */
function dateFormat(typed: string, value: string): string | null {
  if (!/^\d{4}-\d\d(-\d\d)?$/.test(value)) return null;
  const written = (format: string) => filled(`{date:${format}}`, { date: value }).toLowerCase();
  const run = RUNS.find((format) => written(format) === typed);
  if (run !== undefined) return run;
  const tokens = /\p{L}|(?<!\d)\d(?!\d)/u.test(typed) ? SHORT : TOKENS;
  const parts = new Set<string>();
  const format = typed.replace(/[\p{L}\p{N}]+/gu, (part) => {
    const token = tokens.find((one) => !parts.has(one.charAt(0)) && written(one) === part.toLowerCase());
    parts.add(token?.charAt(0) ?? 'none');
    return token ?? part;
  });
  return parts.has('none') || parts.size === 0 ? null : format;
}

/** The part of a date that a field asks for, such as the month of birth; null if it asks for none. */
export function datePart(typed: string, words: string, values: Values): string | null {
  if (!/day|month|year|birth|born|expir|valid|tag|monat|jahr|date|dob/i.test(words)) return null;
  const names = ['passenger.born_on', 'passenger.passport_expiry'];
  for (const name of /expir|valid|passport/i.test(words) ? names.reverse() : names) {
    const format = dateFormat(typed.trim(), values[name] ?? '');
    if (format !== null) return `{${name}:${format}}`;
  }
  return null;
}

/** Replaces values in a text, such as a full name, by their names; null if it has other words, too. */
function composed(typed: string, values: Values): string | null {
  const names = ['passenger.given_name', 'passenger.family_name', 'origin_city', 'destination_city', 'origin'];
  const nameOf = new Map(
    [...names, 'destination'].flatMap((name) => (values[name] ? [[values[name].toLowerCase(), name] as const] : [])),
  );
  const any = new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${[...nameOf.keys()].map(escaped).join('|')})(?![\\p{L}\\p{N}])`,
    'giu',
  );
  const text = typed
    .trim()
    .replace(/[{}]/g, '')
    .replace(any, (found) => {
      const name = nameOf.get(found.toLowerCase()) ?? '';
      const format = found === values[name] ? '' : found === found.toUpperCase() ? ':upper' : '';
      return `{${name}${format}}`;
    });
  return text.includes('{') && !/[\p{L}\p{N}]/u.test(text.replaceAll(PLACE, '')) ? text : null;
}

/** True for a text with a value of this journey or traveller, which the next one will not have. */
export function hasValue(text: string, values: Values): boolean {
  const words = ` ${text.toLowerCase().replace(/[^\p{L}\p{N}@.+-]+/gu, ' ')} `;
  return Object.entries(values).some(
    ([name, value = '']) =>
      (!name.startsWith('card.') && value.length > 2 && words.includes(` ${value.toLowerCase()} `)) ||
      // An airport's code may follow what was in the field before.
      (/^(origin|destination)$/.test(name) && value !== '' && text.includes(value)),
  );
}

export const isCardNumber = (typed: string): boolean => /^\d{13,19}$/.test(typed.replace(/[\s-]/g, ''));
