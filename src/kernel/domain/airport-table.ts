import rows from './airport-table.json' with { type: 'json' };

/**
 * An airport. `size`: from 1, an outpost, to 5, a world hub; it drives the sandbox's traffic. Rows are only added at
 * the end, because offer ids name airports by position.
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
