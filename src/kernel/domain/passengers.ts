import { isRealDate, yearsLater } from '../clock.ts';
import { alpha3Of, isCountry } from './countries.ts';
import { ADULT_FROM, ageOn, type Seat, seatsFor, seatsText, YOUTH_FROM } from './travel-ages.ts';

export { isRealDate } from '../clock.ts';

/**
 * The rules of a bookable passenger (spec/flight-service.md, Passenger; CONTRACT, section 6). The tool checks them
 * before it pays, the service before it charges.
 */

export interface PassengerIssue {
  /** `passengers`, `passengers.0` or `passengers.0.born_on`. */
  readonly path: string;
  readonly message: string;
  /** The service's problem if this issue is the first. */
  readonly code:
    | 'invalid_request'
    | 'duplicate_passenger'
    | 'passenger_age_mismatch'
    | 'passenger_count_mismatch'
    | 'travel_document_required'
    | 'travel_document_expired';
}

type Report = (path: string, message: string, code?: PassengerIssue['code']) => void;

function collected(issues: PassengerIssue[]): Report {
  return (path, message, code = 'invalid_request') => void issues.push({ path, message, code });
}

export interface PassengerRules {
  readonly count: number;
  /** The first departure, YYYY-MM-DD; null leaves ages to the service. */
  readonly departureDate: string | null;
  /** The searched ages and the day that they count on; absent for a fare for adults only. */
  readonly ages?: { readonly on: string; readonly seats: readonly Seat[] } | undefined;
  /** Set while a single passenger is asked for. */
  readonly seat?: Seat | undefined;
  /** Lowcost offers need nationality, passport_number and passport_expiry. */
  readonly documentsRequired: boolean;
  /** YYYY-MM-DD, UTC. */
  readonly today: string;
}

export const TITLES = ['mr', 'mrs', 'ms', 'miss', 'dr'] as const;
export const GENDERS = ['m', 'f'] as const;
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

/** A valid passenger; a document field that was left out may be null. */
type CheckedPassenger = Readonly<Record<(typeof BASE_FIELDS)[number], string>> & {
  readonly [field in (typeof DOCUMENT_FIELDS)[number]]?: string | null;
};

type BookablePassenger = Readonly<Record<(typeof BASE_FIELDS)[number], string>> & {
  readonly [field in (typeof DOCUMENT_FIELDS)[number]]?: string;
};

/** Converts a list to the service's form, without null documents; returns null if `checkPassengers` found issues. */
export function bookablePassengers(
  list: readonly unknown[],
  issues: readonly PassengerIssue[],
): BookablePassenger[] | null {
  if (issues.length > 0) return null;
  return (list as readonly CheckedPassenger[]).map(({ nationality, passport_number, passport_expiry, ...base }) => ({
    ...base,
    ...(nationality != null && { nationality }),
    ...(passport_number != null && { passport_number }),
    ...(passport_expiry != null && { passport_expiry }),
  }));
}

const MOST_AGE_YEARS = 120;
const LATIN = String.raw`(?:(?=\p{L})\p{Script=Latin}\p{M}*)`;
const NAME = new RegExp(`^${LATIN}(?:[ '’-]?${LATIN})*$`, 'u');
const EMAIL =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)+$/;

/** Finds a field's fault; only phone numbers load the phone number library. */
export async function checkPassengerField(
  field: PassengerField,
  value: string,
  rules: Pick<PassengerRules, 'departureDate' | 'today' | 'ages' | 'seat'>,
): Promise<string | null> {
  switch (field) {
    case 'given_name':
    case 'family_name':
      if ([...value].length > 40) return 'has more than 40 letters.';
      return NAME.test(value.normalize('NFC'))
        ? null
        : / {2}/.test(value)
          ? 'has two spaces in a row.'
          : 'needs the Latin spelling on the passport, up to 40 letters.';
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
      return (await isPhoneNumber(value)) ? null : 'needs its country code, such as +351 912 345 678.';
    case 'nationality':
      return isCountry(value) ? null : 'must be an ISO 3166-1 country code, such as PT or PRT.';
    case 'passport_number':
      return /^[A-Z0-9]{5,15}$/i.test(value) ? null : 'must be 5 to 15 letters and digits.';
    case 'passport_expiry':
      if (!isRealDate(value)) return 'must be a date that exists, as YYYY-MM-DD.';
      return value > rules.today ? null : 'has expired.';
  }
}

function checkBirthDate(
  value: string,
  rules: Pick<PassengerRules, 'departureDate' | 'today' | 'ages' | 'seat'>,
): string | null {
  if (!isRealDate(value)) return 'must be a date that exists, as YYYY-MM-DD.';
  if (value >= rules.today) return 'must be in the past.';
  if (yearsLater(value, MOST_AGE_YEARS) < rules.today) return `is more than ${MOST_AGE_YEARS} years ago.`;
  const { ages, seat } = rules;
  if (ages && seat !== null) {
    const age = ageOn(value, ages.on);
    return seat === undefined || seatsFor([age], [seat])[0] === 0 ? null : agedText(age, ages.on, [seat]);
  }
  // Dates compare as text; a child born on 29 February comes of age on 1 March.
  if (rules.departureDate !== null && yearsLater(value, YOUTH_FROM) > rules.departureDate) {
    return `makes this passenger younger than ${YOUTH_FROM} on the day of departure.`;
  }
  return null;
}

const isOneOf = (values: readonly string[], value: string): boolean => values.includes(value);

async function isPhoneNumber(value: string): Promise<boolean> {
  if (!/^\+[1-9]\d{6,14}$/.test(value)) return false;
  const { isValidPhoneNumber } = await import('libphonenumber-js/min');
  return isValidPhoneNumber(value);
}

