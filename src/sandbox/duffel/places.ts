import type { Airport } from '../airline/index.ts';
import type { DuffelIds } from './ids.ts';

export type Place = Pick<Airport, 'name' | 'city' | 'country' | 'latitude' | 'longitude' | 'timeZone'>;

const CITY_CODES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ['LON', 'LHR LGW STN LTN LCY SEN'],
    ['NYC', 'JFK EWR LGA'],
    ['PAR', 'CDG ORY'],
    ['TYO', 'HND NRT'],
    ['MIL', 'MXP LIN BGY'],
  ].flatMap(([city = '', codes = '']) => codes.split(' ').map((code) => [code, city])),
);

/** Null if the city has the airport's code. */
export const cityOf = (iata: string): string | null => CITY_CODES[iata] ?? null;

/** The known airports of a city, or the airport itself. */
export const airportsOf = (code: string, airports: ReadonlyMap<string, Place>): string[] =>
  airports.has(code) ? [code] : [...airports.keys()].filter((iata) => CITY_CODES[iata] === code);

export function cityOrAirport(airports: ReadonlyMap<string, Place>, code: string): { readonly type: string } {
  const [first = code] = airportsOf(code, airports);
  const place = placeOf(airports.get(first), first);
  return first !== code && place.city ? place.city : place;
}

export function placeOf(airport: Place | undefined, iata: string) {
  const country = airport?.country ?? 'XX';
  const cityCode = CITY_CODES[iata] ?? iata;
  const city = {
    type: 'city',
    id: `cit_${cityCode.toLowerCase()}_${country.toLowerCase()}`,
    name: airport?.city ?? null,
    iata_code: cityCode,
    iata_country_code: country,
  };
  return {
    type: 'airport',
    id: `arp_${iata.toLowerCase()}_${country.toLowerCase()}`,
    iata_code: iata,
    // We have no table of these codes, and the real API omits some too.
    icao_code: null,
    iata_city_code: cityCode,
    iata_country_code: country,
    name: airport?.name ?? iata,
    city_name: airport?.city ?? null,
    city: CITY_CODES[iata] === undefined ? null : city,
    latitude: airport?.latitude ?? null,
    longitude: airport?.longitude ?? null,
    time_zone: airport?.timeZone ?? null,
  };
}

/** An airline, or an agency without a code. */
export const carrierOf = (ids: DuffelIds, name: string, iata: string | null) => ({
  id: ids.hashed('arl', name),
  name,
  iata_code: iata,
  logo_symbol_url: iata === null ? null : `https://assets.sandbox.farelock.invalid/airlines/${iata}.svg`,
  logo_lockup_url: null,
  conditions_of_carriage_url: null,
});
