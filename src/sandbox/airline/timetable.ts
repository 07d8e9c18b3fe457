import { DAY_MS, MINUTE_MS } from '../../kernel/clock.ts';
import { type Service, SLOTS_BY_SIZE } from './connections.ts';
import {
  type Aircraft,
  type Airport,
  distanceKm,
  eastward,
  FLEET,
  type FleetRole,
  TOPIC,
  tailwindKmh,
  type World,
} from './world.ts';
import { known } from './zones.ts';

/** A flight number: one departure time in one direction. */
interface Slot {
  readonly service: Service;
  /** The position among the day's departures, from 0. */
  readonly number: number;
  readonly from: Airport;
  readonly to: Airport;
  readonly flightNumber: number;
  /** Minutes after local midnight. */
  readonly departureMinute: number;
  readonly blockMinutes: number;
  readonly aircraft: Aircraft;
  readonly stop: Airport | null;
}

/** A flight on a day. Local times are written as UTC, for plain arithmetic. */
export type Flight = NonNullable<ReturnType<typeof flightOn>>;

/** Airports that close at night. */
const CURFEW = new Set(
  'LHR LGW LCY FRA MUC BER DUS HAM STR ZRH GVA VIE ORY AMS BRU SYD ADL ITM DCA LGA SAN CGH AEP'.split(' '),
);

/** A winter day for offsets: schedules keep the local times of winter. */
const NOMINAL_MS = Date.UTC(2027, 0, 15, 12);

interface Plan {
  readonly world: World;
  slot(service: Service, from: Airport, number: number): Slot;
}

export type Timetable = ReturnType<typeof createTimetable>;

export function createTimetable(world: World) {
  const plan: Plan = { world, slot: rememberedSlots(world) };
  return {
    /** Null on a day on which the slot does not fly. */
    flight: (service: Service, from: Airport, number: number, day: number) =>
      flightOn(plan, service, from, number, day),
    flights(service: Service, from: Airport, day: number): readonly Flight[] {
      const found: Flight[] = [];
      for (let number = 0; number < service.weeklyBySlot.length; number++) {
        const one = flightOn(plan, service, from, number, day);
        if (one) found.push(one);
      }
      return found.sort((a, b) => a.departureMs - b.departureMs || a.slot.number - b.slot.number);
    },
  };
}

function rememberedSlots(world: World): Plan['slot'] {
  const firstNumbers = layOutNumbers(world);
  const slots = new Map<Service, { outbound: Slot[]; inbound: Slot[]; suited: readonly Aircraft[] }>();
  return (service, from, number) => {
    const { outbound, inbound, suited } = known(slots, service, () => ({
      outbound: [],
      inbound: [],
      suited: suitedAircraft(service),
    }));
    const direction = from === service.hub ? outbound : inbound;
    const found = direction[number] ?? makeSlot(world, firstNumbers, service, from, number, suited);
    direction[number] = found;
    return found;
  };
}

function makeSlot(
  world: World,
  firstNumbers: FirstNumbers,
  service: Service,
  from: Airport,
  number: number,
  suited: readonly Aircraft[],
): Slot {
  const outbound = from === service.hub;
  const to = outbound ? service.other : service.hub;
  const aircraft = chooseAircraft(world, service, number, suited);
  const stop = technicalStop(world, service, aircraft, number);
  const blockMinutes = stop
    ? blockTime(from, stop, aircraft) + blockTime(stop, to, aircraft) + groundTime(aircraft)
    : blockTime(from, to, aircraft);
  const home = Math.max(0, service.airline.hubs.indexOf(service.hub.iata));
  const flightNumber =
    10 + home * firstNumbers.perHub + (firstNumbers.of[service.other.index] ?? 0) + 2 * number + (outbound ? 0 : 1);
  const slot = { service, number, from, to, flightNumber, blockMinutes, aircraft, stop };
  return { ...slot, departureMinute: departureMinute(world, slot) };
}