/** Finds all faults in list order. It trusts nothing about the JSON's shape and repeats no value. */
export async function checkPassengers(list: readonly unknown[], rules: PassengerRules): Promise<PassengerIssue[]> {
  const issues: PassengerIssue[] = [];
  const report = collected(issues);
  const { count } = rules;
  if (list.length !== count) {
    const message = `must have exactly ${count} ${count === 1 ? 'entry' : 'entries'}, and has ${list.length}.`;
    report('passengers', message, 'passenger_count_mismatch');
  }
  const seen = new Map<string, number>();
  /** Returns the earlier passenger with the same mark, or remembers this one. */
  const earlier = (mark: string | null, index: number): number | undefined => {
    const first = mark === null ? undefined : seen.get(mark);
    if (mark !== null && first === undefined) seen.set(mark, index);
    return first;
  };
  for (const [index, passenger] of list.entries()) {
    const path = `passengers.${index}`;
    await checkOne(passenger, path, rules, report);
    const twin = earlier(travellerIdentity(passenger), index);
    const holder = earlier(passportOf(passenger), index);
    if (twin !== undefined) report(path, `is the same person as passenger ${twin + 1}.`, 'duplicate_passenger');
    else if (holder !== undefined)
      report(`${path}.passport_number`, `is the passport of passenger ${holder + 1}.`, 'duplicate_passenger');
  }
  if (issues.length === 0 && rules.ages) issues.push(...ageIssues(list as { born_on: string }[], rules.ages));
  return issues;
}

/** Finds ages that were not searched, a first passenger under 12, and children under 12 without an adult. */
function ageIssues(
  list: readonly { readonly born_on: string }[],
  { on, seats }: NonNullable<PassengerRules['ages']>,
): PassengerIssue[] {
  const code = 'passenger_age_mismatch';
  const ages = list.map(({ born_on }) => ageOn(born_on, on));
  const issues = seatsFor(ages, seats).flatMap((seat, index): PassengerIssue[] =>
    seat === null
      ? [{ path: `passengers.${index}.born_on`, message: agedText(ages[index] ?? 0, on, seats), code }]
      : [],
  );
  if (issues.length > 0) return issues;
  if ((ages[0] ?? 0) < YOUTH_FROM) {
    return [{ path: 'passengers.0', message: 'must be an adult: the first passenger receives all e-mails.', code }];
  }
  const isAlone = ages.some((age) => age < YOUTH_FROM) && !ages.some((age) => age >= ADULT_FROM);
  const message = `have a child under ${YOUTH_FROM} and no traveller of ${ADULT_FROM} or over.`;
  return isAlone ? [{ path: 'passengers', message, code }] : [];
}

const agedText = (age: number, on: string, seats: readonly Seat[]): string =>
  `makes this passenger ${age} on ${on}, when the last direction departs; the fare is for ${seatsText(seats)}.`;

/** Finds passports that expire before the journey's `lastDay` (YYYY-MM-DD), for a warning: they may be renewed. */
export function passportsTooOld(
  list: readonly { readonly passport_expiry?: string | undefined }[],
  lastDay: string,
): { readonly passenger: number; readonly expiry: string }[] {
  return list.flatMap(({ passport_expiry: expiry }, index) =>
    expiry !== undefined && expiry < lastDay ? [{ passenger: index + 1, expiry }] : [],
  );
}

async function checkOne(passenger: unknown, path: string, rules: PassengerRules, report: Report): Promise<void> {
  if (!isRecord(passenger)) return report(path, 'must be an object with the fields of one passenger.');
  const known: readonly string[] = [...BASE_FIELDS, ...DOCUMENT_FIELDS];
  for (const field of [...BASE_FIELDS, ...DOCUMENT_FIELDS]) {
    const value = passenger[field];
    const isDocument = isOneOf(DOCUMENT_FIELDS, field);
    if (value === undefined || (isDocument && value === null) || value === '') {
      if (isDocument && !rules.documentsRequired) continue;
      report(`${path}.${field}`, 'is missing.', isDocument ? 'travel_document_required' : undefined);
      continue;
    }
    const wrong = typeof value === 'string' ? await checkPassengerField(field, value, rules) : 'must be text.';
    if (wrong === null) continue;
    const expired = field === 'passport_expiry' && typeof value === 'string' && isRealDate(value);
    report(`${path}.${field}`, wrong, expired ? 'travel_document_expired' : undefined);
  }
  for (const field of Object.keys(passenger))
    if (!known.includes(field)) report(`${path}.${field}`, 'is not a known field.');
}

/** Identifies a traveller by names and birth date, folded. */
function travellerIdentity(passenger: unknown): string | null {
  if (!isRecord(passenger)) return null;
  const { given_name, family_name, born_on } = passenger;
  if (typeof given_name !== 'string' || typeof family_name !== 'string' || typeof born_on !== 'string') {
    return null;
  }
  return [given_name, family_name, born_on].map(foldName).join('|');
}

/** Identifies a passport by number and country. */
function passportOf(passenger: unknown): string | null {
  if (!isRecord(passenger)) return null;
  const { passport_number: number, nationality } = passenger;
  if (typeof number !== 'string' || number.trim() === '') return null;
  const country = typeof nationality === 'string' ? (alpha3Of(nationality) ?? nationality) : '';
  return `passport|${number.trim().toUpperCase()}|${country.toUpperCase()}`;
}

/** Folds case, accents, spaces, hyphens and apostrophes. */
export const foldName = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[\s'’-]+/g, ' ')
    .trim()
    .toLowerCase();

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
