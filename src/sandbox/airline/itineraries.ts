import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/clock.ts';
import type { Network, Service } from './connections.ts';
import type { Flight, Timetable } from './timetable.ts';
import { type Airport, distanceKm, type World } from './world.ts';
import { known } from './zones.ts';

export type Itinerary = readonly Flight[];

const MOST = 42;
const MOST_DIRECT = 34;
const FEW = 4;
const MOST_FLIGHTS = 5;
const MOST_HUBS = 30;
/** Long enough for remote airports with two flights a day. */
const LONGEST_WAIT_MS = 17 * HOUR_MS;

interface Air {
  readonly world: World;
  readonly network: Network;
  departures(service: Service, from: Airport, day: number): readonly Flight[];
}

export const createItineraries = (world: World, network: Network, timetable: Timetable) => ({
  /**
   * Finds a date's itineraries, best first: direct, over hubs on the way, and longer chains if there are few. There are
   * always some for two airports of the world and a future date. @param notBeforeMs the earliest departure
   */
  find: (from: Airport, to: Airport, day: number, notBeforeMs: number): Itinerary[] => {
    const air = { world, network, departures: rememberedDepartures(timetable) };
    const km = distanceKm(from, to);
    const later = (flights: Itinerary) => (flights[0]?.departureMs ?? 0) >= notBeforeMs;
    const direct = thin(flightsOn(air, from, to, day), MOST_DIRECT).map((flight) => [flight]);
    const usual = km * (km < 3000 ? 1.45 : km < 7000 ? 1.35 : 1.28) + 250;
    let found: Itinerary[] = direct;
    if (km > 550 || direct.length < 8) {
      const connecting = oneStop(air, from, to, day, { km: usual, longestMs: 6 * HOUR_MS, fits: allied, perHub: 5 });
      found = [...direct, ...sensible(connecting, direct)];
    }
    found = found.filter(later);
    if (found.length < FEW) {
      const wide = { km: km * 1.7 + 800, longestMs: 10 * HOUR_MS, fits: anyFull, perHub: 2 };
      found = [...found, ...oneStop(air, from, to, day, wide).filter(later)];
    }
    if (found.length < FEW) found = [...found, ...twoStops(air, from, to, day, 10 * HOUR_MS).filter(later)];
    if (found.length === 0) found = twoStops(air, from, to, day, LONGEST_WAIT_MS).filter(later);
    if (found.length === 0) found = manyStops(air, from, to, day, notBeforeMs);
    return byDuration(distinct(found), true).slice(0, MOST);
  },
});

/** Caches departures for one search. */
function rememberedDepartures(timetable: Timetable): Air['departures'] {
  const flown = new Map<Service, Map<number, readonly Flight[]>>();
  return (service, from, day) => {
    const days = known(flown, service, () => new Map<number, readonly Flight[]>());
    return known(days, from === service.hub ? day : -day, () => timetable.flights(service, from, day));
  };
}

const flightsOn = (air: Air, from: Airport, to: Airport, day: number): Flight[] =>
  air.network.services(from, to).flatMap((service) => air.departures(service, from, day));

/** Lists the flights that connect, departing within `longestMs`. */
function onward(air: Air, after: Flight, to: Airport, longestMs: number, fits: Fits): Flight[] {
  const latest = after.arrivalMs + longestMs;
  const today = Math.floor(after.arrivalLocalMs / DAY_MS);
  const lastDay = Math.floor((after.arrivalLocalMs + longestMs) / DAY_MS);
  const found: Flight[] = [];
  for (const service of air.network.services(after.to, to)) {
    if (!fits(after.slot.service, service)) continue;
    const earliest = after.arrivalMs + connectionMinutes(after, to, service) * MINUTE_MS;
    for (let day = today; day <= lastDay; day++) {
      for (const flight of air.departures(service, after.to, day)) {
        if (flight.departureMs >= earliest && flight.departureMs <= latest) found.push(flight);
      }
    }
  }
  return found.sort((a, b) => a.departureMs - b.departureMs);
}

interface Connecting {
  readonly km: number;
  readonly longestMs: number;
  readonly fits: Fits;
  readonly perHub: number;
}

const oneStop = (air: Air, from: Airport, to: Airport, day: number, allowed: Connecting) =>
  air.world.hubs.flatMap((hub) => {
    if (hub === from || hub === to || distanceKm(from, hub) + distanceKm(hub, to) > allowed.km) return [];
    if (air.network.services(hub, to).length === 0) return [];
    const here: Itinerary[] = flightsOn(air, from, hub, day).flatMap((first) =>
      onward(air, first, to, allowed.longestMs, allowed.fits)
        .slice(0, 2)
        .map((second) => [first, second]),
    );
    return byDuration(here).slice(0, allowed.perHub);
  });

/** Takes the next flight at each hub. */
function chain(air: Air, stops: readonly Airport[], day: number, longestMs: number): Itinerary[] {
  const [from, second, ...rest] = stops;
  if (!from || !second) return [];
  let chains: Itinerary[] = flightsOn(air, from, second, day).map((flight) => [flight]);
  for (const next of rest) {
    chains = chains.flatMap((flights) => {
      const last = flights.at(-1);
      const [earliest] = last ? onward(air, last, next, longestMs, anyFull) : [];
      return earliest ? [[...flights, earliest]] : [];
    });
  }
  return byDuration(chains);
}

const byDetour = (air: Air, from: Airport, to: Airport): Airport[] =>
  air.world.hubs
    .map((hub) => ({ hub, km: distanceKm(from, hub) + distanceKm(hub, to) }))
    .sort((a, b) => a.km - b.km)
    .map(({ hub }) => hub);

