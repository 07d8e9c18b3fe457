import { hash, timingSafeEqual } from 'node:crypto';
import type { Network } from './connections.ts';
import { CABINS } from './journey.ts';
import { SELLERS, type Selection } from './prices.ts';
import type { Flight, Timetable } from './timetable.ts';
import type { Airport, World } from './world.ts';

const PREFIX = 'off_';
const VERSION = 1;
const MAC_BYTES = 9;
const HEADER_BYTES = 12;
const DIRECTION_BYTES = 3;
const FLIGHT_BYTES = 4;
const FIRST_DAY = 18_262;

/**
 * An id packs its whole offer with a MAC keyed from the seed (`off_`, base64url), so any process can price it again
 * without storage.
 */
export function createOfferIds(world: World, network: Network, timetable: Timetable) {
  const key = hash('sha256', `farelock sandbox offers ${world.seed}`, 'buffer');
  // A MAC in one call: the key on both sides, most of the digest dropped; HMAC takes several objects.
  const macOf = (bytes: Uint8Array): Buffer =>
    hash('sha256', Buffer.concat([key, bytes, key]), 'buffer').subarray(0, MAC_BYTES);
  const flightOf: FlightOf = (packed, from, day) => {
    const to = world.airports[packed >>> 22];
    const airline = world.airlines[(packed >>> 15) & 127];
    if (!to || !airline) return null;
    const service = network.services(from, to).find((one) => one.airline === airline);
    return service ? timetable.flight(service, from, (packed >>> 10) & 31, day + ((packed >>> 7) & 7) - 2) : null;
  };
  return {
    write(selection: Selection): string {
      const bytes = packed(selection);
      return PREFIX + Buffer.concat([bytes, macOf(bytes)]).toString('base64url');
    },
    /** null for an altered id, or one of another world. */
    read(id: string): Selection | null {
      if (!id.startsWith(PREFIX) || id.length > 200) return null;
      const all = Buffer.from(id.slice(PREFIX.length), 'base64url');
      // Rejects other base64 spellings of the same bytes.
      if (all.length <= HEADER_BYTES + MAC_BYTES || PREFIX + all.toString('base64url') !== id) return null;
      const bytes = all.subarray(0, -MAC_BYTES);
      return timingSafeEqual(all.subarray(-MAC_BYTES), macOf(bytes)) ? unpacked(world, bytes, flightOf) : null;
    },
  };
}

type FlightOf = (packed: number, from: Airport, day: number) => Flight | null;

function packed({ issuedMinute, journey, plating, tier, sellerIndex, cabin, adults }: Selection): Buffer {
  const flights = journey.reduce((count, one) => count + one.length, 0);
  const bytes = Buffer.alloc(HEADER_BYTES + journey.length * DIRECTION_BYTES + flights * FLIGHT_BYTES);
  // Buffer's own writers cost a tenth of a search.
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  view.setUint8(0, VERSION);
  view.setUint32(1, issuedMinute);
  view.setUint8(5, (adults << 4) | (CABINS.indexOf(cabin) << 1) | (journey.length - 1));
  view.setUint8(6, (sellerIndex << 4) | tier);
  view.setUint8(7, plating.index);
  view.setUint16(8, journey[0]?.[0]?.from.index ?? 0);
  view.setUint16(10, journey[1]?.[0]?.from.index ?? 0);
  let at = HEADER_BYTES;
  for (const itinerary of journey) {
    const day = itinerary[0]?.day ?? FIRST_DAY;
    view.setUint16(at, day - FIRST_DAY);
    view.setUint8(at + 2, itinerary.length);
    at += DIRECTION_BYTES;
    for (const flight of itinerary) {
      const where = (flight.to.index << 22) | (flight.airline.index << 15);
      const when = (flight.slot.number << 10) | ((flight.day - day + 2) << 7);
      view.setUint32(at, (where | when) >>> 0);
      at += FLIGHT_BYTES;
    }
  }
  return bytes;
}

/** null for bytes that are no selection of this world. */
function unpacked(world: World, bytes: Buffer, flightOf: FlightOf): Selection | null {
  if (bytes.readUInt8(0) !== VERSION) return null;
  const journey = journeyIn(world, bytes, flightOf);
  const cabin = CABINS[(bytes.readUInt8(5) >>> 1) & 3];
  const plating = world.airlines[bytes.readUInt8(7)];
  const tier = bytes.readUInt8(6) & 15;
  const sellerIndex = bytes.readUInt8(6) >>> 4;
  const adults = bytes.readUInt8(5) >>> 4;
  if (!journey || !cabin || !plating || adults < 1) return null;
  if (tier >= plating.brands.length || sellerIndex >= SELLERS.length) return null;
  return { issuedMinute: bytes.readUInt32BE(1), journey, plating, tier, sellerIndex, cabin, adults };
}

/** null for a flight that does not fly, or a wrong length. */
function journeyIn(world: World, bytes: Buffer, flightOf: FlightOf): Flight[][] | null {
  const directions = (bytes.readUInt8(5) & 1) + 1;
  const journey: Flight[][] = [];
  let at = HEADER_BYTES;
  for (let direction = 0; direction < directions; direction++) {
    if (at + DIRECTION_BYTES > bytes.length) return null;
    const day = bytes.readUInt16BE(at) + FIRST_DAY;
    const count = bytes.readUInt8(at + 2);
    at += DIRECTION_BYTES;
    if (count === 0 || at + count * FLIGHT_BYTES > bytes.length) return null;
    let from = world.airports[bytes.readUInt16BE(8 + 2 * direction)];
    const itinerary: Flight[] = [];
    for (let i = 0; i < count; i++, at += FLIGHT_BYTES) {
      const flight = from ? flightOf(bytes.readUInt32BE(at), from, day) : null;
      if (!flight) return null;
      itinerary.push(flight);
      from = flight.to;
    }
    journey.push(itinerary);
  }
  return at === bytes.length ? journey : null;
}
