import { counted } from '../../terminal/text.ts';
import { dayName } from '../../terminal/times.ts';
import { dayChoices, parseDate, readDate, whichDay } from '../searching/dates.ts';
import { searchCommand } from './commands.ts';
import { type Step, said, type Walk } from './walk.ts';

const MOST_ADULTS = 9;

export const askDepart: Step = async (walk) => {
  const { trip, context } = walk;
  const today = parseDate('today', context.clock.now());
  const answer = await walk.ask.text({
    message: 'Depart, such as 20 Dec, tomorrow, +30d, fri',
    ...(trip.depart !== null && { preset: trip.depart }),
    check: async (text) => wrongDate(walk, text, today, 'That day has passed.'),
  });
  if (answer.kind === 'back') return 'back';
  const day = await whichIsMeant(walk, answer.value, today);
  if (day === null) return 'depart';
  trip.depart = day;
  if (trip.back !== null && trip.back < trip.depart) trip.back = null;
  said(walk, 'Depart', dayName(trip.depart), searchCommand({ ...trip, back: null, adults: 1 }));
  return 'return';
};

export const askReturn: Step = async (walk) => {
  const { trip } = walk;
  const depart = trip.depart ?? '';
  const answer = await walk.ask.text({
    message: 'Return: a date, or Enter for one way',
    mayBeEmpty: true,
    check: async (text) => wrongDate(walk, text, depart, 'That is before the departure.'),
  });
  if (answer.kind === 'back') return 'back';
  const day = answer.value === '' ? '' : await whichIsMeant(walk, answer.value, depart);
  if (day === null) return 'return';
  trip.back = day === '' ? null : day;
  const value = trip.back === null ? 'one way' : dayName(trip.back);
  said(walk, 'Return', value, searchCommand({ ...trip, adults: 1 }));
  return 'adults';
};

export const askAdults: Step = async (walk) => {
  const { trip } = walk;
  const answer = await walk.ask.text({
    message: 'Travellers, 1 to 9, all aged 18 or over (some sellers: 12)',
    preset: String(trip.adults),
    check: async (text) =>
      /^[1-9]$/.test(text)
        ? null
        : `Type a number from 1 to ${MOST_ADULTS}; book larger groups separately. Children under 12 cannot be booked here.`,
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
  const read = readDate(text, { nowMs: context.clock.now(), from: earliest });
  if (read.kind === 'wrong') return `${read.message} ${read.fix}`;
  const days = read.kind === 'day' ? [read.day] : read.days;
  return days.every((day) => day < earliest) ? tooEarly : null;
}

/** The day that a checked answer means; null where Esc left the question which of two it is. */
async function whichIsMeant({ context, ask }: Walk, text: string, earliest: string): Promise<string | null> {
  const read = readDate(text, { nowMs: context.clock.now(), from: earliest });
  if (read.kind !== 'either') return read.kind === 'day' ? read.day : null;
  const days = read.days.filter((day) => day >= earliest);
  const [only] = days;
  if (days.length === 1 && only !== undefined) return only;
  const chosen = await ask.choose({ message: whichDay(text), lines: dayChoices(days) });
  return chosen.kind === 'answer' ? chosen.value : null;
}
