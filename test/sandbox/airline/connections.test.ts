import { describe, expect, test } from 'vitest';
import { AIRPORT_TABLE } from '../../../src/kernel/domain/airport-table.ts';
import { createNetwork } from '../../../src/sandbox/airline/connections.ts';
import { SCENARIO_ROUTES } from '../../../src/sandbox/airline/scenarios.ts';
import { createTimetable, type Flight } from '../../../src/sandbox/airline/timetable.ts';
import { airportByCode, createWorld, distanceKm, readAirlines } from '../../../src/sandbox/airline/world.ts';
import { proofTest } from '../../proof-only.ts';

const world = createWorld('test');
const network = createNetwork(world);
const timetable = createTimetable(world);
const MONDAY = Math.floor(Date.UTC(2026, 11, 21) / 86_400_000);

const at = (iata: string) => {
  const airport = world.byCode(iata);
  if (!airport) throw new Error(`${iata} is not in the table`);
  return airport;
};

/** The departures of a Monday and a Thursday from one airport in seven. */
const week: Flight[] = world.airports
  .filter((airport) => airport.index % 7 === 0)
  .flatMap((from) =>
    world.airports.flatMap((to) =>
      network
        .services(from, to)
        .flatMap((service) => [0, 3].flatMap((day) => [...timetable.flights(service, from, MONDAY + day)])),
    ),
  );

describe('the tables', () => {
  test('hold at least 150 airports of every continent, each code once, in zones that Intl knows', () => {
    expect(AIRPORT_TABLE.length).toBeGreaterThanOrEqual(150);
    expect(new Set(AIRPORT_TABLE.map((row) => row[0])).size).toBe(AIRPORT_TABLE.length);
    const areas = new Set(AIRPORT_TABLE.map((row) => row[6].split('/')[0]));
    for (const area of ['Africa', 'America', 'Asia', 'Australia', 'Europe', 'Pacific']) expect(areas).toContain(area);
    for (const [iata, name, city, country, latitude, longitude, zone] of AIRPORT_TABLE) {
      expect(iata).toMatch(/^[A-Z]{3}$/);
      expect(country).toMatch(/^[A-Z]{2}$/);
      expect(name.length * city.length).toBeGreaterThan(0);
      expect(Math.abs(latitude)).toBeLessThan(80);
      expect(Math.abs(longitude)).toBeLessThanOrEqual(180);
      expect(() => new Intl.DateTimeFormat('en', { timeZone: zone })).not.toThrow();
    }
  });

  test('place airports where they are: distances as published', () => {
    const km = (a: string, b: string) => distanceKm(at(a), at(b));
    const near = (a: string, b: string, published: number) =>
      expect(Math.abs(km(a, b) - published) / published, `${a}-${b} ${km(a, b)}`).toBeLessThan(0.005);
    near('LHR', 'JFK', 5540);
    near('LIS', 'BER', 2307);
    near('MAD', 'BCN', 483);
    near('NRT', 'LAX', 8750);
    near('SYD', 'LAX', 12_051);
    near('GRU', 'JNB', 7440);
    near('AKL', 'DOH', 14_536);
  });

  test('hold at least 25 airlines, each code once, at home at airports of the table', () => {
    const airlines = readAirlines();
    expect(airlines.length).toBeGreaterThanOrEqual(25);
    expect(new Set(airlines.map((one) => one.code)).size).toBe(airlines.length);
    expect(new Set(airlines.map((one) => one.name)).size).toBe(airlines.length);
    for (const { code, hubs, brands } of airlines) {
      expect(code).toMatch(/^[A-Z][A-Z0-9]$/);
      expect(hubs.length).toBeLessThanOrEqual(2);
      for (const hub of hubs) expect(at(hub).size).toBeGreaterThanOrEqual(2);
      expect(brands.length).toBeGreaterThanOrEqual(3);
      expect(brands.length).toBeLessThanOrEqual(4);
    }
  });
});

describe('an airport is found', () => {
  test('by code, whatever else has that name', () => {
    expect(airportByCode('LIS')).toMatchObject({ city: 'Lisbon', timeZone: 'Europe/Lisbon' });
    expect(airportByCode('lis')).toBeNull();
    expect(airportByCode('XXX')).toBeNull();
  });
});

describe('the timetable', () => {
  proofTest('gives a flight number to one departure of a week only', () => {
    const owner = new Map<string, string>();
    for (const { airline, slot, from, to } of week) {
      if (airline.hubs.length === 0) continue;
      const number = `${airline.code}${slot.flightNumber}`;
      const departure = `${from.iata}-${to.iata} ${slot.departureMinute}`;
      expect(owner.get(number) ?? departure).toBe(departure);
      owner.set(number, departure);
      expect(slot.flightNumber).toBeLessThan(7400);
    }
  });

  proofTest('leaves at hours at which airports are open', () => {
    for (const { slot } of week) {
      expect(slot.departureMinute).toBeGreaterThanOrEqual(5 * 60 + 30);
      expect(slot.departureMinute).toBeLessThan(24 * 60);
      expect(slot.departureMinute % 5).toBe(0);
      if (slot.from.iata === 'LHR' || slot.from.iata === 'SYD')
        expect(slot.departureMinute).toBeGreaterThanOrEqual(360);
    }
  });

  test('sends aircraft as far as they reach, or lands on the way', () => {
    for (const { slot } of week) {
      const { from, to, stop, aircraft } = slot;
      const hops = stop ? [distanceKm(from, stop), distanceKm(stop, to)] : [distanceKm(from, to)];
      expect(Math.max(...hops)).toBeLessThanOrEqual(aircraft.rangeKm);
      if (stop) expect(hops.reduce((a, b) => a + b)).toBeLessThan(slot.service.distanceKm * 1.2);
    }
    const stops = week.filter(({ slot }) => slot.stop);
    expect(stops.some(({ slot }) => slot.service.distanceKm > 10_000)).toBe(true);
    expect(stops.some(({ slot }) => slot.service.distanceKm < 2500)).toBe(true);
  });

  test('flies the jet stream home: eastbound is faster than westbound', () => {
    const minutes = (from: string, to: string) =>
      Math.min(
        ...network
          .services(at(from), at(to))
          .flatMap((service) => timetable.flights(service, at(from), MONDAY).map(({ slot }) => slot.blockMinutes)),
      );
    expect(minutes('JFK', 'LHR')).toBeLessThan(minutes('LHR', 'JFK') - 30);
    expect(minutes('NRT', 'LAX')).toBeLessThan(minutes('LAX', 'NRT') - 45);
    expect(minutes('LHR', 'JFK')).toBeGreaterThan(7 * 60);
    expect(minutes('LHR', 'JFK')).toBeLessThan(8.5 * 60);
  });
});

test('the routes that are set aside for testing are flown by the Sandbox Shuttle alone', () => {
  for (const { origin, destination } of SCENARIO_ROUTES) {
    const names = network.services(at(origin), at(destination)).map(({ airline }) => airline.name);
    expect(names).toEqual(['Sandbox Shuttle']);
  }
});
