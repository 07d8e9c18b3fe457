import { isProblem } from '../../kernel/problems.ts';
import { parseDate } from '../searching/dates.ts';
import { counted } from '../view/text.ts';
import { dayName } from '../view/times.ts';
import { searchCommand } from './commands.ts';
import { type Step, said, type Walk } from './walk.ts';

const MOST_ADULTS = 9;

export const askDepart: Step = async (walk) => {
  const { trip, context } = walk;
  const today = parseDate('today', context.clock.now());
  const answer = await walk.ask.text({
    message: 'Depart: 2026-12-20, tomorrow, +30d, fri',
    ...(trip.depart !== null && { preset: trip.depart }),
    check: async (text) => wrongDate(walk, text, today, 'That day is over.'),
  });
  if (answer.kind === 'back') return 'back';
  trip.depart = parseDate(answer.value, context.clock.now());
  if (trip.back !== null && trip.back < trip.depart) trip.back = null;
  said(walk, 'Depart', dayName(trip.depart), searchCommand({ ...trip, back: null, adults: 1 }));
  return 'return';
};

export const askReturn: Step = async (walk) => {
  const { trip, context } = walk;
  const depart = trip.depart ?? '';
  const answer = await walk.ask.text({
    message: 'Return: a date, or Enter for one way',
    mayBeEmpty: true,
    check: async (text) => wrongDate(walk, text, depart, 'That is before the departure.'),
  });
  if (answer.kind === 'back') return 'back';
  trip.back = answer.value === '' ? null : parseDate(answer.value, context.clock.now());
  const value = trip.back === null ? 'one way' : dayName(trip.back);
  said(walk, 'Return', value, searchCommand({ ...trip, adults: 1 }));
  return 'adults';
};

export const askAdults: Step = async (walk) => {
  const { trip } = walk;
  const answer = await walk.ask.text({
    message: 'Travellers, 1 to 9, all of 12 years and over',
    preset: String(trip.adults),
    check: async (text) =>
      /^[1-9]$/.test(text)
        ? null
        : `A number from 1 to ${MOST_ADULTS}; larger parties are booked apart. Children under 12 cannot be booked here.`,
  });
  if (answer.kind === 'back') return 'back';
  trip.adults = Number(answer.value);
  said(walk, 'Travellers', counted(trip.adults, 'adult'), searchCommand(trip));
  return 'search';
};

async function wrongDate(
  { context }: Walk,
  text: string,
  earliest: string,
  tooEarly: string,
): Promise<string | null> {
  try {
    return parseDate(text, context.clock.now()) < earliest ? tooEarly : null;
  } catch (error) {
    if (isProblem(error)) return `${error.message} ${error.fix}`;
    throw error;
  }
}
