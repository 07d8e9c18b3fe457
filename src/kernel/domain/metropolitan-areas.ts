import table from './metropolitan-areas.json' with { type: 'json' };

/** IATA's metropolitan areas: the codes of cities with several airports, or with one that has a code of its own. */
interface MetropolitanArea {
  readonly code: string;
  readonly city: string;
  /** IATA codes, the largest first. Not all of them are in our table. */
  readonly airports: readonly string[];
}

/** Only codes that are not those of an airport too: SHA, HOU or BKK means the airport. */
const AREAS: readonly MetropolitanArea[] = Object.entries(table).map(([code, area]) => ({ code, ...area }));

/** The area of a code in capitals, or null for any other text. */
export const metropolitanArea = (code: string): MetropolitanArea | null =>
  AREAS.find((area) => area.code === code) ?? null;

/** The area of a city by its English name; null for a city without a code of its own. */
export const areaOfCity = (name: string): MetropolitanArea | null =>
  AREAS.find(({ city }) => city.toLowerCase() === name.toLowerCase()) ?? null;

export const METROPOLITAN_CODES: readonly string[] = Object.keys(table);
