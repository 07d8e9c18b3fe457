import table from './metropolitan-areas.json' with { type: 'json' };

/** An IATA city code, of several airports or of one with another code. */
interface MetropolitanArea {
  readonly code: string;
  readonly city: string;
  /** IATA codes, the largest airport first; some are not in our table. */
  readonly airports: readonly string[];
}

/** Excludes city codes that are airport codes too: SHA, HOU or BKK means the airport. */
const AREAS: readonly MetropolitanArea[] = Object.entries(table).map(([code, area]) => ({ code, ...area }));

export const metropolitanArea = (code: string): MetropolitanArea | null =>
  AREAS.find((area) => area.code === code) ?? null;

export const areaOfCity = (name: string): MetropolitanArea | null =>
  AREAS.find(({ city }) => city.toLowerCase() === name.toLowerCase()) ?? null;

export const METROPOLITAN_CODES: readonly string[] = Object.keys(table);
