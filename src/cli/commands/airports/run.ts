import { namedAirports } from '../../../kernel/domain/airports.ts';
import { findPlaces } from '../../../kernel/domain/places.ts';
import { didYouMean } from '../../../kernel/nearest.ts';
import { problem } from '../../../kernel/problems.ts';
import { tableLines, type View } from '../../../terminal/index.ts';
import type { Run } from '../../spec/index.ts';
import type { ListedAirport } from './result.ts';
import type * as spec from './spec.ts';

/**
 * The airports that a text may mean, the likeliest first; all of them without one.
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
    });
  }
  const airportsFound = found
    .slice(0, limit)
    .map(
      ({ iata, name, city, country, timeZone }): ListedAirport => ({ iata, name, city, country, time_zone: timeZone }),
    );
  terminal.result({ airports: airportsFound }, view);
  return 0;
};

const view: View<{ airports: readonly ListedAirport[] }> = {
  list: 'airports',
  lines: (document, { paint, width }) =>
    tableLines(
      [
        { title: 'Code' },
        { title: 'City' },
        { title: 'Airport', cuts: true },
        { title: 'Country' },
        ...(width >= 100 ? [{ title: 'Time zone' }] : []),
      ],
      document.airports.map((one) => [
        paint.bold(one.iata),
        one.city,
        one.name,
        one.country,
        ...(width >= 100 ? [one.time_zone] : []),
      ]),
      paint.dim,
      width,
    ),
  rows: (document) => document.airports.map((one) => [one.iata, one.city, one.name, one.country, one.time_zone]),
};
