import { AIRPORT_TABLE, type AirportRow } from '../../kernel/domain/airport-table.ts';
import type { CabinClass } from '../../wire/flights/index.ts';
import AIRLINES from './airlines.json' with { type: 'json' };
import FLEET_TABLE from './fleet.json' with { type: 'json' };
import { createZones } from './zones.ts';

export type Airport = ReturnType<typeof read>;

const read = (row: AirportRow, index: number) => ({
  index,
  iata: row[0],
  name: row[1],
  city: row[2],
  country: row[3],
  latitude: row[4],
  longitude: row[5],
  timeZone: row[6],
  /** From 1, an outpost, to 5, a world hub. */
  size: row[7],
  /** A unit vector from the earth's centre, for cheap distances. */
  place: placeOf(row[4], row[5]),
});

function placeOf(latitude: number, longitude: number): readonly [number, number, number] {
  const north = (latitude * Math.PI) / 180;
  const east = (longitude * Math.PI) / 180;
  return [Math.cos(north) * Math.cos(east), Math.cos(north) * Math.sin(east), Math.sin(north)];
}

export const readAirports = (): Airport[] => AIRPORT_TABLE.map(read);

/** Takes an upper-case code. */
export function airportByCode(iata: string): Airport | null {
  const index = AIRPORT_TABLE.findIndex((row) => row[0] === iata);
  const row = AIRPORT_TABLE[index];
  return row ? read(row, index) : null;
}

const EARTH_RADIUS_KM = 6371;

export function distanceKm(a: Airport, b: Airport): number {
  const x = a.place[0] - b.place[0];
  const y = a.place[1] - b.place[1];
  const z = a.place[2] - b.place[2];
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(x * x + y * y + z * z) / 2));
}

/** From -1 (due west) to 1 (due east), by the shorter way. */
export function eastward(a: Airport, b: Airport): number {
  const difference = ((b.longitude - a.longitude + 540) % 360) - 180;
  const east = difference * Math.cos((((a.latitude + b.latitude) / 2) * Math.PI) / 180);
  const north = b.latitude - a.latitude;
  // Math.hypot takes ten times as long, and a search asks a thousand times.
  const length = Math.sqrt(east * east + north * north);
  return length === 0 ? 0 : east / length;
}

/** The jet stream's km/h from a to b: eastbound flights gain, most at 42 degrees of latitude, not at the equator. */
export function tailwindKmh(a: Airport, b: Airport): number {
  const latitude = Math.abs((a.latitude + b.latitude) / 2);
  const strength = Math.max(0, 1 - Math.abs(latitude - 42) / 32);
  return 65 * strength * eastward(a, b);
}

/** An invented airline with a code that no real one uses. */
export type Airline = ReturnType<typeof readAirlines>[number];

type Kind = 'full_service' | 'leisure' | 'regional';
type AirlineRow = [string, string, Kind, hubs: string, string | null, string | null, brands: string];

export const readAirlines = () =>
  (AIRLINES as AirlineRow[]).map(([code, name, kind, hubs, alliance, programme, brands], index) => ({
    /** The position in airlines.json. Offer ids use it, so rows are only added at the end. */
    index,
    code,
    name,
    kind,
    /** At most two: each has a range of flight numbers. */
    hubs: hubs === '' ? [] : hubs.split(' '),
    alliance,
    programme,
    /** The most restricted brand first. */
    brands: brands.split(','),
  }));

/** Index of the airline within cities and on test routes. */
export const SHUTTLE = 0;

/** A real aircraft type with typical figures. */
export interface Aircraft {
  readonly name: string;
  readonly body: 'turboprop' | 'regional_jet' | 'narrow' | 'wide';
  readonly rangeKm: number;
  readonly cruiseKmh: number;
  /** 0 if there is no such cabin. */
  readonly seats: Readonly<Record<CabinClass, number>>;
  /** Fuel for taxi, take-off, climb and landing, kg. */
  readonly fuelFixedKg: number;
  readonly fuelPerKm: number;
}

export type FleetRole = keyof typeof FLEET_TABLE;

/** By role; each airline has a favourite among suitable types. */
export const FLEET = FLEET_TABLE as Record<FleetRole, readonly Aircraft[]>;

export type World = ReturnType<typeof createWorld>;

/** Makes the fixed facts of a seed. */
export function createWorld(seed: string) {
  const airports = readAirports();
  const airlines = readAirlines();
  const codes = new Map(airports.map((airport) => [airport.iata, airport]));
  const homes = new Map<string, Airline[]>();
  for (const airline of airlines) for (const hub of airline.hubs) homes.set(hub, [...(homes.get(hub) ?? []), airline]);
  const countries = airlines.map((airline) => airline.hubs.map((hub) => codes.get(hub)?.country ?? ''));
  const none: readonly Airline[] = [];
  return {
    seed,
    dice: createDice(seed),
    zones: createZones(),
    airports: airports as readonly Airport[],
    airlines: airlines as readonly Airline[],
    hubs: airports.filter((airport) => homes.has(airport.iata)),
    byCode: (iata: string): Airport | undefined => codes.get(iata),
    homeCountries: (airline: Airline): readonly string[] => countries[airline.index] ?? [],
    atHome: (airport: Airport): readonly Airline[] => homes.get(airport.iata) ?? none,
  };
}

/** A throw about a topic and integers. A rest parameter would cost too much: a search makes thousands of throws. */
type Throw = (topic: number, a?: number, b?: number, c?: number, d?: number, e?: number) => number;

const TOPICS = [
  ...(['demand', 'slot', 'aircraft', 'weekdays', 'technicalStop', 'terminal', 'codeshare', 'codeshareNumber'] as const),
  ...(['seller', 'disclosure', 'fare', 'step', 'conditions', 'lifetime', 'brands', 'gateway', 'emissions'] as const),
  'services',
  'seats',
] as const;

/** Throws about different topics are independent. */
export const TOPIC = Object.fromEntries(TOPICS.map((topic, at) => [topic, at + 1])) as Record<
  (typeof TOPICS)[number],
  number
>;

/** Hashes a seed and integers, so that every process finds the same facts. Not cryptographic. */
function createDice(seed: string) {
  let start = 0x811c9dc5;
  for (let i = 0; i < seed.length; i++) start = Math.imul(start ^ seed.charCodeAt(i), 0x01000193);
  /** A 32-bit unsigned integer. */
  const bits: Throw = (topic, a = 0, b = 0, c = 0, d = 0, e = 0) =>
    mix(mix(mix(mix(mix(mix(start, topic), a), b), c), d), e);
  /** In [0, 1). */
  const unit: Throw = (topic, a, b, c, d, e) => bits(topic, a, b, c, d, e) / 0x1_0000_0000;
  /** An integer in [0, count). */
  const pick = (count: number, topic: number, a?: number, b?: number, c?: number, d?: number, e?: number): number =>
    Math.floor(unit(topic, a, b, c, d, e) * count);
  return { bits, unit, pick };
}

function mix(hash: number, value: number): number {
  let h = Math.imul((hash ^ value) + 0x9e3779b9, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15), 0xc2b2ae35);
  h ^= h >>> 13;
  return (h ^ Math.imul(h, 0x27d4eb2f)) >>> 0;
}
