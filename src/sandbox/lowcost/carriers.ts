import { type Airport, airportByCode } from '../airline/airports.ts';
import { distanceKm } from '../airline/geography.ts';
import { scenarioRoute } from './scenarios.ts';

/** A carrier that sells on its own website alone. All of them are invented. */
export interface Carrier {
  readonly index: number;
  readonly code: string;
  readonly name: string;
  /** Beginnings of the IANA zones it flies between; none: the test routes. */
  readonly areas: readonly string[];
}

const CARRIER_TABLE: readonly (readonly [code: string, name: string, areas: string])[] = [
  ['X9', 'Sandbox Hopper', ''],
  ['P2', 'Pennywing', 'Europe/ Atlantic/ Africa/Casablanca Africa/Algiers Africa/Tunis Africa/Cairo'],
  ['Q2', 'Zestjet', 'Europe/ Atlantic/'],
  ['Q4', 'Mango Hop', 'Asia/ Indian/'],
  ['X4', 'Budgie Air', 'Australia/ Pacific/'],
  ['D8', 'Dime Air', 'America/'],
  ['N8', 'Nickel Jet', 'America/'],
];

export const CARRIERS: readonly Carrier[] = CARRIER_TABLE.map(([code, name, areas], index) => ({
  index,
  code,
  name,
  areas: areas === '' ? [] : areas.split(' '),
}));

const LEAST_KM = 250;
const MOST_KM = 3800;

/** Lists the carriers between two airports: short and medium haul within the carrier's part of the world. */
export function carriersBetween(from: Airport, to: Airport): readonly Carrier[] {
  if (scenarioRoute(from.iata, to.iata)) return CARRIERS.filter(({ areas }) => areas.length === 0);
  const km = distanceKm(from, to);
  if (km < LEAST_KM || km > MOST_KM || Math.min(from.size, to.size) < 2) return [];
  const at = (carrier: Carrier, airport: Airport) =>
    carrier.areas.some((area) => airport.timeZone.startsWith(area));
  return CARRIERS.filter((carrier) => at(carrier, from) && at(carrier, to));
}

/** Checks that somebody flies between two airports, without making a world. */
export function isServed(origin: string, destination: string): boolean {
  const from = airportByCode(origin);
  const to = airportByCode(destination);
  return from !== null && to !== null && from.iata !== to.iata && carriersBetween(from, to).length > 0;
}
