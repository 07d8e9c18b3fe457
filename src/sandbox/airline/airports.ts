import { AIRPORT_TABLE, type AirportRow } from '../../kernel/domain/airport-table.ts';

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

const EARTH_RADIUS_KM = 6371;

/** Great-circle distance in kilometres. */
export function distanceKm(a: Airport, b: Airport): number {
  const x = a.place[0] - b.place[0];
  const y = a.place[1] - b.place[1];
  const z = a.place[2] - b.place[2];
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(x * x + y * y + z * z) / 2));
}

/** Share of the journey that goes east, -1 (due west) to 1 (due east), by the shorter way around. */
export function eastward(a: Airport, b: Airport): number {
  const difference = ((b.longitude - a.longitude + 540) % 360) - 180;
  const east = difference * Math.cos((((a.latitude + b.latitude) / 2) * Math.PI) / 180);
  const north = b.latitude - a.latitude;
  const length = Math.hypot(east, north);
  return length === 0 ? 0 : east / length;
}

/**
 * The jet streams' effect on the ground speed from a to b, km/h: with the wind eastbound, against it westbound,
 * strongest around 40 degrees north and south, nothing at the equator.
 */
export function tailwindKmh(a: Airport, b: Airport): number {
  const latitude = Math.abs((a.latitude + b.latitude) / 2);
  const strength = Math.max(0, 1 - Math.abs(latitude - 42) / 32);
  return 65 * strength * eastward(a, b);
}
