import type { CabinClass } from '../../wire/flights/index.ts';
import AIRLINES from './airlines.json' with { type: 'json' };
import { type Airport, readAirports } from './airports.ts';
import FLEET_TABLE from './fleet.json' with { type: 'json' };
import { createZones, type Zones } from './zones.ts';

/** An invented airline: none is meant to be a real company, and no code is in use. */
export interface Airline {
  /** Its position in airlines.json, which offer ids and flight numbers name it by: rows are only ever added at the end. */
  readonly index: number;
  /** Two characters, openly fictional. */
  readonly code: string;
  readonly name: string;
  readonly kind: 'full_service' | 'leisure' | 'regional';
  /** At most two: flight numbers are laid out per hub. */
  readonly hubs: readonly string[];
  readonly alliance: string | null;
  readonly programme: string | null;
  /** Economy fare brands, the most restricted first. */
  readonly brands: readonly string[];
}

type AirlineRow = [string, string, Airline['kind'], hubs: string, string | null, string | null, brands: string];

export const readAirlines = (): Airline[] =>
  (AIRLINES as AirlineRow[]).map(([code, name, kind, hubs, alliance, programme, brands], index) => ({
    index,
    code,
    name,
    kind,
    hubs: hubs === '' ? [] : hubs.split(' '),
    alliance,
    programme,
    brands: brands.split(','),
  }));

/** Position of the airline that flies within a city, and on the routes that are set aside for testing. */
export const SHUTTLE = 0;

/** An aircraft type as the sandbox flies it: real types, typical figures. */
export interface Aircraft {
  readonly name: string;
  readonly body: 'turboprop' | 'regional_jet' | 'narrow' | 'wide';
  /** The longest flight that it is sent on, km. */
  readonly rangeKm: number;
  readonly cruiseKmh: number;
  /** Seats by cabin; 0 is a cabin that it does not have. */
  readonly seats: Readonly<Record<CabinClass, number>>;
  /** Fuel for taxi, take-off, climb and landing, kg. */
  readonly fuelFixedKg: number;
  /** Fuel in cruise, kg per km. */
  readonly fuelPerKm: number;
}

export type FleetRole = keyof typeof FLEET_TABLE;

/** Types by role; an airline has its favourite among those that reach. */
export const FLEET = FLEET_TABLE as Record<FleetRole, readonly Aircraft[]>;

/** The fixed facts of one seed. Everything else is looked up from them. */
export interface World {
  readonly seed: string;
  readonly dice: Dice;
  readonly zones: Zones;
  readonly airports: readonly Airport[];
  readonly airlines: readonly Airline[];
  /** Airports that some airline calls home, in table order. */
  readonly hubs: readonly Airport[];
  byCode(iata: string): Airport | undefined;
  /** Airlines at home at an airport. */
  atHome(airport: Airport): readonly Airline[];
  /** Countries of an airline's hubs. */
  homeCountries(airline: Airline): readonly string[];
}

export function createWorld(seed: string): World {
  const airports = readAirports();
  const airlines = readAirlines();
  const codes = new Map(airports.map((airport) => [airport.iata, airport]));
  const homes = new Map<string, Airline[]>();
  for (const airline of airlines) {
    for (const hub of airline.hubs) {
      const there = homes.get(hub);
      if (there) there.push(airline);
      else homes.set(hub, [airline]);
    }
  }
  const countries = airlines.map((airline) => airline.hubs.map((hub) => codes.get(hub)?.country ?? ''));
  const nobody: readonly Airline[] = [];
  return {
    seed,
    dice: createDice(seed),
    zones: createZones(),
    airports,
    airlines,
    hubs: airports.filter((airport) => homes.has(airport.iata)),
    byCode: (iata) => codes.get(iata),
    homeCountries: (airline) => countries[airline.index] ?? [],
    atHome: (airport) => homes.get(airport.iata) ?? nobody,
  };
}

/**
 * The dice of the sandbox world: a hash of a seed and a few integers, so that every fact can be looked up again in any
 * order by any process. Not cryptographic.
 */
export interface Dice {
  /** A 32-bit unsigned integer. */
  bits: Throw;
  /** A number in [0, 1). */
  unit: Throw;
  /** An integer in [0, count). */
  pick(count: number, ...about: Parameters<Throw>): number;
}

/** Takes a topic and the integers that it is about. Not a rest parameter: a search throws thousands of times. */
type Throw = (topic: number, a?: number, b?: number, c?: number, d?: number, e?: number) => number;

/** Topics of throws: two topics never share a result. */
export const TOPIC = {
  demand: 1,
  slot: 2,
  aircraft: 3,
  weekdays: 4,
  technicalStop: 5,
  terminal: 6,
  codeshare: 7,
  codeshareNumber: 8,
  seller: 9,
  disclosure: 10,
  fare: 11,
  step: 12,
  conditions: 13,
  lifetime: 14,
  brands: 15,
  gateway: 16,
  emissions: 17,
  services: 18,
} as const;

export function createDice(seed: string): Dice {
  let start = 0x811c9dc5;
  for (let i = 0; i < seed.length; i++) start = Math.imul(start ^ seed.charCodeAt(i), 0x01000193);
  const bits: Throw = (topic, a = 0, b = 0, c = 0, d = 0, e = 0) =>
    mix(mix(mix(mix(mix(mix(start, topic), a), b), c), d), e);
  const unit: Throw = (topic, a, b, c, d, e) => bits(topic, a, b, c, d, e) / 0x1_0000_0000;
  return { bits, unit, pick: (count, topic, a, b, c, d, e) => Math.floor(unit(topic, a, b, c, d, e) * count) };
}

/** One round of a murmur-like finaliser. */
function mix(hash: number, value: number): number {
  let h = Math.imul((hash ^ value) + 0x9e3779b9, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15), 0xc2b2ae35);
  h ^= h >>> 13;
  return (h ^ Math.imul(h, 0x27d4eb2f)) >>> 0;
}
