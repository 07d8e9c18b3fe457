import type { PassengerField } from '../../kernel/domain/passengers.ts';
import { readDate } from '../searching/dates.ts';
import { countryNamed } from './country-names.ts';

/** What a typed field of a passenger says, in the form that is booked. */
export type TypedField =
  | { readonly kind: 'value'; readonly value: string }
  /** A date with two readings, both as YYYY-MM-DD. */
  | { readonly kind: 'either'; readonly days: readonly [string, string] }
  /** A date or a country that is none; a sentence that says so. */
  | { readonly kind: 'wrong'; readonly message: string };

/**
 * Reads a field of a passenger as people write it: a date with a month in words, a telephone number with spaces, a
 * country by its name, a passport number with dashes. What is left to be wrong with it, domain/passengers.ts says.
 */
export function typedField(field: PassengerField, text: string, nowMs: number): TypedField {
  switch (field) {
    case 'born_on':
    case 'passport_expiry': {
      const read = readDate(text, { nowMs, needsYear: true });
      if (read.kind === 'either') return read;
      if (read.kind === 'wrong') return { kind: 'wrong', message: `${read.message} ${read.fix}` };
      return { kind: 'value', value: read.day };
    }
    case 'phone_number':
      return { kind: 'value', value: phoneNumber(text) };
    case 'nationality': {
      const value = countryNamed(text);
      if (value !== null) return { kind: 'value', value };
      return {
        kind: 'wrong',
        message: 'No country has that name. Give its name or code, such as Portugal or PT.',
      };
    }
    case 'passport_number':
      return { kind: 'value', value: text.normalize('NFKC').replace(SEPARATORS, '').toUpperCase() };
    default:
      return { kind: 'value', value: text };
  }
}

const SEPARATORS = /[\s./\p{Pd}]/gu;

/** Without what makes it readable: `00351 912-345-678` and `+44 (0)20 7946 0958` are +351912345678 and +442079460958. */
const phoneNumber = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll('(0)', '')
    .replace(SEPARATORS, '')
    .replace(/[()]/g, '')
    .replace(/^00/, '+');

/** The passengers of a file with every field in the form that is booked; what cannot be read stays as it is. */
export const plainPassengers = (list: readonly unknown[], nowMs: number): unknown[] =>
  list.map((passenger) =>
    typeof passenger === 'object' && passenger !== null && !Array.isArray(passenger)
      ? Object.fromEntries(
          Object.entries(passenger).map(([field, value]) => [field, plainField(field, value, nowMs)]),
        )
      : passenger,
  );

function plainField(field: string, value: unknown, nowMs: number): unknown {
  if (typeof value !== 'string' || value === '') return value;
  const read = typedField(field as PassengerField, value, nowMs);
  return read.kind === 'value' ? read.value : value;
}
