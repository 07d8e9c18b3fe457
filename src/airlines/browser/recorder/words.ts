import type { RoundTrip } from '../../provider.ts';
import { queryValues } from '../flights.ts';
import { passengerValues } from '../page/index.ts';
import { filled, type Values } from '../recipes/index.ts';
import { contactValues } from '../to-till.ts';
import { inventedTravellers } from '../trial/index.ts';

/** A card for recordings: of the networks' test numbers, which no bank has given out. */
export const RECORDED_CARD = { number: '4000000000000002', expiry: '2031-12', cvc: '737', holder: 'Nomen Nescio' };

const DATES = [
  ...['YYYY-MM-DD', 'DD/MM/YYYY', 'MM/DD/YYYY', 'DD.MM.YYYY', 'D.M.YYYY', 'DD-MM-YYYY', 'YYYY/MM/DD', 'D/M/YYYY'],
  ...['DDMMYYYY', 'YYYYMMDD', 'D MMM YYYY', 'DD MMM YYYY', 'D MMMM YYYY', 'MMM D, YYYY', 'MMMM D, YYYY', 'MM/YY'],
  ...['MM/YYYY', 'MMYY', 'YYYY-MM', 'DD/MM/YY', 'D', 'DD', 'M', 'MM', 'MMM', 'MMMM', 'YYYY', 'YY'],
];
/** Formats that other words could be, too. */
const SHORT = /^(D|DD|M|MM|YY)$/;

/** The words to type: the journey, the invented traveller, and the card. */
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

/** Names that say nothing by themselves. */
const WEAK = new Set(['adults', 'passenger.number', 'passenger.index', 'passenger.title', 'passenger.gender']);

/** Our name for a typed text, such as `{passenger.born_on:DD/MM/YYYY}`; null: none of ours. */
export function placeholderOf(typed: string, values: Values, isOfCard = false): string | null {
  const names = Object.keys(values).filter((name) => name.startsWith('card.') === isOfCard && values[name]);
  // A form asks for contacts once, and for names of each passenger.
  const first = names.filter((name) => /^contact\.(email|phone)/.test(name));
  for (const name of [...first, ...names]) {
    const value = values[name] ?? '';
    if (WEAK.has(name) || bare(value) !== bare(typed)) continue;
    if (/^\d{4}-\d\d/.test(value) && value !== typed.trim()) continue;
    if (/\d/.test(value) || value === typed.trim()) return `{${name}}`;
    if (value.toUpperCase() === typed.trim()) return `{${name}:upper}`;
    return value.toLowerCase() === typed.trim() ? `{${name}:lower}` : `{${name}}`;
  }
  for (const format of DATES.filter((one) => !SHORT.test(one))) {
    for (const name of names) {
      const value = values[name] ?? '';
      if (/^\d{4}-\d\d(-\d\d)?$/.test(value) && filled(`{${name}:${format}}`, values) === typed.trim())
        return `{${name}:${format}}`;
    }
  }
  return null;
}

/** Digits that could be a real card's. */
export const isCardNumber = (typed: string): boolean => /^\d{13,19}$/.test(typed.replace(/[\s-]/g, ''));
