import { isMistake } from '../../../kernel/domain/airports.ts';
import { findPlaces } from '../../../kernel/domain/places.ts';
import { counted, dayName, harmless } from '../../../terminal/index.ts';
import { dayChoices, parseDate, placeOf, readDate, whichDay } from '../../searching/index.ts';
import { type Place, type Step, said, searchCommand, type Walk } from './walk.ts';

const MOST_CHOICES = 12;

export const askFrom: Step = async (walk) => {
  const place = await askPlace(walk, 'From', (iata) => iata !== '');
  if (place === 'back') return 'back';
  walk.trip.from = place;
  said(walk, 'From', `${place.iata}  ${place.said}`, searchCommand({ ...walk.trip, to: null, depart: null }));
  return 'to';
};

export const askTo: Step = async (walk) => {
  const place = await askPlace(walk, 'To', (iata) => iata !== walk.trip.from?.iata);
  if (place === 'back') return 'back';
  walk.trip.to = place;
  said(walk, 'To', `${place.iata}  ${place.said}`, searchCommand({ ...walk.trip, depart: null }));
  return 'depart';
};

/** Suggests places by name, city or code while a person types. */
async function askPlace({ ask }: Walk, label: string, suits: (iata: string) => boolean): Promise<Place | 'back'> {
  const answer = await ask.search<Place>({
    message: `${label}: a city, an airport or its code`,
    async find(text) {
      // Tab takes a suggestion into the line.
      const found = await placesFor(/^([A-Z]{3}) {2}/.exec(text)?.[1] ?? text);
      if (found.length === 0) return `No airport matches ${harmless(text)}; any three-letter airport code works too.`;
      const fit = found.filter(({ iata }) => suits(iata)).slice(0, MOST_CHOICES);
      if (fit.length === 0) return 'That is where you are flying from.';
      return fit.map((place) => ({ name: `${place.iata}  ${place.said}`, value: place, isGuess: place.isGuess }));
    },
  });
  return answer.kind === 'back' ? 'back' : answer.value;
}

interface Candidate extends Place {
  /** Only found by forgiving a mistake. */
  readonly isGuess: boolean;
}

/** The airports that fit equally well; leaves a code that is not in the table to the service. */
async function placesFor(text: string): Promise<Candidate[]> {
  const { found } = await findPlaces(text);
  const best = found.filter((one) => one.fit === found[0]?.fit || isMistake(one));
  const isCode = /^[a-z]{3}$/i.test(text.trim());
  const unknown = { iata: text.trim().toUpperCase(), said: 'not in our list of airports', isGuess: false };
  if (best.length === 0) return isCode ? [unknown] : [];
  return best.map((one) => ({ iata: one.airport.iata, said: placeOf(one.airport), isGuess: isMistake(one) }));
}

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
    message: 'Travellers, 1 to 9, aged 18 or over (12 with some sellers)',
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

async function wrongDate({ context }: Walk, text: string, earliest: string, tooEarly: string): Promise<string | null> {
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
