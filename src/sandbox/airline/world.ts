import { AIRPORT_TABLE, type AirportRow } from '../../kernel/domain/airport-table.ts';
import type { CabinClass } from '../../wire/flights/index.ts';
import AIRLINES from './airlines.json' with { type: 'json' };
import FLEET_TABLE from './fleet.json' with { type: 'json' };
import { createZones } from './zones.ts';

/** A real airport. */
export interface Airport {
  readonly index: number;
  readonly iata: string;
  readonly name: string;
  readonly city: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** Degrees, north positive. */
  readonly latitude: number;
  /** Degrees, east positive. */
  readonly longitude: number;
  /** IANA zone. */
  readonly timeZone: string;
  /** 5 a world hub, 1 an outpost. */
  readonly size: number;
  /** The place as a unit vector from the centre of the earth, which makes distances cheap. */
  readonly place: readonly [x: number, y: number, z: number];
}

const read = (row: AirportRow, index: number): Airport => ({
  index,
  iata: row[0],
  name: row[1],
  city: row[2],
  country: row[3],
  latitude: row[4],
  longitude: row[5],
  timeZone: row[6],
  size: row[7],
  place: placeOf(row[4], row[5]),
});

function placeOf(latitude: number, longitude: number): readonly [number, number, number] {
  const north = (latitude * Math.PI) / 180;
  const east = (longitude * Math.PI) / 180;
  return [Math.cos(north) * Math.cos(east), Math.cos(north) * Math.sin(east), Math.sin(north)];
}

/** Every airport of the sandbox, in table order. */
export const readAirports = (): Airport[] => AIRPORT_TABLE.map(read);

/** The airport with this IATA code (upper case), or null. */
export function airportByCode(iata: string): Airport | null {
  const index = AIRPORT_TABLE.findIndex((row) => row[0] === iata);
  const row = AIRPORT_TABLE[index];
  return row ? read(row, index) : null;
}

const EARTH_RADIUS_KM = 6371;

/** Great-circle distance in kilometres. */
export function distanceKm(a: Airport, b: Airport): number {
  const x = a.place[0] - b.place[0];
  const y = a.place[1] - b.place[1];
  const z = a.place[2] - b.place[2];
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(x * x + y * y + z * z) / 2));
}

/** Share of the journey that goes east, -1 (due west) to 1 (due east), by the shorter way around. */
export function eastward(a: Airport, b: Airport): number {
  const difference = ((b.longitude - a.longitude + 540) % 360) - 180;
  const east = difference * Math.cos((((a.latitude + b.latitude) / 2) * Math.PI) / 180);
  const north = b.latitude - a.latitude;
  const length = Math.hypot(east, north);
  return length === 0 ? 0 : east / length;
}

/**
 * The jet streams' effect on the ground speed from a to b, km/h: with the wind eastbound, against it westbound,
 * strongest around 40 degrees north and south, nothing at the equator.
 */
export function tailwindKmh(a: Airport, b: Airport): number {
  const latitude = Math.abs((a.latitude + b.latitude) / 2);
  const strength = Math.max(0, 1 - Math.abs(latitude - 42) / 32);
  return 65 * strength * eastward(a, b);
}

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

export type World = ReturnType<typeof createWorld>;

/** The fixed facts of one seed. Everything else is looked up from them. */
export function createWorld(seed: string) {
  const airports = readAirports();
  const airlines = readAirlines();
  const codes = new Map(airports.map((airport) => [airport.iata, airport]));
  const homes = new Map<string, Airline[]>();
  for (const airline of airlines) for (const hub of airline.hubs) homes.set(hub, [...(homes.get(hub) ?? []), airline]);
  const countries = airlines.map((airline) => airline.hubs.map((hub) => codes.get(hub)?.country ?? ''));
  const nobody: readonly Airline[] = [];
  return {
    seed,
    dice: createDice(seed),
    zones: createZones(),
    airports: airports as readonly Airport[],
    airlines: airlines as readonly Airline[],
    /** Airports that some airline calls home, in table order. */
    hubs: airports.filter((airport) => homes.has(airport.iata)),
    byCode: (iata: string): Airport | undefined => codes.get(iata),
    /** Countries of an airline's hubs. */
    homeCountries: (airline: Airline): readonly string[] => countries[airline.index] ?? [],
    /** Airlines at home at an airport. */
    atHome: (airport: Airport): readonly Airline[] => homes.get(airport.iata) ?? nobody,
  };
}

/** Takes a topic and the integers that it is about. Not a rest parameter: a search throws thousands of times. */
type Throw = (topic: number, a?: number, b?: number, c?: number, d?: number, e?: number) => number;

const TOPICS = [
  ...(['demand', 'slot', 'aircraft', 'weekdays', 'technicalStop', 'terminal', 'codeshare', 'codeshareNumber'] as const),
  ...(['seller', 'disclosure', 'fare', 'step', 'conditions', 'lifetime', 'brands', 'gateway', 'emissions'] as const),
  'services',
] as const;

/** Topics of throws, from 1: two topics never share a result. */
export const TOPIC = Object.fromEntries(TOPICS.map((topic, at) => [topic, at + 1])) as Record<
  (typeof TOPICS)[number],
  number
>;

/**
 * The dice of the sandbox world: a hash of a seed and a few integers, so that every fact can be looked up again in any
 * order by any process. Not cryptographic.
 */
function createDice(seed: string) {
  let start = 0x811c9dc5;
  for (let i = 0; i < seed.length; i++) start = Math.imul(start ^ seed.charCodeAt(i), 0x01000193);
  /** A 32-bit unsigned integer. */
  const bits: Throw = (topic, a = 0, b = 0, c = 0, d = 0, e = 0) =>
    mix(mix(mix(mix(mix(mix(start, topic), a), b), c), d), e);
  /** A number in [0, 1). */
  const unit: Throw = (topic, a, b, c, d, e) => bits(topic, a, b, c, d, e) / 0x1_0000_0000;
  /** An integer in [0, count). */
  const pick = (count: number, topic: number, a?: number, b?: number, c?: number, d?: number, e?: number): number =>
    Math.floor(unit(topic, a, b, c, d, e) * count);
  return { bits, unit, pick };
}

/** One round of a murmur-like finaliser. */
function mix(hash: number, value: number): number {
  let h = Math.imul((hash ^ value) + 0x9e3779b9, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15), 0xc2b2ae35);
  h ^= h >>> 13;
  return (h ^ Math.imul(h, 0x27d4eb2f)) >>> 0;
}
