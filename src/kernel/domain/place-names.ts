import { folded } from './airports.ts';
import CLDR_NAMES from './place-names-cldr.json' with { type: 'json' };
import OTHER_NAMES from './place-names-other.json' with { type: 'json' };

/**
 * The cities, in English, that are called so in another language: `münchen`, `Wien`, `東京`. Ignores accents and case.
 * Loaded where a text means nothing directly. `.ci/place-names.mjs` makes the table of CLDR's names, folded already, from
 * Unicode CLDR 47 (© Unicode, Inc., Unicode-3.0, docs/licences.md); the other table has names that CLDR lacks: those in
 * the city's own language and in those of many travellers.
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
