import { AIRPORT_TABLE } from '../../kernel/domain/airport-table.ts';
import { isoDuration } from '../../kernel/domain/offers.ts';
import type { Segment, Slice } from '../../wire/flights/index.ts';
import { type Fields, iata, list, localTime, object, text } from './read.ts';
import { readDuration, type Zones } from './zones.ts';

/** The means of reading one offer or order. */
export interface Reading {
  readonly zones: Zones;
  /** Says which field can't be done without, and gives null. */
  missing(field: string): null;
}

/** A segment, and what makes it that flight, whoever sells it. */
interface ReadSegment {
  readonly segment: Segment;
  readonly flight: string;
}

export interface ReadSlice {
  readonly slice: Slice;
  /** The same text for the same flights. */
  readonly flights: string;
}

/** One direction; null where a field is missing that can't be left open. */
export function readSlice(value: unknown, reading: Reading): ReadSlice | null {
  const raw = object(value);
  const read: ReadSegment[] = [];
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

function readSegment(raw: Fields | null, reading: Reading): ReadSegment | null {
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
  // Absent where the airline sells no flights with technical stops.
  const stops = list(raw.stops) ?? [];
  const passengers = (list(raw.passengers) ?? []).map((one) => text(object(one)?.fare_basis_code));
  const designator = `${marketing.code ?? ''}${marketing.number}`;
  const operated = operating.code && operating.number ? `${operating.code}${operating.number}` : null;
  return {
    flight: `${operated ?? designator}-${origin.iata}-${destination.iata}-${departing.slice(0, 10).replaceAll('-', '')}`,
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

/** Worked out from the local times and their zones: a fact, where the seller leaves it out. */
function durationOf(
  { zones }: Reading,
  first: Pick<Segment, 'departing_at' | 'origin_time_zone'>,
  last: Pick<Segment, 'arriving_at' | 'destination_time_zone'>,
): string | null {
  const minutes = zones.minutesBetween(
    { time: first.departing_at, zone: first.origin_time_zone },
    { time: last.arriving_at, zone: last.destination_time_zone },
  );
  return minutes === null ? null : isoDuration(minutes);
}

function placeOf(value: unknown, { zones }: Reading): { iata: string; zone: string } | null {
  const raw = object(value);
  const code = iata(raw?.iata_code);
  if (code === null) return null;
  const zone = text(raw?.time_zone) ?? AIRPORT_TABLE.find((row) => row[0] === code)?.[6] ?? null;
  return zone !== null && zones.isKnown(zone) ? { iata: code, zone } : null;
}

interface ReadCarrier {
  readonly name: string;
  /** null: an airline without a code of IATA. */
  readonly code: string | null;
  readonly number: string | null;
}

function carrierOf(value: unknown, number: unknown): ReadCarrier | null {
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

/** `0117` is flight 117. */
const flightNumber = (number: string): string | null =>
  /^0*(\d{1,4}[A-Z]?)$/.exec(number.trim().toUpperCase())?.[1] ?? null;
