import { isMistake } from '../../kernel/domain/airports.ts';
import { findPlaces } from '../../kernel/domain/places.ts';
import { harmless } from '../../terminal/text.ts';
import { placeOf } from '../searching/airports.ts';
import { quoted } from '../view/payment.ts';
import { searchCommand } from './commands.ts';
import { type Place, type Step, said, type Walk } from './walk.ts';

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

/** By name, city or code. What may mean several airports is a choice; Esc in it asks for the name again. */
async function askPlace(
  walk: Walk,
  label: string,
  suits: (iata: string) => boolean,
): Promise<Place | 'back'> {
  for (;;) {
    const typed = await walk.ask.text({
      message: `${label}: a city, an airport or its code`,
      check: async (text) => {
        const found = await placesFor(text);
        if (found.length === 0)
          return `No airport matches ${harmless(text)}; any three-letter airport code works too.`;
        return found.some(({ iata }) => suits(iata)) ? null : 'That is where you are flying from.';
      },
    });
    if (typed.kind === 'back') return 'back';
    const found = (await placesFor(typed.value)).filter(({ iata }) => suits(iata));
    const [only] = found;
    if (found.length === 1 && only && !only.isGuess) return only;
    const chosen = await walk.ask.choose({
      message: `${label}: which one is ${harmless(typed.value)}?  ($ farelock airports ${quoted(typed.value)})`,
      lines: found
        .slice(0, MOST_CHOICES)
        .map((place) => ({ name: `${place.iata}  ${place.said}`, value: place })),
    });
    if (chosen.kind === 'answer') return chosen.value;
  }
}

interface Candidate extends Place {
  /** Only found by forgiving a mistake. */
  readonly isGuess: boolean;
}

/** The airports that fit equally well; a code that is not in the table is left to the service. */
async function placesFor(text: string): Promise<Candidate[]> {
  const { found } = await findPlaces(text);
  const best = found.filter((one) => one.fit === found[0]?.fit || isMistake(one));
  const isCode = /^[a-z]{3}$/i.test(text.trim());
  const unknown = { iata: text.trim().toUpperCase(), said: 'not in our list of airports', isGuess: false };
  if (best.length === 0) return isCode ? [unknown] : [];
  return best.map((one) => ({
    iata: one.airport.iata,
    said: placeOf(one.airport),
    isGuess: isMistake(one),
  }));
}
