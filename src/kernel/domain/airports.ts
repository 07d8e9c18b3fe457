import { editDistance, mistakesIn } from '../nearest.ts';
import { AIRPORT_TABLE } from './airport-table.ts';
import { metropolitanArea } from './metropolitan-areas.ts';

export interface NamedAirport {
  readonly iata: string;
  readonly name: string;
  readonly city: string;
  readonly country: string;
  readonly timeZone: string;
  /** From 1, an outpost, to 5, a world hub. */
  readonly size: number;
}

/** Strips accents, case, hyphens and apostrophes: `São Paulo` is `sao-paulo`. */
export const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/ß/g, 'ss')
    .replace(/[øØ]/g, 'o')
    .replace(/[łŁ]/g, 'l')
    .replace(/[\s'’.,/()-]+/g, ' ')
    .trim()
    .toLowerCase()
    .normalize('NFC');

export const namedAirports = (): NamedAirport[] =>
  AIRPORT_TABLE.map(([iata, name, city, country, , , timeZone, size]) => ({
    iata,
    name,
    city,
    country,
    timeZone,
    size,
  }));

/** Ranks of how well a text fits an airport; 0 is the best. */
const FITS = { code: 0, exact: 1, city: 2, name: 3, word: 4, codeStart: 5, mistake: 6 } as const;

export interface FoundAirport {
  readonly airport: NamedAirport;
  /** A rank of FITS. */
  readonly fit: number;
}

/**
 * Ranks by code, whole name, start of city or name, then any word, larger airports first. A city's code means all its
 * airports. Typos are forgiven only if nothing fits.
 */
export function findAirports(text: string): FoundAirport[] {
  const wanted = folded(text);
  if (wanted === '') return [];
  const airports = namedAirports();
  const area = metropolitanArea(text.trim().toUpperCase());
  // A city code excludes names that begin like it: ROM is not Romania.
  if (area) {
    const known = area.airports.flatMap((code) => airports.find(({ iata }) => iata === code) ?? []);
    return known.map((airport) => ({ airport, fit: FITS.code }));
  }
  const found = airports.flatMap((airport) => {
    const fit = fitOf(airport, wanted);
    return fit === null ? [] : [{ airport, fit }];
  });
  if (found.length > 0 || wanted.length < 4) return sorted(found);
  const most = Math.min(2, mistakesIn(wanted) - (wanted.length < 6 ? 1 : 0));
  const misspelt = airports.flatMap((airport) => {
    const distance = Math.min(...namesOf(airport).map((name) => editDistance(wanted, name, most)));
    return distance <= most ? [{ airport, fit: FITS.mistake + distance }] : [];
  });
  return sorted(misspelt);
}

/** True for an airport found by forgiving a typo. */
export const isMistake = ({ fit }: FoundAirport): boolean => fit >= FITS.mistake;

function fitOf(airport: NamedAirport, wanted: string): number | null {
  const code = airport.iata.toLowerCase();
  if (code === wanted) return FITS.code;
  const names = namesOf(airport);
  if (names.includes(wanted)) return FITS.exact;
  const [city = '', name = ''] = names;
  if (city.startsWith(wanted)) return FITS.city;
  if (name.startsWith(wanted)) return FITS.name;
  if (` ${city} ${name}`.includes(` ${wanted}`)) return FITS.word;
  return code.startsWith(wanted) ? FITS.codeStart : null;
}

/** The city, the name, and both joined unless the name begins with the city. */
function namesOf(airport: NamedAirport): string[] {
  const city = folded(airport.city);
  const name = folded(airport.name);
  return name.startsWith(city) ? [city, name] : [city, name, `${city} ${name}`];
}

export const sorted = (found: FoundAirport[]): FoundAirport[] =>
  found.sort((a, b) => a.fit - b.fit || b.airport.size - a.airport.size);

/** Makes a unique command-line word per airport: `lisbon`, `london-heathrow`. */
export function airportWords(airports: readonly NamedAirport[]): Map<string, string> {
  const cities = new Map<string, number>();
  for (const { city } of airports) cities.set(folded(city), (cities.get(folded(city)) ?? 0) + 1);
  return new Map(
    airports.map((airport) => {
      const names = namesOf(airport);
      const words = (cities.get(names[0] ?? '') === 1 ? names[0] : names.at(-1)) ?? '';
      return [airport.iata, words.replaceAll(' ', '-')];
    }),
  );
}
