import { AIRPORT_TABLE, type AirportRow } from './airport-table.ts';

/** A real airport. */
export interface Airport {
  readonly index: number;
  readonly iata: string;
  readonly name: string;
  readonly city: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** Degrees, north positive. */
  readonly latitude: number;
  /** Degrees, east positive. */
  readonly longitude: number;
  /** IANA zone. */
  readonly timeZone: string;
  /** 5 a world hub, 1 an outpost. */
  readonly size: number;
  /** The place as a unit vector from the centre of the earth, which makes distances cheap. */
  readonly place: readonly [x: number, y: number, z: number];
}

const read = (row: AirportRow, index: number): Airport => ({
  index,
  iata: row[0],
  name: row[1],
  city: row[2],
  country: row[3],
  latitude: row[4],
  longitude: row[5],
  timeZone: row[6],
  size: row[7],
  place: placeOf(row[4], row[5]),
});

function placeOf(latitude: number, longitude: number): readonly [number, number, number] {
  const north = (latitude * Math.PI) / 180;
  const east = (longitude * Math.PI) / 180;
  return [Math.cos(north) * Math.cos(east), Math.cos(north) * Math.sin(east), Math.sin(north)];
}

/** Every airport of the sandbox, in table order. */
export const readAirports = (): Airport[] => AIRPORT_TABLE.map(read);

/** The airport with this IATA code (upper case), or null. */
export function airportByCode(iata: string): Airport | null {
  const index = AIRPORT_TABLE.findIndex((row) => row[0] === iata);
  const row = AIRPORT_TABLE[index];
  return row ? read(row, index) : null;
}

/**
 * Airports that `text` may mean: by code first, then by the start of the city, the start of the name, and any word in
 * them; larger airports first. Case and accents do not matter.
 */
export function findAirports(text: string, limit = 10): Airport[] {
  const wanted = fold(text);
  if (wanted === '') return [];
  const rank = (airport: Airport): number => {
    if (fold(airport.iata) === wanted) return 0;
    const city = fold(airport.city);
    if (city === wanted) return 1;
    if (city.startsWith(wanted)) return 2;
    const name = fold(airport.name);
    if (name.startsWith(wanted)) return 3;
    if (`${city} ${name}`.includes(` ${wanted}`)) return 4;
    return fold(airport.iata).startsWith(wanted) ? 5 : Number.POSITIVE_INFINITY;
  };
  return readAirports()
    .map((airport) => ({ airport, rank: rank(airport) }))
    .filter((found) => Number.isFinite(found.rank))
    .sort((a, b) => a.rank - b.rank || b.airport.size - a.airport.size || a.airport.index - b.airport.index)
    .slice(0, limit)
    .map((found) => found.airport);
}

const fold = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[\s'’.-]+/g, ' ')
    .trim()
    .toLowerCase();
