import type { TravellerFields } from '../../client/journal/travellers.ts';
import { type PassengerField, type PassengerRules, TITLES } from '../../kernel/domain/passengers.ts';
import type { StepAnswer } from '../../terminal/streams.ts';
import { harmless } from '../../terminal/text.ts';
import { dayChoices, whichDay } from '../searching/dates.ts';
import { bookableValues, GENDER_CHOICES, QUESTIONS, wrongField } from '../travellers/passenger-questions.ts';
import type { Walk } from './walk.ts';

/** Asks for fields of one person; Esc goes back a field, and out of the first one. What was typed stays as a preset. */
export async function askFieldsBySteps(
  walk: Walk,
  wanted: readonly PassengerField[],
  rules: PassengerRules,
  who: string,
  /** What was answered before an interruption: only what is missing is asked for. */
  known: TravellerFields = {},
  onAnswer: (answers: TravellerFields) => Promise<void> = async () => undefined,
): Promise<TravellerFields | 'back'> {
  const answers: Partial<Record<PassengerField, string>> = { ...known };
  const missing = wanted.findIndex((field) => known[field] === undefined);
  let at = missing < 0 ? wanted.length : missing;
  while (at < wanted.length) {
    const field = wanted[at];
    if (field === undefined) break;
    const answer = await askField(walk, field, rules, harmless(who), answers[field]);
    if (answer.kind === 'answer') {
      answers[field] = answer.value;
      await onAnswer(answers);
      at++;
    } else if (at === 0) return 'back';
    else at--;
  }
  return answers;
}

async function askField(
  walk: Walk,
  field: PassengerField,
  rules: PassengerRules,
  who: string,
  preset: string | undefined,
): Promise<StepAnswer<string>> {
  const { ask, context } = walk;
  const message = `${who}. ${QUESTIONS[field]}`;
  if (field === 'title') {
    return ask.choose<string>({
      message,
      lines: TITLES.map((title) => ({ name: title, value: title })),
      preset,
    });
  }
  if (field === 'gender') return ask.choose<string>({ message, lines: GENDER_CHOICES, preset });
  const nowMs = context.clock.now();
  const answer = await ask.text({
    message,
    preset,
    check: (text) => wrongField(field, text, rules, nowMs),
  });
  if (answer.kind === 'back') return answer;
  const [value = answer.value, ...others] = await bookableValues(field, answer.value, rules, nowMs);
  if (others.length === 0) return { kind: 'answer', value };
  const chosen = await ask.choose({
    message: whichDay(answer.value),
    lines: dayChoices([value, ...others]),
  });
  return chosen.kind === 'answer' ? chosen : askField(walk, field, rules, who, preset);
}
