import { isMistake } from '../../../kernel/domain/airports.ts';
import { findPlaces } from '../../../kernel/domain/places.ts';
import { ADULT_FROM, agesFault, MOST_TRAVELLERS } from '../../../kernel/domain/travel-ages.ts';
import { isProblem } from '../../../kernel/problems.ts';
import { dayName, harmless } from '../../../terminal/index.ts';
import { dayChoices, parseDate, placeOf, readDate, whichDay } from '../../searching/index.ts';
import { travellersText } from '../../view/flights/index.ts';
import { furtherFlights } from '../search/index.ts';
import { type Place, type Step, type StepName, said, searchCommand, type Walk } from './walk.ts';

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

async function askPlace({ ask }: Walk, label: string, suits: (iata: string) => boolean): Promise<Place | 'back'> {
  const answer = await ask.search<Place>({
    message: `${label}: a city, an airport or its code`,
    async find(text) {
      // Tab puts a whole suggestion into the line: only its code is looked up.
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
  /** True if it was found only by forgiving a typing mistake. */
  readonly isGuess: boolean;
}

/** Finds the airports that fit best. A code that is not in our table is left to the service. */
async function placesFor(text: string): Promise<Candidate[]> {
  const { found } = await findPlaces(text);
  const best = found.filter((one) => one.fit === found[0]?.fit || isMistake(one));
  const isCode = /^[a-z]{3}$/i.test(text.trim());
  const unknown = { iata: text.trim().toUpperCase(), said: 'not in our list of airports', isGuess: false };
  if (best.length === 0) return isCode ? [unknown] : [];
  return best.map((one) => ({ iata: one.airport.iata, said: placeOf(one.airport), isGuess: isMistake(one) }));
}

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
  trip.onward = [];
  said(walk, 'Depart', dayName(trip.depart), searchCommand({ ...trip, back: null, ...ALONE }));
  return 'return';
};

const MOST_ONWARD = 3;

/** The travellers of a command that is shown before the question about them. */
const ALONE = { adults: 1, childAges: [] as number[] };

export const askReturn: Step = async (walk) => {
  const { trip } = walk;
  // Coming back to a full journey asks for its last flight again.
  if (trip.onward.length === MOST_ONWARD) trip.onward = trip.onward.slice(0, -1);
  if (trip.onward.length > 0) return askOnward(walk);
  const depart = trip.depart ?? '';
  const answer = await walk.ask.text({
    message: 'Return: a date, Enter for one way, or a further flight: FCO@24 Dec',
    mayBeEmpty: true,
    check: async (text) =>
      text.includes('@') ? wrongFlight(walk, text) : wrongDate(walk, text, depart, 'That is before the departure.'),
  });
  if (answer.kind === 'back') return 'back';
  if (answer.value.includes('@')) return flyOn(walk, answer.value);
  const day = answer.value === '' ? '' : await whichIsMeant(walk, answer.value, depart);
  if (day === null) return 'return';
  trip.back = day === '' ? null : day;
  const value = trip.back === null ? 'one way' : dayName(trip.back);
  said(walk, 'Return', value, searchCommand({ ...trip, ...ALONE }));
  return 'adults';
};

/** Asks for one more flight, until the answer is empty. */
async function askOnward(walk: Walk): Promise<StepName | 'back'> {
  const { trip } = walk;
  const answer = await walk.ask.text({
    message: 'Then: a further flight, such as LIS@28 Dec, or Enter',
    mayBeEmpty: true,
    check: async (text) => wrongFlight(walk, text),
  });
  if (answer.kind === 'back') trip.onward = [];
  if (answer.kind === 'back') return 'back';
  return answer.value === '' ? 'adults' : flyOn(walk, answer.value);
}

async function flyOn(walk: Walk, text: string): Promise<StepName> {
  const { trip } = walk;
  const flight = await furtherFlight(walk, text);
  trip.back = null;
  trip.onward = [...trip.onward, flight];
  const [cities = '', day = ''] = flight.split('@');
  said(walk, 'Then', `${cities.replace('-', ' → ')}  ${dayName(day)}`, searchCommand({ ...trip, ...ALONE }));
  return trip.onward.length === MOST_ONWARD ? 'adults' : 'return';
}

async function wrongFlight(walk: Walk, text: string): Promise<string | null> {
  if (text === '') return null;
  try {
    await furtherFlight(walk, text);
    return null;
  } catch (error) {
    if (!isProblem(error, 'usage')) throw error;
    return `${error.message} ${error.fix}`;
  }
}

/** Reads a flight without asking: refuses an ambiguous text, and names both readings. */
async function furtherFlight({ context, trip }: Walk, text: string): Promise<string> {
  const { to, depart, onward } = trip;
  const [, place = to?.iata ?? '', day = depart ?? ''] = /-(...)@(.*)$/.exec(onward.at(-1) ?? '') ?? [];
  const terminal = { ...context.terminal, canAsk: false, note: () => undefined };
  const [flight = ''] = await furtherFlights({ ...context, terminal }, [text], { place, day });
  return flight;
}

export const askAdults: Step = async (walk) => {
  const { trip } = walk;
  const answer = await walk.ask.text({
    message: 'Travellers, 1 to 9: adults, then ages under 18 when the last direction departs, as 2 + 8, 1',
    preset: [trip.adults, ...(trip.childAges.length > 0 ? [`+ ${trip.childAges.join(', ')}`] : [])].join(' '),
    check: async (text) => wrongParty(text),
  });
  if (answer.kind === 'back') return 'back';
  Object.assign(trip, partyOf(answer.value));
  said(walk, 'Travellers', travellersText(trip).join(', '), searchCommand(trip));
  return 'search';
};

/** `2 + 8, 1`: adults, then the ages of children. */
function partyOf(text: string): Pick<Walk['trip'], 'adults' | 'childAges'> | null {
  const [adults = 0, ...childAges] = (text.match(/\d+/g) ?? []).map(Number);
  return /^[1-9](?:[ +,;]+\d{1,2})*$/.test(text.trim()) ? { adults, childAges } : null;
}

function wrongParty(text: string): string | null {
  const party = partyOf(text);
  if (!party || party.childAges.some((age) => age >= ADULT_FROM)) {
    return `Type the adults, 1 to ${MOST_TRAVELLERS}, then the ages of those under ${ADULT_FROM}; book larger groups separately.`;
  }
  const fault = agesFault(party.adults, party.childAges);
  return fault === null ? null : `That ${fault}`;
}

async function wrongDate({ context }: Walk, text: string, earliest: string, tooEarly: string): Promise<string | null> {
  const read = readDate(text, { nowMs: context.clock.now(), from: earliest });
  if (read.kind === 'wrong') return `${read.message} ${read.fix}`;
  const days = read.kind === 'day' ? [read.day] : read.days;
  return days.every((day) => day < earliest) ? tooEarly : null;
}

/** Returns the day that a checked answer means. Asks if it may be two; null if Esc left that question. */
async function whichIsMeant({ context, ask }: Walk, text: string, earliest: string): Promise<string | null> {
  const read = readDate(text, { nowMs: context.clock.now(), from: earliest });
  if (read.kind !== 'either') return read.kind === 'day' ? read.day : null;
  const days = read.days.filter((day) => day >= earliest);
  const [only] = days;
  if (days.length === 1 && only !== undefined) return only;
  const chosen = await ask.choose({ message: whichDay(text), lines: dayChoices(days) });
  return chosen.kind === 'answer' ? chosen.value : null;
}
