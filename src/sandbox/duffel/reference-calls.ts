import type { HttpResponse } from '../../kernel/http.ts';
import { FLEET, readAirlines } from '../airline/index.ts';
import { refused } from './errors.ts';
import { page } from './paging.ts';
import { carrierOf, cityOf, placeOf } from './places.ts';
import { type Asked, data, type Sandbox } from './sandbox.ts';
import { ZZ } from './world.ts';

/** Lists that never change: who flies, in what, and from where. */

type Listed = { readonly id: string };
type List = (sandbox: Sandbox) => readonly Listed[];

const AIRLINES: List = ({ ids }) => [ZZ, ...readAirlines()].map(({ name, code }) => carrierOf(ids, name, code));

const AIRCRAFT: List = ({ ids }) =>
  [...new Set(Object.values(FLEET).flatMap((types) => types.map(({ name }) => name)))].map((name) => ({
    id: ids.hashed('arc', name),
    name,
    iata_code: '32N',
  }));

const LOYALTY: List = ({ ids }) =>
  readAirlines().flatMap(({ programme, name, code, alliance }) =>
    programme === null
      ? []
      : [
          {
            id: ids.hashed('loy', programme),
            name: programme,
            alliance,
            owner_airline_id: carrierOf(ids, name, code).id,
            logo_url: null,
          },
        ],
  );

const listOf = (list: List) => async (asked: Asked) => page(asked, list(asked.sandbox), (one) => one);
const oneOf =
  (list: List) =>
  async ({ sandbox }: Asked, id: string): Promise<HttpResponse> => {
    const one = list(sandbox).find((each) => each.id === id);
    if (!one) throw refused('not_found');
    return data(one);
  };

export const [listAirlines, getAirline] = [listOf(AIRLINES), oneOf(AIRLINES)];
export const [listAircraft, getAircraft] = [listOf(AIRCRAFT), oneOf(AIRCRAFT)];
export const [listLoyalty, getLoyalty] = [listOf(LOYALTY), oneOf(LOYALTY)];

const MOST_PLACES = 10;

/** GET /places/suggestions: cities with their airports, then airports, whose code or name begins with the text. */
export async function suggestPlaces({ sandbox, search }: Asked): Promise<HttpResponse> {
  const text = (search.get('query') ?? search.get('name') ?? '').trim().toLowerCase();
  const { airports } = sandbox.world;
  const fits = (...names: string[]) => text !== '' && names.some((name) => name.toLowerCase().startsWith(text));
  const found = [...airports].filter(([iata, { city, name }]) => fits(iata, city, name, cityOf(iata) ?? ''));
  const cities = new Map<string, object>();
  for (const [iata, place] of found) {
    const code = cityOf(iata);
    if (code === null || cities.has(code)) continue;
    const members = [...airports].filter(([other]) => cityOf(other) === code);
    cities.set(code, { ...placeOf(place, iata).city, airports: members.map(([other, one]) => placeOf(one, other)) });
  }
  const shown = found.map(([iata, place]) => ({ ...placeOf(place, iata), airports: null }));
  return data([...cities.values(), ...shown].slice(0, MOST_PLACES));
}
