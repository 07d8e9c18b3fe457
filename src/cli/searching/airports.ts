import { type FoundAirport, isMistake, type NamedAirport } from '../../kernel/domain/airports.ts';
import { areaOfCity, metropolitanArea } from '../../kernel/domain/metropolitan-areas.ts';
import { findPlaces } from '../../kernel/domain/places.ts';
import { type ProblemOptions, problem } from '../../kernel/problems.ts';
import { farelock } from '../../kernel/shell-word.ts';
import { counted, harmless } from '../../terminal/index.ts';
import type { CommandContext } from '../spec/index.ts';

const MOST_CHOICES = 12;
const MOST_GUESSES = 3;

/**
 * Finds the airport that a text means: a city in any language, the name of an airport or its beginning, or the code of
 * a city with several airports. Asks a person if several fit equally well, or if the text has a typo: a guess is never
 * paid for.
 * @param flag the option that gave the text, such as `from`
 * @param takesCities true if the answer may be the code of a city, for any of its airports. Each airport is a paid
 *   search: a person has to choose the city, and off a terminal it takes --yes or --max-payment
 * @throws Problem `usage` with the candidates and their codes, or for an unknown airport
 */
export async function airportCode(
  context: CommandContext,
  flag: string,
  text: string,
  takesCities: boolean,
): Promise<string> {
  const { terminal, globals } = context;
  const { inEnglish, found } = await findPlaces(text);
  const area = metropolitanArea(text.toUpperCase()) ?? areaOfCity(inEnglish);
  const best = found.filter(({ fit }) => fit === found[0]?.fit);
  const [only] = best;
  if (area && !only) {
    const isCode = area.code === text.toUpperCase();
    throw problem('usage', {
      message: `${text} is ${isCode ? 'the code of ' : ''}a city, ${area.city}, not ${isCode ? 'of ' : ''}an airport.`,
      fix: `Choose one of ${area.airports.join(', ')}.`,
    });
  }
  if (!only) throw unknown(text);
  const isGuess = best.some(isMistake);
  if (!terminal.canAsk && isGuess) throw guessed(text, best);
  const city = takesCities && area && best.length > 1 && !isGuess ? area : null;
  const isNamed = city?.code === text.toUpperCase();
  if (city && isNamed && !terminal.canAsk && (globals.yes || globals.maxPayment !== undefined)) return city.code;
  if (!terminal.canAsk && best.length > 1) throw ambiguous(text, best, isNamed);
  if (best.length > 1) {
    const airports = best
      .slice(0, MOST_CHOICES)
      .map(({ airport }) => ({ name: `${airport.iata}  ${placeOf(airport)}`, value: airport.iata }));
    const any = `${city?.code}  any of them (up to ${best.length} searches)`;
    const choices = city ? [...airports, { name: any, value: city.code }] : airports;
    return terminal.ask(flag).choose(`${harmless(text)}: which airport?`, choices);
  }
  const { iata } = only.airport;
  if (!isGuess) terminal.note(harmless(`${text} is ${iata}: ${placeOf(only.airport)}`));
  else {
    const question = `${text}: did you mean ${iata}, ${placeOf(only.airport)}?`;
    if (!(await terminal.ask(flag).confirm(harmless(question), true))) throw unknown(text);
  }
  return iata;
}

const named = (airport: NamedAirport): string => `${airport.iata} ${placeOf(airport)}`;

const unknown = (text: string, how?: ProblemOptions) =>
  problem('usage', {
    message: `Unknown airport "${text}".`,
    fix: 'Use its three-letter code, such as LIS, or look it up.',
    ...(how ?? { next: [farelock`airports`] }),
  });

function ambiguous(text: string, best: readonly FoundAirport[], isCity: boolean) {
  const listed = best.slice(0, MOST_CHOICES).map(({ airport }) => named(airport));
  return problem('usage', {
    message: `"${text}" matches ${counted(best.length, 'airport')}.`,
    fix: `Choose one of ${listed.join('; ')}${isCity ? `, or add --yes or --max-payment to search them all` : ''}.`,
    detail: { candidates: best.map(({ airport: { iata, name, city, country } }) => ({ iata, name, city, country })) },
    next: [farelock`airports ${text}`],
  });
}

/** Refuses a text with a typo, where no person can be asked. */
function guessed(text: string, best: readonly FoundAirport[]) {
  const near = best.slice(0, MOST_GUESSES).map(({ airport }) => airport);
  const fix = `Did you mean ${near.map(named).join('; ')}?`;
  return unknown(text, { fix, detail: { given: text, meant: near.map(({ iata }) => iata) } });
}

/** `Heathrow, London (GB)` */
export const placeOf = ({ name, city, country }: NamedAirport): string =>
  name === city ? `${city} (${country})` : `${name}, ${city} (${country})`;
