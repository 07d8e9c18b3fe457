import { FLEET, readAirlines } from '../airline/index.ts';
import { refused } from './errors.ts';
import { carrierOf, cityOf, placeOf } from './places.ts';
import { type Asked, type Calls, data, page, type Sandbox } from './sandbox.ts';
import { ZZ } from './world.ts';

type List = (sandbox: Sandbox) => readonly { readonly id: string }[];

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

/** A fixed list in pages, and its single entries. */
const listed = (path: string, list: List): Calls => ({
  [`GET ${path}`]: async (asked) => page(asked, list(asked), (one) => one),
  [`GET ${path}/{id}`]: async (asked, id) => {
    const one = list(asked).find((each) => each.id === id);
    if (!one) throw refused('not_found');
    return data(one);
  },
});

export const referenceCalls: Calls = {
  ...listed('/air/airlines', AIRLINES),
  ...listed('/air/aircraft', AIRCRAFT),
  ...listed('/air/loyalty_programmes', LOYALTY),
  'GET /places/suggestions': async (asked) => data(suggestions(asked)),
  'GET /air/airports': async (asked) => {
    const country = asked.search.get('iata_country_code');
    const airports = [...asked.world.airports].filter(([, place]) => country === null || place.country === country);
    return page(asked, airports, ([iata, place]) => placeOf(place, iata));
  },
  'GET /air/airports/{id}': async ({ world }, id) => {
    const iata = (/^arp_([a-z]{3})_/.exec(id)?.[1] ?? '').toUpperCase();
    const place = world.airports.get(iata);
    if (!place) throw refused('not_found');
    return data(placeOf(place, iata));
  },
};

const MOST_PLACES = 10;

/** Cities with their airports, then airports, by the beginning of code or name. */
function suggestions({ search, world: { airports } }: Asked): object[] {
  const text = (search.get('query') ?? search.get('name') ?? '').trim().toLowerCase();
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
  return [...cities.values(), ...shown].slice(0, MOST_PLACES);
}
