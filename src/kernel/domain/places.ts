import { type FoundAirport, findAirports, isMistake, sorted } from './airports.ts';

/** Finds airports; loads foreign city names (`münchen`, `東京`) where nothing fits well. @returns also the English text */
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
