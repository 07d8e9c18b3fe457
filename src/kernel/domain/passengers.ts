import { isRealDate, yearsLater } from '../clock.ts';
import { alpha3Of, isCountry } from './countries.ts';

export { isRealDate } from '../clock.ts';

/**
 * Rules for a bookable passenger (spec/flight-service.md, Passenger; CONTRACT, section 6). The tool runs these
 * rules before it pays, the service before it charges: one text, so that they can't disagree.
 */

type PassengerIssueCode =
  | 'invalid_request'
  | 'duplicate_passenger'
  | 'passenger_count_mismatch'
  | 'travel_document_required'
  | 'travel_document_expired';

export interface PassengerIssue {
  /** `passengers`, `passengers.0` or `passengers.0.born_on`. */
  readonly path: string;
  readonly message: string;
  /** The problem that the service answers with when this issue is the first one. */
  readonly code: PassengerIssueCode;
}

export interface PassengerRules {
  /** How many the intent was made for. */
  readonly count: number;
  /** YYYY-MM-DD of the first departure; null where it isn't known, and age is then left to the service. */
  readonly departureDate: string | null;
  /** Lowcost offers need nationality, passport_number and passport_expiry. */
  readonly documentsRequired: boolean;
  /** YYYY-MM-DD, UTC. */
  readonly today: string;
}

export const TITLES = ['mr', 'mrs', 'ms', 'miss', 'dr'] as const;
const GENDERS = ['m', 'f'] as const;
export const BASE_FIELDS = [
  'given_name',
  'family_name',
  'born_on',
  'title',
  'gender',
  'email',
  'phone_number',
] as const;
export const DOCUMENT_FIELDS = ['nationality', 'passport_number', 'passport_expiry'] as const;
export type PassengerField = (typeof BASE_FIELDS)[number] | (typeof DOCUMENT_FIELDS)[number];

/** A passenger in whom nothing was wrong; an undisclosed document may also be null. */
type CheckedPassenger = Readonly<Record<(typeof BASE_FIELDS)[number], string>> & {
  readonly [field in (typeof DOCUMENT_FIELDS)[number]]?: string | null;
};

type BookablePassenger = Readonly<Record<(typeof BASE_FIELDS)[number], string>> & {
  readonly [field in (typeof DOCUMENT_FIELDS)[number]]?: string;
};

const areChecked = (
  _list: readonly unknown[],
  issues: readonly PassengerIssue[],
): _list is readonly CheckedPassenger[] => issues.length === 0;

/**
 * The passengers of a list that was checked, as the service takes them: a document that is null is left out.
 * @param issues what `checkPassengers` has said of this very list
 * @returns null where something is wrong
 */
export function bookablePassengers(
  list: readonly unknown[],
  issues: readonly PassengerIssue[],
): BookablePassenger[] | null {
  if (!areChecked(list, issues)) return null;
  return list.map(({ nationality, passport_number, passport_expiry, ...base }) => ({
    ...base,
    ...(nationality != null && { nationality }),
    ...(passport_number != null && { passport_number }),
    ...(passport_expiry != null && { passport_expiry }),
  }));
}

const LEAST_AGE_YEARS = 12;
const MOST_AGE_YEARS = 120;
const LATIN = String.raw`(?:(?=\p{L})\p{Script=Latin}\p{M}*)`;
const NAME = new RegExp(`^${LATIN}(?:[ '’-]?${LATIN})*$`, 'u');
const EMAIL =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)+$/;

/**
 * Checks one field's text; null when it is fine, else what is wrong with it. The phone number library is loaded
 * only when there is a phone number to look at.
 */
export async function checkPassengerField(
  field: PassengerField,
  value: string,
  rules: Pick<PassengerRules, 'departureDate' | 'today'>,
): Promise<string | null> {
  switch (field) {
    case 'given_name':
    case 'family_name':
      if ([...value].length > 40) return 'has more than 40 letters.';
      return NAME.test(value.normalize('NFC'))
        ? null
        : 'must be 1 to 40 letters of Latin script, with spaces, hyphens or apostrophes between them.';
    case 'born_on':
      return checkBirthDate(value, rules);
    case 'title':
      return isOneOf(TITLES, value) ? null : `must be one of ${TITLES.join(', ')}.`;
    case 'gender':
      return isOneOf(GENDERS, value) ? null : 'must be m or f.';
    case 'email':
      return value.length <= 254 && EMAIL.test(value) && !/^\.|\.\.|\.@/.test(value)
        ? null
        : 'is not an e-mail address.';
    case 'phone_number':
      return (await isPhoneNumber(value))
        ? null
        : 'is not a valid number in international form, such as +351912345678.';
    case 'nationality':
      return isCountry(value) ? null : 'must be an ISO 3166-1 country code, such as PT or PRT.';
    case 'passport_number':
      return /^[A-Z0-9]{5,15}$/i.test(value) ? null : 'must be 5 to 15 letters and digits.';
    case 'passport_expiry':
      if (!isRealDate(value)) return 'must be a date that exists, as YYYY-MM-DD.';
      return value > rules.today ? null : 'has expired.';
  }
}

function checkBirthDate(value: string, rules: Pick<PassengerRules, 'departureDate' | 'today'>): string | null {
  if (!isRealDate(value)) return 'must be a date that exists, as YYYY-MM-DD.';
  if (value >= rules.today) return 'must be in the past.';
  if (yearsLater(value, MOST_AGE_YEARS) < rules.today) return `is more than ${MOST_AGE_YEARS} years ago.`;
  // Dates of this form compare as text; someone born on 29 February comes of age on 1 March.
  if (rules.departureDate !== null && yearsLater(value, LEAST_AGE_YEARS) > rules.departureDate) {
    return `makes this passenger younger than ${LEAST_AGE_YEARS} on the day of departure.`;
  }
  return null;
}

