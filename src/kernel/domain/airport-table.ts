import rows from './airport-table.json' with { type: 'json' };

/**
 * IATA code, name, city, ISO 3166 country, latitude, longitude, IANA zone, size (5 a world hub, 1 an outpost; drives
 * traffic). Rows are only added at the end: offer ids name airports by position.
 */
export type AirportRow = readonly [
  iata: string,
  name: string,
  city: string,
  country: string,
  latitude: number,
  longitude: number,
  timeZone: string,
  size: 1 | 2 | 3 | 4 | 5,
];

export const AIRPORT_TABLE = rows as unknown as readonly AirportRow[];
