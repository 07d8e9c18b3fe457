import { type FoundAirport, findAirports, isMistake, sorted } from './airports.ts';

/** Finds airports; loads foreign city names (`münchen`, `東京`) if nothing fits well. `inEnglish`: the name that fits. */
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
