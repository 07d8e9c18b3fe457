import { describe, expect, test } from 'vitest';
import { AIRPORT_TABLE } from '../../../src/kernel/domain/airport-table.ts';
import { minutesOf } from '../../../src/kernel/domain/offers.ts';
import { createZones } from '../../../src/sandbox/airline/zones.ts';
import type { Segment } from '../../../src/wire/flights/index.ts';
import { isProof } from '../../rounds.ts';
import { instantOf, intlOffsetMinutes, openSandbox, query } from './world.ts';

const DAY_MS = 86_400_000;
const zones = createZones();
const timeZones = [...new Set(AIRPORT_TABLE.map((row) => row[6]))];

test('every zone of an airport has the offsets that Intl has, to the minute of each change', () => {
  const wrong: string[] = [];
  for (const zone of timeZones) {
    let before = intlOffsetMinutes(zone, Date.UTC(2026, 10, 1));
    for (let ms = Date.UTC(2026, 10, 1); ms < Date.UTC(isProof ? 2032 : 2028, 0, 1); ms += 5 * DAY_MS) {
      const now = intlOffsetMinutes(zone, ms);
      if (zones.offsetMinutes(zone, ms) !== now) wrong.push(`${zone} ${new Date(ms).toISOString()}`);
      if (now !== before) {
        const change = firstChange(zone, ms - 5 * DAY_MS, ms);
        for (const aside of [-60_000, 0]) {
          if (zones.offsetMinutes(zone, change + aside) !== intlOffsetMinutes(zone, change + aside)) {
            wrong.push(`${zone} around ${new Date(change).toISOString()}`);
          }
        }
      }
      before = now;
    }
  }
  expect(wrong).toEqual([]);
});

/** The first minute at which a zone has its new offset. */
function firstChange(zone: string, fromMs: number, toMs: number): number {
  const old = intlOffsetMinutes(zone, fromMs);
  let [low, high] = [fromMs / 60_000, toMs / 60_000];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (intlOffsetMinutes(zone, middle * 60_000) === old) low = middle;
    else high = middle;
  }
  return high * 60_000;
}

describe('a local time', () => {
  const utc = (zone: string, local: string) =>
    new Date(zones.toUtc(zone, Date.parse(`${local}Z`))).toISOString().slice(0, 16);

  test('around the change to summer time is read on the right side of it', () => {
    expect(utc('Europe/Lisbon', '2027-03-28T00:59:00')).toBe('2027-03-28T00:59');
    expect(utc('Europe/Lisbon', '2027-03-28T02:00:00')).toBe('2027-03-28T01:00');
    expect(utc('America/New_York', '2027-03-14T01:59:00')).toBe('2027-03-14T06:59');
    expect(utc('America/New_York', '2027-03-14T03:00:00')).toBe('2027-03-14T07:00');
  });

  test('that is skipped moves on by the gap', () => {
    expect(utc('America/New_York', '2027-03-14T02:30:00')).toBe('2027-03-14T07:30');
    expect(utc('Europe/Lisbon', '2027-03-28T01:30:00')).toBe('2027-03-28T01:30');
  });

  test('that occurs twice is its first occurrence', () => {
    expect(utc('Australia/Sydney', '2027-04-04T02:30:00')).toBe('2027-04-03T15:30');
    expect(utc('America/New_York', '2027-11-07T01:30:00')).toBe('2027-11-07T05:30');
  });
});

describe('a flight', () => {
  const sandbox = openSandbox();
  const segmentsOf = async (origin: string, destination: string, date: string): Promise<Segment[]> => {
    const offers = await sandbox.provider.search(query(origin, destination, date));
    const direct = offers.filter((offer) => offer.stops === 0).flatMap((offer) => offer.slices[0]?.segments ?? []);
    expect(direct.length, `${origin}-${destination} ${date}`).toBeGreaterThan(0);
    return direct;
  };
  /** By how many hours the clock at the far end is ahead when the flight lands. */
  const shift = (one: Segment) => {
    const wallMinutes = (Date.parse(`${one.arriving_at}Z`) - Date.parse(`${one.departing_at}Z`)) / 60_000;
    return (wallMinutes - minutesOf(one.duration)) / 60;
  };

  type Case = [string, string, string, [string, number], [string, number]];

  // A day before and a day after the change, on a route of which one end changes its clocks then.
  test.each([
    ['Europe/Lisbon 2027-03-28', 'LIS', 'GRU', ['2027-03-26', -3], ['2027-03-29', -4]],
    ['America/New_York 2027-03-14', 'JFK', 'LHR', ['2027-03-12', 5], ['2027-03-15', 4]],
    ['Australia/Sydney 2027-04-04', 'SYD', 'NRT', ['2027-04-02', -2], ['2027-04-05', -1]],
    ['Europe/London 2027-10-31', 'LHR', 'DXB', ['2027-10-29', 3], ['2027-11-01', 4]],
  ] satisfies Case[])(
    'keeps its local departure over the change of %s and its duration with it',
    async (_, from, to, ...days) => {
      const times: string[][] = [];
      for (const [date, hours] of days) {
        const segments = await segmentsOf(from, to, date);
        expect(new Set(segments.map(shift))).toEqual(new Set([hours]));
        times.push(
          segments.map((one) => `${one.operating_flight_number} ${one.departing_at.slice(11)} ${one.duration}`),
        );
      }
      const [before = [], after = []] = times;
      expect(before.some((flight) => after.includes(flight))).toBe(true);
      const numbers = new Map(before.map((flight) => [flight.split(' ')[0], flight]));
      for (const flight of after) expect(numbers.get(flight.split(' ')[0]) ?? flight).toBe(flight);
    },
  );

  test('that is in the air while the clocks change lands by the new time', async () => {
    // New York changes at 07:00 UTC on 2027-03-14; evening flights from Los Angeles land after it.
    for (const one of await segmentsOf('LAX', 'JFK', '2027-03-13')) {
      const departureMs = instantOf(one.departing_at, one.origin_time_zone);
      const arrivalMs = departureMs + minutesOf(one.duration) * 60_000;
      const local = arrivalMs + intlOffsetMinutes('America/New_York', arrivalMs) * 60_000;
      expect(one.arriving_at).toBe(new Date(local).toISOString().slice(0, 19));
    }
    const shifts = (await segmentsOf('LAX', 'JFK', '2027-03-13')).map(shift);
    expect(new Set(shifts)).toEqual(new Set([3, 4]));
  });

  test('across the date line east lands before it left: NRT to LAX', async () => {
    for (const one of await segmentsOf('NRT', 'LAX', '2026-12-21')) {
      expect(Date.parse(`${one.arriving_at}Z`)).toBeLessThan(Date.parse(`${one.departing_at}Z`));
      expect(shift(one)).toBe(-17);
    }
  });

  test('across the date line with the clock almost a day behind: AKL to HNL', async () => {
    for (const one of await segmentsOf('AKL', 'HNL', '2026-12-21')) {
      expect(shift(one)).toBe(-23);
      expect(one.arriving_at < one.departing_at).toBe(true);
    }
  });

  test('across the date line west loses a day: LAX to SYD', async () => {
    for (const one of await segmentsOf('LAX', 'SYD', '2026-12-21')) {
      expect(shift(one)).toBe(19);
      expect(one.arriving_at.slice(0, 10) >= '2026-12-22').toBe(true);
    }
  });
});
