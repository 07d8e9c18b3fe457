/**
 * Writes src/kernel/domain/place-names-cldr.json from Unicode CLDR: the names of cities in other languages. Run by hand:
 * `npm pack cldr-dates-full@47`, unpack it, and `node .ci/place-names.mjs <folder>/package`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder = ''] = process.argv.slice(2);
const DOMAIN = new URL('../src/kernel/domain/', import.meta.url);

const LANGUAGES =
  'af am ar az be bg bn bs ca cs cy da de el es et eu fa fi fil fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko ' +
  'ky lb lo lt lv mk ml mn mr ms mt my nb ne nl pa pl ps pt ro ru si sk sl so sq sr sr-Latn sv sw ta te tg th tk tr uk ' +
  'ur uz vi zh zh-Hant';

/** As src/kernel/domain/airports.ts folds. */
const folded = (text) =>
  text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(/ß/g, 'ss')
    .replace(/[øØ]/g, 'o')
    .replace(/[łŁ]/g, 'l')
    .replace(/[\s'’.,/()-]+/g, ' ')
    .trim()
    .toLowerCase()
    .normalize('NFC');

const zonesOf = (language) => {
  const file = join(folder, 'main', language, 'timeZoneNames.json');
  return named(JSON.parse(readFileSync(file, 'utf8')).main[language].dates.timeZoneNames.zone);
};

/** [zone, name of its city] of every zone that has one. */
const named = (zones, path = '') =>
  Object.entries(zones).flatMap(([key, value]) =>
    typeof value !== 'object'
      ? []
      : [
          ...(value.exemplarCity === undefined ? [] : [[`${path}${key}`, value.exemplarCity]]),
          ...named(value, `${path}${key}/`),
        ],
  );

const ours = JSON.parse(readFileSync(new URL('airport-table.json', DOMAIN), 'utf8'));
// Moscow has no airport in the table, and a code of its own.
const cities = new Set(ours.map(([, , city]) => folded(city)).concat('moscow'));
const english = new Map(zonesOf('en'));
const names = new Map();
for (const language of LANGUAGES.split(' ')) {
  for (const [zone, name] of zonesOf(language)) {
    const city = folded(english.get(zone) ?? zone.split('/').at(-1).replaceAll('_', ' '));
    if (!cities.has(city) || folded(name) === city) continue;
    names.set(city, (names.get(city) ?? new Set()).add(folded(name)));
  }
}

const rows = [...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([city, set]) => [city, [...set].join('|')]);
writeFileSync(new URL('place-names-cldr.json', DOMAIN), `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`);
