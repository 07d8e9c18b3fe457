import { type FoundAirport, findAirports, isMistake, sorted } from './airports.ts';

/**
 * Finds airports (airports.ts), with foreign city names (`münchen`, `東京`) loaded only where nothing fits without a
 * mistake. @returns also the text in English
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
