import type { TravellerFields } from '../../client/journal/travellers.ts';
import {
  checkPassengerField,
  type PassengerField,
  type PassengerRules,
  TITLES,
} from '../../domain/passengers.ts';
import type { Prompts } from '../screen/streams.ts';

export const QUESTIONS: Readonly<Record<PassengerField, string>> = {
  given_name: 'Given names, as in the passport',
  family_name: 'Family name',
  born_on: 'Born on (YYYY-MM-DD)',
  title: 'Title',
  gender: 'Gender',
  email: 'E-mail',
  phone_number: 'Phone (+351912345678)',
  nationality: 'Nationality (PT)',
  passport_number: 'Passport number',
  passport_expiry: 'Passport valid until (YYYY-MM-DD)',
};

export const GENDER_CHOICES = [
  { name: 'female', value: 'f' },
  { name: 'male', value: 'm' },
] as const;

/**
 * Asks a person for these fields of one passenger; each answer is checked at once, and asked again until it is right.
 * @param known what they have answered already
 * @param onAnswer called after each answer, with all of them
 */
export async function askFields(
  prompts: Prompts,
  fields: readonly PassengerField[],
  rules: Pick<PassengerRules, 'departureDate' | 'today'>,
  known: TravellerFields = {},
  onAnswer: (answers: TravellerFields) => Promise<void> = async () => undefined,
): Promise<TravellerFields> {
  let answers = known;
  for (const field of fields.filter((one) => known[one] === undefined)) {
    answers = { ...answers, [field]: await askField(prompts, field, rules) };
    await onAnswer(answers);
  }
  return answers;
}

function askField(
  prompts: Prompts,
  field: PassengerField,
  rules: Pick<PassengerRules, 'departureDate' | 'today'>,
): Promise<string> {
  const question = QUESTIONS[field];
  if (field === 'title') {
    return prompts.choose(
      question,
      TITLES.map((title) => ({ name: title, value: title as string })),
    );
  }
  if (field === 'gender') return prompts.choose<string>(question, GENDER_CHOICES);
  return prompts.text(question, async (value) => {
    const wrong = await checkPassengerField(field, value, rules);
    return wrong === null ? null : `It ${wrong}`;
  });
}
