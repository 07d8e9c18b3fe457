import type { TravellerFields } from '../../client/journal/index.ts';
import { alpha2Codes, isCountry } from '../../kernel/domain/countries.ts';
import {
  checkPassengerField,
  type PassengerField,
  type PassengerRules,
  TITLES,
} from '../../kernel/domain/passengers.ts';
import { harmless, type Prompts, type StepAnswer, type StepPrompts } from '../../terminal/index.ts';
import type { Intent } from '../../wire/flights/index.ts';
import { dayChoices, readDate, whichDay } from '../searching/index.ts';
import type { CommandContext } from '../spec/index.ts';
import names from './country-names.json' with { type: 'json' };

/** A typed field of a passenger, in the form that is booked. */
export type TypedField =
  | { readonly kind: 'value'; readonly value: string }
  /** A date with two readings, both as YYYY-MM-DD. */
  | { readonly kind: 'either'; readonly days: readonly [string, string] }
  /** Not a date, or not a country; the message says which. */
  | { readonly kind: 'wrong'; readonly message: string };

/**
 * Reads a field of a passenger as people write it: a date with a month in words, a telephone number with spaces, a
 * country by its name, a passport number with dashes. The rules of domain/passengers.ts check the result.
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
      return { kind: 'wrong', message: 'No country has that name. Use its name or code, such as Portugal or PT.' };
    }
    case 'passport_number':
      return { kind: 'value', value: text.normalize('NFKC').replace(SEPARATORS, '').toUpperCase() };
    default:
      return { kind: 'value', value: text };
  }
}

const SEPARATORS = /[\s./\p{Pd}]/gu;

/** A number without separators: `00351 912-345-678` and `+44 (0)20 7946 0958` are +351912345678 and +442079460958. */
const phoneNumber = (text: string): string =>
  text.normalize('NFKC').replaceAll('(0)', '').replace(SEPARATORS, '').replace(/[()]/g, '').replace(/^00/, '+');

/** The passengers of a file, each field in the form that is booked; unreadable fields stay. */
export const plainPassengers = (list: readonly unknown[], nowMs: number): unknown[] =>
  list.map((passenger) =>
    typeof passenger === 'object' && passenger !== null && !Array.isArray(passenger)
      ? Object.fromEntries(Object.entries(passenger).map(([field, value]) => [field, plainField(field, value, nowMs)]))
      : passenger,
  );

function plainField(field: string, value: unknown, nowMs: number): unknown {
  if (typeof value !== 'string' || value === '') return value;
  const read = typedField(field as PassengerField, value, nowMs);
  return read.kind === 'value' ? read.value : value;
}

/** Keeps the passengers that a person types for a lock, sealed until it ends, so that an interruption loses none. */
export async function openTyped(
  { session, terminal }: Pick<CommandContext, 'session' | 'terminal'>,
  { intent_id: id, expires_at }: Pick<Intent, 'intent_id' | 'expires_at'>,
) {
  const store = await session.store();
  let isTold = false;
  return {
    kept: () => store.typed(id),
    async keep(passengers: readonly TravellerFields[]): Promise<void> {
      try {
        await store.keepTyped(id, passengers, Date.parse(expires_at));
      } catch (error) {
        // A full disk must not stop the booking.
        if (!isTold)
          terminal.note(`Could not be saved here: ${error instanceof Error ? error.message : String(error)}`);
        isTold = true;
      }
    },
  };
}

/** `Ana Silva and Bo Li`; passengers without a name yet are left out. */
export function typedText(typed: readonly TravellerFields[]): string {
  const names = typed
    .map(({ given_name, family_name }) => harmless([given_name, family_name].filter(Boolean).join(' ')))
    .filter((name) => name !== '');
  return names.length === 0 ? 'the passengers' : names.join(' and ');
}

/** `languages`: those of passports; Node has their names of countries (Unicode CLDR). `also`: other names in use. */
const { languages, also }: { languages: string; also: Readonly<Record<string, string>> } = names;

/**
 * Finds the code of a country: a given alpha-2 or alpha-3 code in capitals, or the alpha-2 code of its name in English
 * or another language. Null if no country has that name, or more than one.
 */
export function countryNamed(text: string): string | null {
  const code = text.trim().toUpperCase();
  if (isCountry(code)) return code;
  const wanted = folded(text);
  if (wanted === '') return null;
  const known = also[wanted] ?? codeIn('en', wanted) ?? codeIn('en', wanted, 'short');
  if (known !== null) return known;
  const found = new Set(languages.split(' ').flatMap((language) => codeIn(language, wanted) ?? []));
  const [only] = found;
  return found.size === 1 && only !== undefined ? only : null;
}

function codeIn(language: string, wanted: string, style: 'long' | 'short' = 'long'): string | null {
  const regions = new Intl.DisplayNames([language], { type: 'region', fallback: 'none', style });
  return alpha2Codes().find((code) => folded(regions.of(code) ?? '') === wanted) ?? null;
}

