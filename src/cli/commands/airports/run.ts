import { namedAirports } from '../../../kernel/domain/airports.ts';
import { findPlaces } from '../../../kernel/domain/places.ts';
import { didYouMean } from '../../../kernel/nearest.ts';
import { problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { listView } from '../../../terminal/index.ts';
import type { Run } from '../../spec/index.ts';
import type { ListedAirport } from './result.ts';
import type * as spec from './spec.ts';

/**
 * Lists the airports that a text may mean, likeliest first; without a text, all airports.
 * @throws Problem `not_found`
 */
export const airports: Run<typeof spec.airports> = async ({ terminal }, { text = [], limit }) => {
  const wanted = text.join(' ').trim();
  const found = wanted === '' ? namedAirports() : (await findPlaces(wanted)).found.map(({ airport }) => airport);
  if (found.length === 0) {
    const cities = [...new Set(namedAirports().map(({ city }) => city))];
    throw problem('not_found', {
      message: `No airport matches "${wanted}".`,
      fix: didYouMean(wanted, cities) || 'Try the city, the airport name or its three-letter code.',
      next: [farelock`airports`],
    });
  }
  const listed = found.slice(0, limit).map(({ timeZone: time_zone, size: _, ...one }) => ({ ...one, time_zone }));
  terminal.result({ airports: listed }, view);
  return 0;
};

const view = listView('airports', {
  columns: ({ paint, width }) => [
    { title: 'Code', cell: ({ iata }) => paint.bold(iata) },
    { title: 'City', cell: ({ city }) => city },
    { title: 'Airport', cuts: true, cell: ({ name }) => name },
    { title: 'Country', cell: ({ country }) => country },
    ...(width >= 100 ? [{ title: 'Time zone', cell: (one: ListedAirport) => one.time_zone }] : []),
  ],
  row: (one: ListedAirport) => [one.iata, one.city, one.name, one.country, one.time_zone],
});
