import { DAY_MS } from '../../kernel/clock.ts';
import { AIRPORT_TABLE } from '../../kernel/domain/airport-table.ts';
import { zoneOffsets } from '../../kernel/domain/ics.ts';
import { isoDuration } from '../../kernel/domain/offers.ts';
import type { Segment, Slice } from '../../wire/flights/index.ts';
import { flightKey } from '../direct.ts';
import { type Fields, iata, list, localTime, object, text } from './read.ts';

export interface Reading {
  readonly zones: Zones;
  /** Reports a missing required field; returns null. */
  missing(field: string): null;
}

/** Reads one direction, with a key of its flights that all sellers share; null if a field is missing. */
export function readSlice(value: unknown, reading: Reading): { slice: Slice; flights: string } | null {
  const raw = object(value);
  const read: NonNullable<ReturnType<typeof readSegment>>[] = [];
  for (const one of list(raw?.segments) ?? []) {
    const segment = readSegment(object(one), reading);
    if (!segment) return null;
    read.push(segment);
  }
  const [first, last] = [read[0]?.segment, read.at(-1)?.segment];
  if (!raw || !first || !last) return reading.missing('segments');
  const duration = readDuration(raw.duration) ?? durationOf(reading, first, last);
  if (duration === null) return reading.missing('slice.duration');
  const segments = read.map(({ segment }) => segment);
  return {
    flights: read.map(({ flight }) => flight).join('.'),
    slice: {
      origin_iata: first.origin_iata,
      destination_iata: last.destination_iata,
      departing_at: first.departing_at,
      arriving_at: last.arriving_at,
      origin_time_zone: first.origin_time_zone,
      destination_time_zone: last.destination_time_zone,
      duration,
      stops: segments.length - 1,
      technical_stops: segments.reduce((sum, segment) => sum + segment.technical_stops, 0),
      fare_brand_name: text(raw.fare_brand_name),
      segments,
    },
  };
}

function readSegment(raw: Fields | null, reading: Reading): { segment: Segment; flight: string } | null {
  const { missing } = reading;
  if (!raw) return missing('segment');
  const [origin, destination] = [placeOf(raw.origin, reading), placeOf(raw.destination, reading)];
  if (!origin || !destination) return missing('segment.place');
  const [departing, arriving] = [localTime(raw.departing_at), localTime(raw.arriving_at)];
  if (departing === null || arriving === null) return missing('segment.time');
  const operating = carrierOf(raw.operating_carrier, raw.operating_carrier_flight_number);
  const marketing = carrierOf(raw.marketing_carrier, raw.marketing_carrier_flight_number);
  if (!operating || !marketing) return missing('segment.carrier');
  if (marketing.number === null) return missing('segment.flight_number');
  const ends = {
    origin_iata: origin.iata,
    destination_iata: destination.iata,
    departing_at: departing,
    arriving_at: arriving,
    origin_time_zone: origin.zone,
    destination_time_zone: destination.zone,
  };
  const duration = readDuration(raw.duration) ?? durationOf(reading, ends, ends);
  if (duration === null) return missing('segment.duration');
  const stops = list(raw.stops) ?? [];
  const passengers = (list(raw.passengers) ?? []).map((one) => text(object(one)?.fare_basis_code));
  const designator = `${marketing.code ?? ''}${marketing.number}`;
  const operated = operating.code && operating.number ? `${operating.code}${operating.number}` : null;
  return {
    flight: flightKey(operated ?? designator, ends),
    segment: {
      ...ends,
      duration,
      carrier_name: operating.name,
      operating_flight_number: operated,
      marketing_carrier_name: marketing.name,
      flight_number: designator,
      aircraft_name: text(object(raw.aircraft)?.name),
      origin_terminal: text(raw.origin_terminal),
      destination_terminal: text(raw.destination_terminal),
      fare_basis_code: new Set(passengers).size === 1 ? (passengers[0] ?? null) : null,
      technical_stops: stops.length,
      technical_stop_airports: stops.flatMap((stop) => iata(object(object(stop)?.airport)?.iata_code) ?? []),
    },
  };
}

/** Computes a duration that the seller leaves out; null where a clock change makes it ambiguous. */
function durationOf(
  { zones }: Reading,
  first: Pick<Segment, 'departing_at' | 'origin_time_zone'>,
  last: Pick<Segment, 'arriving_at' | 'destination_time_zone'>,
): string | null {
  const fromMs = zones.instantOf(first.departing_at, first.origin_time_zone);
  const toMs = zones.instantOf(last.arriving_at, last.destination_time_zone);
  return fromMs === null || toMs === null || toMs <= fromMs ? null : isoDuration((toMs - fromMs) / 60_000);
}

function placeOf(value: unknown, { zones }: Reading): { iata: string; zone: string } | null {
  const raw = object(value);
  const code = iata(raw?.iata_code);
  if (code === null) return null;
  const zone = text(raw?.time_zone) ?? AIRPORT_TABLE.find((row) => row[0] === code)?.[6] ?? null;
  return zone !== null && zones.isKnown(zone) ? { iata: code, zone } : null;
}

/** `code` is null for an airline without an IATA code. */
function carrierOf(value: unknown, number: unknown) {
  const raw = object(value);
  const name = text(raw?.name);
  if (name === null) return null;
  const code = text(raw?.iata_code);
  return {
    name,
    code: code !== null && /^[A-Z0-9]{2,3}$/.test(code) ? code : null,
    number: typeof number === 'string' ? flightNumber(number) : null,
  };
}

/** Drops leading zeros: `0117` is flight 117. */
const flightNumber = (number: string): string | null =>
  /^0*(\d{1,4}[A-Z]?)$/.exec(number.trim().toUpperCase())?.[1] ?? null;

export type Zones = ReturnType<typeof createZones>;

/** Opens each time zone once: an answer names the same few a thousand times. */
export function createZones() {
  const opened = new Map<string, ReturnType<typeof open>>();
  function offsetsOf(zone: string) {
    if (!opened.has(zone)) opened.set(zone, open(zone));
    return opened.get(zone) ?? null;
  }

  /** Epoch ms of a local time (`2026-03-20T07:25:00`); null where clocks skip or repeat it. */
  function instantOf(time: string, zone: string): number | null {
    const offsetAt = offsetsOf(zone);
    if (!offsetAt) return null;
    const wallMs = Date.parse(`${time}Z`);
    const offsets = new Set([offsetAt(wallMs - DAY_MS), offsetAt(wallMs + DAY_MS)]);
    const fitting = [...offsets].filter((offset) => offsetAt(wallMs - offset) === offset);
    return fitting.length === 1 ? wallMs - (fitting[0] ?? 0) : null;
  }
  return { isKnown: (zone: string): boolean => offsetsOf(zone) !== null, instantOf };
}

function open(zone: string) {
  try {
    return zoneOffsets(zone);
  } catch (error) {
    // An unknown name.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const DURATION = /^P(?:(\d{1,3})D)?(?:T(?:(\d{1,3})H)?(?:(\d{1,4})M)?(?:(\d{1,5})(?:\.\d+)?S)?)?$/;

/** Rewrites `PT02H26M` and `P1DT` in the wire's form; null for anything else, and for zero. */
function readDuration(value: unknown): string | null {
  const match = typeof value === 'string' ? DURATION.exec(value) : null;
  if (!match) return null;
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  const total = (days ?? 0) * 1440 + (hours ?? 0) * 60 + (minutes ?? 0) + Math.floor((seconds ?? 0) / 60);
  return total > 0 ? isoDuration(total) : null;
}