const isOneOf = (values: readonly string[], value: string): boolean => values.includes(value);

async function isPhoneNumber(value: string): Promise<boolean> {
  if (!/^\+[1-9]\d{6,14}$/.test(value)) return false;
  const { isValidPhoneNumber } = await import('libphonenumber-js/min');
  return isValidPhoneNumber(value);
}

/**
 * Everything that is wrong with a passenger list, in the order of the list: an empty answer means that it can be
 * booked. Takes what JSON gave; nothing about its shape is assumed. No issue repeats a value.
 */
export async function checkPassengers(list: readonly unknown[], rules: PassengerRules): Promise<PassengerIssue[]> {
  const issues: PassengerIssue[] = [];
  if (list.length !== rules.count) {
    issues.push({
      path: 'passengers',
      message: `must have exactly ${rules.count} ${rules.count === 1 ? 'entry' : 'entries'}, and has ${list.length}.`,
      code: 'passenger_count_mismatch',
    });
  }
  const seen = new Map<string, number>();
  /** The first passenger in the list with the same mark; this one is kept in mind when there is none. */
  const earlier = (mark: string | null, index: number): number | undefined => {
    const first = mark === null ? undefined : seen.get(mark);
    if (mark !== null && first === undefined) seen.set(mark, index);
    return first;
  };
  for (const [index, passenger] of list.entries()) {
    issues.push(...(await checkOne(passenger, `passengers.${index}`, rules)));
    const twin = earlier(travellerIdentity(passenger), index);
    const holder = earlier(passportOf(passenger), index);
    if (twin !== undefined) {
      issues.push({
        path: `passengers.${index}`,
        message: `is the same person as passenger ${twin + 1}.`,
        code: 'duplicate_passenger',
      });
    } else if (holder !== undefined) {
      issues.push({
        path: `passengers.${index}.passport_number`,
        message: `is the passport of passenger ${holder + 1}.`,
        code: 'duplicate_passenger',
      });
    }
  }
  return issues;
}

/**
 * Passengers whose passport expires before the journey ends. A booking takes them: the passport may be renewed, and the
 * airline or the border decides; whoever pays should know.
 * @param lastDay YYYY-MM-DD of the last arrival
 */
export function passportsTooOld(
  list: readonly { readonly passport_expiry?: string | undefined }[],
  lastDay: string,
): { readonly passenger: number; readonly expiry: string }[] {
  return list.flatMap(({ passport_expiry: expiry }, index) =>
    expiry !== undefined && expiry < lastDay ? [{ passenger: index + 1, expiry }] : [],
  );
}

async function checkOne(passenger: unknown, path: string, rules: PassengerRules): Promise<PassengerIssue[]> {
  if (!isRecord(passenger)) {
    return [{ path, message: 'must be an object with the fields of one passenger.', code: 'invalid_request' }];
  }
  const issues: PassengerIssue[] = [];
  const known: readonly string[] = [...BASE_FIELDS, ...DOCUMENT_FIELDS];
  for (const field of [...BASE_FIELDS, ...DOCUMENT_FIELDS]) {
    const value = passenger[field];
    const isDocument = isOneOf(DOCUMENT_FIELDS, field);
    if (value === undefined || (isDocument && value === null) || value === '') {
      if (isDocument && !rules.documentsRequired) continue;
      issues.push({
        path: `${path}.${field}`,
        message: 'is missing.',
        code: isDocument ? 'travel_document_required' : 'invalid_request',
      });
      continue;
    }
    const wrong = typeof value === 'string' ? await checkPassengerField(field, value, rules) : 'must be text.';
    if (wrong === null) continue;
    const expired = field === 'passport_expiry' && typeof value === 'string' && isRealDate(value);
    issues.push({
      path: `${path}.${field}`,
      message: wrong,
      code: expired ? 'travel_document_expired' : 'invalid_request',
    });
  }
  for (const field of Object.keys(passenger)) {
    if (!known.includes(field)) {
      issues.push({ path: `${path}.${field}`, message: 'is not a known field.', code: 'invalid_request' });
    }
  }
  return issues;
}

/** Names and birth date with case and accents folded: what makes two entries the same traveller. */
function travellerIdentity(passenger: unknown): string | null {
  if (!isRecord(passenger)) return null;
  const { given_name, family_name, born_on } = passenger;
  if (typeof given_name !== 'string' || typeof family_name !== 'string' || typeof born_on !== 'string') {
    return null;
  }
  return [given_name, family_name, born_on].map(foldName).join('|');
}

/** Number and country, however both are written: what makes two passports the same one. */
function passportOf(passenger: unknown): string | null {
  if (!isRecord(passenger)) return null;
  const { passport_number: number, nationality } = passenger;
  if (typeof number !== 'string' || number.trim() === '') return null;
  const country = typeof nationality === 'string' ? (alpha3Of(nationality) ?? nationality) : '';
  return `passport|${number.trim().toUpperCase()}|${country.toUpperCase()}`;
}

/** A name without case, accents or the difference between a space, a hyphen and an apostrophe. */
export const foldName = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[\s'’-]+/g, ' ')
    .trim()
    .toLowerCase();

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
