import { AIRPORT_TABLE, type AirportRow } from '../../domain/airport-table.ts';

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
