import { folded } from './airports.ts';
import CLDR_NAMES from './place-names-cldr.json' with { type: 'json' };
import OTHER_NAMES from './place-names-other.json' with { type: 'json' };

/**
 * Finds English city names by foreign ones (`münchen`, `Wien`, `東京`), for texts that match no English name.
 * `.ci/place-names.mjs` folds names of Unicode CLDR 47 (© Unicode, Inc., Unicode-3.0, docs/licences.md); the other
 * table adds local and travellers' names.
 */
export function citiesCalled(text: string): string[] {
  const wanted = folded(text);
  if (wanted === '') return [];
  const called = (table: Readonly<Record<string, string>>, isWanted: (name: string) => boolean) =>
    Object.entries(table).flatMap(([city, names]) => (names.split('|').some(isWanted) ? [city] : []));
  return [
    ...new Set([
      ...called(CLDR_NAMES, (name) => name === wanted),
      ...called(OTHER_NAMES, (name) => folded(name) === wanted),
    ]),
  ];
}
