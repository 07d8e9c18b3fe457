import type { HttpResponse } from '../../kernel/http.ts';
import { refused } from './errors.ts';
import { page } from './paging.ts';
import { placeOf } from './places.ts';
import { type Asked, data } from './sandbox.ts';

/** GET /air/airports */
export async function listAirports(asked: Asked): Promise<HttpResponse> {
  const country = asked.search.get('iata_country_code');
  const airports = [...asked.sandbox.world.airports].filter(
    ([, place]) => country === null || place.country === country,
  );
  return page(asked, airports, ([iata, place]) => placeOf(place, iata));
}

/** GET /air/airports/{id} */
export async function getAirport({ sandbox }: Asked, id: string): Promise<HttpResponse> {
  const iata = (/^arp_([a-z]{3})_/.exec(id)?.[1] ?? '').toUpperCase();
  const place = sandbox.world.airports.get(iata);
  if (!place) throw refused('not_found');
  return data(placeOf(place, iata));
}