/** The minute nearest to the wish with both airports open. */
function departureMinute(world: World, slot: Omit<Slot, 'departureMinute'>): number {
  const { from, to, blockMinutes } = slot;
  const wished = wishedMinute(world, slot);
  const offsetOf = ({ timeZone }: Airport) => world.zones.offsetMinutes(timeZone, NOMINAL_MS);
  const shift = offsetOf(to) - offsetOf(from);
  const [first, last] = CURFEW.has(from.iata) ? [360, 1370] : [330, 1435];
  const [earliest, latest] = CURFEW.has(to.iata) ? [305, 1380] : [285, 1490];
  const isOpen = (rounded: number) => {
    if (rounded < first || rounded > last) return false;
    const arrival = (((rounded + blockMinutes + shift) % 1440) + 1440) % 1440;
    return arrival >= earliest ? arrival <= latest : arrival + 1440 <= latest;
  };
  const rounded = (minute: number) => Math.round(minute / 5) * 5;
  for (let step = 0; step <= 1080; step += 15) {
    if (isOpen(rounded(wished + step))) return rounded(wished + step);
    if (isOpen(rounded(wished - step))) return rounded(wished - step);
  }
  return rounded(wished);
}

function wishedMinute(world: World, { service, from, to, number }: Omit<Slot, 'departureMinute'>): number {
  const count = service.weeklyBySlot.length;
  const [open, close] = waveOf(service, from, to);
  const chance = world.dice.unit(TOPIC.slot, service.airline.index, from.index, to.index, number);
  // Two flights a day leave in the morning and the evening, so a wait is about a night.
  if (count === 2 && service.distanceKm < 4500) return number === 0 ? open + 110 * chance : close - 110 * chance;
  return open + ((number + 0.1 + 0.8 * chance) * (close - open)) / count;
}

function flightOn(plan: Plan, service: Service, from: Airport, number: number, day: number) {
  const { dice, zones } = plan.world;
  const weekly = service.weeklyBySlot[number];
  if (weekly === undefined) return null;
  if (weekly < 7) {
    const weekday = (((day + 4) % 7) + 7) % 7;
    const { airline, hub, other } = service;
    const turn = dice.pick(7, TOPIC.weekdays, airline.index, hub.index, other.index);
    if ((weekday * 3 + turn) % 7 >= weekly) return null;
  }
  const slot = plan.slot(service, from, number);
  const departureMs = zones.toUtc(from.timeZone, day * DAY_MS + slot.departureMinute * MINUTE_MS);
  const arrivalMs = departureMs + slot.blockMinutes * MINUTE_MS;
  return {
    slot,
    airline: service.airline,
    from,
    to: slot.to,
    /** Local, in days since 1970-01-01. */
    day,
    departureMs,
    arrivalMs,
    departureLocalMs: departureMs + zones.offsetMinutes(from.timeZone, departureMs) * MINUTE_MS,
    arrivalLocalMs: arrivalMs + zones.offsetMinutes(slot.to.timeZone, arrivalMs) * MINUTE_MS,
  };
}

/** Minutes from gate to gate: the great circle plus 2 %, wind, taxi and climb. */
function blockTime(from: Airport, to: Airport, aircraft: Aircraft): number {
  const wind = tailwindKmh(from, to) * (aircraft.body === 'turboprop' ? 0.4 : 1);
  const ground = { turboprop: 22, regional_jet: 28, narrow: 32, wide: 40 }[aircraft.body];
  const minutes = ((distanceKm(from, to) * 1.02) / (aircraft.cruiseKmh + wind)) * 60 + ground;
  return Math.ceil(minutes / 5) * 5;
}

const groundTime = (aircraft: Aircraft): number => (aircraft.body === 'wide' ? 80 : 35);

/** Departures in minutes of the day: long flights go east by night, west by day. */
function waveOf(service: Service, from: Airport, to: Airport): readonly [number, number] {
  if (service.distanceKm < 3000) return [360, 1310];
  const east = eastward(from, to);
  if (service.distanceKm > 4500 && east > 0.35) return [780, 1425];
  if (service.distanceKm > 4500 && east < -0.35) return [510, 1160];
  return service.distanceKm > 6000 ? [960, 1425] : [400, 1380];
}