/** Two stops, over the pairs of hubs with the shortest distance. */
function twoStops(air: Air, from: Airport, to: Airport, day: number, longestMs: number): Itinerary[] {
  const best = (end: Airport, other: Airport) =>
    byDetour(air, from, to)
      .filter((hub) => hub !== other && air.network.services(end, hub).length > 0)
      .slice(0, MOST_HUBS);
  const firsts = best(from, to);
  const seconds = best(to, from);
  const ways = firsts.flatMap((first) =>
    seconds
      .filter((second) => second !== first)
      .map((second) => ({
        stops: [from, first, second, to],
        km: distanceKm(from, first) + distanceKm(first, second) + distanceKm(second, to),
      })),
  );
  ways.sort((a, b) => a.km - b.km);
  const found: Itinerary[] = [];
  let tried = 0;
  for (const { stops, km } of ways) {
    if (found.length >= 6 || tried >= 40 || (found.length > 0 && km > 2 * (ways[0]?.km ?? km))) break;
    const [, first, second] = stops;
    if (!first || !second || air.network.services(first, second).length === 0) continue;
    tried++;
    found.push(...chain(air, stops, day, longestMs).slice(0, 2));
  }
  return found;
}

/** Finds the earliest arrival over any hubs, for remote airports. */
function manyStops(air: Air, from: Airport, to: Airport, day: number, notBeforeMs: number): Itinerary[] {
  const labels = new Map<Airport, { flights: Itinerary; arrivalMs: number; hopeMs: number; done: boolean }>();
  const reach = (airport: Airport, flights: Itinerary) => {
    const arrivalMs = flights.at(-1)?.arrivalMs ?? 0;
    if (arrivalMs < (labels.get(airport)?.arrivalMs ?? Number.POSITIVE_INFINITY)) {
      // A*: assumes 1000 km/h, so the estimate is never too late.
      const hopeMs = arrivalMs + (distanceKm(airport, to) / 1000) * HOUR_MS;
      labels.set(airport, { flights, arrivalMs, hopeMs, done: false });
    }
  };
  const near = byDetour(air, from, to).filter((hub) => hub !== from && hub !== to);
  const tied = near.filter(
    (hub) => air.network.services(from, hub).length > 0 || air.network.services(hub, to).length > 0,
  );
  const nodes = [...new Set([...near.slice(0, MOST_HUBS), ...tied, to])];
  for (const hub of nodes) {
    for (const flight of flightsOn(air, from, hub, day)) {
      if (flight.departureMs >= notBeforeMs) reach(hub, [flight]);
    }
  }
  for (;;) {
    let next: { airport: Airport; flights: Itinerary; hopeMs: number } | null = null;
    for (const [airport, label] of labels) {
      if (!label.done && (!next || label.hopeMs < next.hopeMs)) next = { airport, ...label };
    }
    if (!next) return [];
    const { airport, flights } = next;
    if (airport === to) return [flights];
    const label = labels.get(airport);
    if (label) label.done = true;
    const last = flights.at(-1);
    if (!last || flights.length >= MOST_FLIGHTS) continue;
    for (const node of nodes) {
      if (labels.get(node)?.done) continue;
      const [earliest] = onward(air, last, node, LONGEST_WAIT_MS, anyFull);
      if (earliest) reach(node, [...flights, earliest]);
    }
  }
}

type Fits = (first: Service, second: Service) => boolean;

const allied: Fits = ({ airline: a }, { airline: b }) => a === b || (a.alliance !== null && a.alliance === b.alliance);

/** Airlines that sell each other's flights; leisure airlines connect only to themselves. */
const anyFull: Fits = ({ airline: a }, { airline: b }) => a === b || (a.kind !== 'leisure' && b.kind !== 'leisure');

/** Larger airports, borders and a change of airline need more time. */
function connectionMinutes(after: Flight, to: Airport, onward: Service): number {
  const international = after.from.country !== after.to.country || after.to.country !== to.country;
  const base = (after.to.size >= 5 ? 50 : 40) + (international ? 15 : 0);
  return base + (onward.airline === after.airline ? 0 : 15);
}

const duration = (flights: Itinerary): number => {
  const first = flights[0];
  const last = flights[flights.length - 1];
  return first && last ? last.arrivalMs - first.departureMs : 0;
};

const byDuration = (itineraries: readonly Itinerary[], directFirst = false): Itinerary[] =>
  itineraries
    .map((flights) => ({
      flights,
      rank: duration(flights) + (directFirst && flights.length > 1 ? 1000 * HOUR_MS : 0),
      departureMs: flights[0]?.departureMs ?? 0,
    }))
    .sort((a, b) => a.rank - b.rank || a.departureMs - b.departureMs)
    .map(({ flights }) => flights);

/** Drops connections that are far slower than the best. */
function sensible(connecting: Itinerary[], direct: Itinerary[]): Itinerary[] {
  const best = Math.min(...[...direct, ...connecting].map(duration));
  return connecting.filter((flights) => duration(flights) <= best * 1.8 + 3.5 * HOUR_MS);
}

/** Thins flights evenly over the day. */
const thin = (flights: Flight[], most: number): Flight[] => {
  if (flights.length <= most) return flights;
  flights.sort((a, b) => a.departureMs - b.departureMs);
  return flights.filter(
    (_, i) => Math.floor((i * most) / flights.length) !== Math.floor(((i - 1) * most) / flights.length),
  );
};

function distinct(itineraries: Itinerary[]): Itinerary[] {
  const seen = new Set<string>();
  return itineraries.filter((flights) => {
    const key = flights
      .map(({ slot, airline, day }) => `${airline.code}${slot.flightNumber}.${day}.${slot.from.iata}`)
      .join();
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