/** Drops case, punctuation and accents; the vowel signs of other scripts stay. */
const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();

const QUESTIONS: Readonly<Record<PassengerField, string>> = {
  given_name: 'Given names, as in the passport',
  family_name: 'Family name',
  born_on: 'Date of birth, such as 3 Apr 1990',
  title: 'Title',
  gender: 'Gender',
  email: 'E-mail',
  phone_number: 'Phone with country code, such as +351 912 345 678',
  nationality: 'Nationality, such as Portugal or PT',
  passport_number: 'Passport number',
  passport_expiry: 'Passport valid until, such as 9 Jun 2031',
};

const GENDER_CHOICES = [
  { name: 'female', value: 'f' },
  { name: 'male', value: 'm' },
] as const;

type FieldPrompts = Pick<StepPrompts, 'text' | 'choose'>;
type FieldRules = Pick<PassengerRules, 'departureDate' | 'today' | 'ages' | 'seat'>;

export interface Asked {
  /** Precedes each question. */
  readonly who?: string;
  /** Answers from before an interruption: only the fields after them are asked. */
  readonly known?: TravellerFields | undefined;
  /** The passenger who receives all e-mails: this e-mail and phone number are proposed. */
  readonly first?: TravellerFields | undefined;
  /** Called after each answer, with all of them. */
  readonly onAnswer?: (answers: TravellerFields) => Promise<void>;
}

/**
 * Asks for fields of one person. Each answer is checked at once, and asked again until it is right. Esc goes back a
 * field; from the first it returns `back`. Typed answers stay as presets.
 */
export async function askFields(
  ask: FieldPrompts,
  wanted: readonly PassengerField[],
  rules: FieldRules,
  nowMs: number,
  { who, known = {}, first, onAnswer }: Asked = {},
): Promise<TravellerFields | 'back'> {
  const answers: Partial<Record<PassengerField, string>> = { ...known };
  const missing = wanted.findIndex((field) => known[field] === undefined);
  for (let at = missing < 0 ? wanted.length : missing; ; ) {
    const field = wanted[at];
    if (field === undefined) return answers;
    const message = who === undefined ? QUESTIONS[field] : `${who}. ${QUESTIONS[field]}`;
    const proposed = field === 'email' || field === 'phone_number' ? first?.[field] : undefined;
    const answer = await askField(ask, field, message, rules, nowMs, answers[field] ?? proposed);
    if (answer.kind === 'answer') {
      answers[field] = answer.value;
      await onAnswer?.(answers);
      at++;
    } else if (at === 0) return 'back';
    else at--;
  }
}

/** Asks the same with ordinary questions, which have no way back. */
export async function askAllFields(
  prompts: Prompts,
  wanted: readonly PassengerField[],
  rules: FieldRules,
  nowMs: number,
  asked: Asked = {},
): Promise<TravellerFields> {
  const steps: FieldPrompts = {
    text: async ({ message, check, preset }) => ({ kind: 'answer', value: await prompts.text(message, check, preset) }),
    choose: async ({ message, lines }) => {
      const choices = lines.flatMap((line) => ('value' in line ? [line] : []));
      return { kind: 'answer', value: await prompts.choose(message, choices) };
    },
  };
  const answers = await askFields(steps, wanted, rules, nowMs, asked);
  return answers === 'back' ? {} : answers;
}

async function askField(
  ask: FieldPrompts,
  field: PassengerField,
  message: string,
  rules: FieldRules,
  nowMs: number,
  preset: string | undefined,
): Promise<StepAnswer<string>> {
  if (field === 'title') {
    return ask.choose<string>({ message, lines: TITLES.map((title) => ({ name: title, value: title })), preset });
  }
  if (field === 'gender') return ask.choose<string>({ message, lines: GENDER_CHOICES, preset });
  const check = async (text: string) => (await checkedValues(field, text, rules, nowMs)).wrong;
  const answer = await ask.text({ message, preset, check });
  if (answer.kind === 'back') return answer;
  const { bookable } = await checkedValues(field, answer.value, rules, nowMs);
  const [value = answer.value, ...others] = bookable;
  if (others.length === 0) return { kind: 'answer', value };
  const chosen = await ask.choose({ message: whichDay(answer.value), lines: dayChoices([value, ...others]) });
  return chosen.kind === 'answer' ? chosen : askField(ask, field, message, rules, nowMs, preset);
}

/** The readings of an answer that can be booked: of two days a person chooses one. Without any, a sentence says why. */
async function checkedValues(field: PassengerField, text: string, rules: FieldRules, nowMs: number) {
  const read = typedField(field, text, nowMs);
  if (read.kind === 'wrong') return { bookable: [], wrong: read.message };
  const values = read.kind === 'value' ? [read.value] : read.days;
  const faults = await Promise.all(values.map((value) => checkPassengerField(field, value, rules)));
  const bookable = values.filter((_, index) => faults[index] === null);
  return { bookable, wrong: bookable.length > 0 ? null : `It ${faults[0]}` };
}