type FirstNumbers = ReturnType<typeof layOutNumbers>;

/** Blocks by airport keep an airline's flight numbers unique. */
function layOutNumbers(world: World) {
  let next = 0;
  const of = world.airports.map((airport) => {
    const first = next;
    next += 2 * (SLOTS_BY_SIZE[airport.size] ?? 0);
    return first;
  });
  return { of, perHub: next };
}

/** The types with enough range, else those that fly with a stop. */
function suitedAircraft(service: Service): readonly Aircraft[] {
  const fleet = FLEET[roleOf(service)];
  const { hub, other, distanceKm: km } = service;
  const huge = hub.size === 5 && other.size === 5;
  const suited = fleet.filter((one) => one.rangeKm >= km * 1.03 && (huge || one.seats.economy < 300));
  return suited.length > 0 ? suited : fleet.filter((one) => one.seats.economy < 300);
}

/** Usually the airline's favourite suitable type. */
function chooseAircraft(
  world: World,
  { airline, hub, other }: Service,
  slot: number,
  suited: readonly Aircraft[],
): Aircraft {
  const another = world.dice.unit(TOPIC.aircraft, airline.index, hub.index, other.index, slot) < 0.35;
  const turn = another
    ? world.dice.bits(TOPIC.aircraft, airline.index, other.index, slot)
    : world.dice.bits(TOPIC.aircraft, airline.index);
  const chosen = suited[turn % suited.length];
  if (!chosen) throw new Error('a fleet is empty');
  return chosen;
}

function roleOf({ airline, hub, other, distanceKm: km }: Service): FleetRole {
  if (airline.kind === 'regional') return airline.hubs.length === 0 ? 'hop' : 'regional';
  if (airline.kind === 'leisure') return 'short_leisure';
  if (km < 900 && Math.min(hub.size, other.size) <= 2) return 'regional';
  if (km < 4200) return 'short';
  return km < 7000 && Math.min(hub.size, other.size) < 5 ? 'medium' : 'long';
}

/** A stop without a change of flight: beyond the range, to serve two small places, or rarely on long flights. */
function technicalStop(world: World, service: Service, { rangeKm }: Aircraft, slot: number): Airport | null {
  const { airline, hub, other, distanceKm: km } = service;
  const chance = world.dice.unit(TOPIC.technicalStop, airline.index, hub.index, other.index, slot);
  const isLarge = (stop: Airport) => stop.size >= 4;
  if (km > rangeKm) return onTheWay(world, service, 1.15, rangeKm, isLarge);
  const small = Math.min(hub.size, other.size) <= 2;
  if (airline.hubs.length > 0 && small && km > 500 && km < 2200 && chance < 0.2) {
    const isLocal = ({ size, country }: Airport) => size <= 3 && (country === other.country || country === hub.country);
    return onTheWay(world, service, 1.2, rangeKm, isLocal);
  }
  return km > 11_000 && chance < 0.03 ? onTheWay(world, service, 1.06, rangeKm, isLarge) : null;
}

/** The airport with the shortest detour; null if all exceed `detour`, a factor. */
function onTheWay(
  world: World,
  { hub: a, other: b, distanceKm: km }: Service,
  detour: number,
  rangeKm: number,
  suits: (stop: Airport) => boolean,
): Airport | null {
  let best: Airport | null = null;
  let shortest = km * detour;
  for (const stop of world.airports) {
    if (stop === a || stop === b || !suits(stop)) continue;
    const first = distanceKm(a, stop);
    const second = distanceKm(stop, b);
    if (Math.min(first, second) < km * 0.2 || Math.max(first, second) > rangeKm) continue;
    if (first + second < shortest) {
      shortest = first + second;
      best = stop;
    }
  }
  return best;
}
