import type { TravellerFields } from '../../client/journal/index.ts';
import {
  checkPassengerField,
  type PassengerField,
  type PassengerRules,
  TITLES,
} from '../../kernel/domain/passengers.ts';
import type { Prompts } from '../../terminal/index.ts';
import { dayChoices, whichDay } from '../searching/index.ts';
import { type TypedField, typedField } from './typed-field.ts';

export const QUESTIONS: Readonly<Record<PassengerField, string>> = {
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

export const GENDER_CHOICES = [
  { name: 'female', value: 'f' },
  { name: 'male', value: 'm' },
] as const;

type FieldRules = Pick<PassengerRules, 'departureDate' | 'today'>;

/**
 * Asks a person for these fields of one passenger; each answer is checked at once, and asked again until it is right.
 * @param known what they have answered already
 * @param onAnswer called after each answer, with all of them
 */
export async function askFields(
  prompts: Prompts,
  fields: readonly PassengerField[],
  rules: FieldRules,
  nowMs: number,
  known: TravellerFields = {},
  onAnswer: (answers: TravellerFields) => Promise<void> = async () => undefined,
): Promise<TravellerFields> {
  let answers = known;
  for (const field of fields.filter((one) => known[one] === undefined)) {
    answers = { ...answers, [field]: await askField(prompts, field, rules, nowMs) };
    await onAnswer(answers);
  }
  return answers;
}

async function askField(prompts: Prompts, field: PassengerField, rules: FieldRules, nowMs: number): Promise<string> {
  const question = QUESTIONS[field];
  if (field === 'title') {
    return prompts.choose(
      question,
      TITLES.map((title) => ({ name: title, value: title as string })),
    );
  }
  if (field === 'gender') return prompts.choose<string>(question, GENDER_CHOICES);
  const typed = await prompts.text(question, (text) => wrongField(field, text, rules, nowMs));
  const [value = typed, ...others] = await bookableValues(field, typed, rules, nowMs);
  return others.length > 0 ? prompts.choose(whichDay(typed), dayChoices([value, ...others])) : value;
}

/** A sentence that says what is wrong with an answer; null when it can be booked. */
export async function wrongField(
  field: PassengerField,
  text: string,
  rules: FieldRules,
  nowMs: number,
): Promise<string | null> {
  const read = typedField(field, text, nowMs);
  if (read.kind === 'wrong') return read.message;
  const [first = null, ...rest] = await Promise.all(
    valuesOf(read).map((value) => checkPassengerField(field, value, rules)),
  );
  return first === null || rest.includes(null) ? null : `It ${first}`;
}

/** What an answer in which nothing is wrong stands for: one value, or two days of which a person has to choose one. */
export async function bookableValues(
  field: PassengerField,
  text: string,
  rules: FieldRules,
  nowMs: number,
): Promise<string[]> {
  const bookable: string[] = [];
  for (const value of valuesOf(typedField(field, text, nowMs))) {
    if ((await checkPassengerField(field, value, rules)) === null) bookable.push(value);
  }
  return bookable;
}

const valuesOf = (read: TypedField): readonly string[] =>
  read.kind === 'value' ? [read.value] : read.kind === 'either' ? read.days : [];
