import { type FoundAirport, findAirports, isMistake, sorted } from './airports.ts';

/**
 * Airports that `text` may mean (airports.ts), and where nothing fits without a mistake, those of the city of that name
 * in another language: `münchen`, `東京`. Those names are loaded for a text that needs them alone.
 * @returns also the text in English
 */
export async function findPlaces(
  text: string,
): Promise<{ readonly inEnglish: string; readonly found: FoundAirport[] }> {
  const found = findAirports(text);
  if (found.some((one) => !isMistake(one))) return { inEnglish: text, found };
  const { citiesCalled } = await import('./place-names.ts');
  const cities = citiesCalled(text);
  const [city] = cities;
  if (city === undefined) return { inEnglish: text, found };
  return { inEnglish: city, found: sorted(cities.flatMap(findAirports)) };
}
