import { type FoundAirport, findAirports, isMistake, type NamedAirport } from '../../domain/airports.ts';
import { metropolitanArea } from '../../domain/metropolitan-areas.ts';
import { problem } from '../../kernel/problems.ts';
import type { CommandContext } from '../spec/command.ts';
import { quoted } from '../view/payment.ts';
import { counted, harmless } from '../view/text.ts';

const MOST_CHOICES = 12;

/**
 * The code of the airport that a text means: a city, the name of an airport, the start of one, or with a small mistake
 * in it, or the code of a city with several. Where several fit equally well a person is asked.
 * @param flag how the text was given, such as `from`
 * @throws Problem `usage` listing the candidates with their codes, or that there is none
 */
export async function airportCode(context: CommandContext, flag: string, text: string): Promise<string> {
  const { terminal } = context;
  const area = metropolitanArea(text.toUpperCase());
  const found = findAirports(text);
  const best = found.filter(({ fit }) => fit === found[0]?.fit);
  const [only] = best;
  if (area && found.length === 0) {
    throw problem('usage', {
      message: `${flag} ${text}: that is the code of a city, ${area.city}, and not of an airport.`,
      fix: `Give one of ${area.airports.join(', ')}.`,
    });
  }
  if (!only) {
    throw problem('usage', {
      message: `${flag} ${text}: no airport has that name.`,
      fix: 'Give the three letters of its code, such as LIS, or look it up.',
      next: ['farelock airports'],
    });
  }
  if (best.length === 1) {
    terminal.note(
      harmless(
        `${text} is ${only.airport.iata}: ${placeOf(only.airport)}${isMistake(only) ? ', we take it' : ''}`,
      ),
    );
    return only.airport.iata;
  }
  if (terminal.canAsk) {
    const choices = best.slice(0, MOST_CHOICES).map(({ airport }) => ({
      name: `${airport.iata}  ${placeOf(airport)}`,
      value: airport.iata,
    }));
    return terminal.ask(flag).choose(`${harmless(text)}: which airport?`, choices);
  }
  throw ambiguous(flag, text, best);
}

function ambiguous(flag: string, text: string, best: readonly FoundAirport[]) {
  const listed = best.slice(0, MOST_CHOICES).map(({ airport }) => `${airport.iata} ${placeOf(airport)}`);
  return problem('usage', {
    message: `${flag} ${text}: ${counted(best.length, 'airport')} could be meant.`,
    fix: `Give one of ${listed.join('; ')}.`,
    detail: {
      candidates: best.map(({ airport: { iata, name, city, country } }) => ({ iata, name, city, country })),
    },
    next: [`farelock airports ${quoted(text)}`],
  });
}

/** `Heathrow, London (GB)` */
export const placeOf = ({ name, city, country }: NamedAirport): string =>
  name === city ? `${city} (${country})` : `${name}, ${city} (${country})`;
