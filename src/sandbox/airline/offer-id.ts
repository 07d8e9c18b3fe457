import { hash, timingSafeEqual } from 'node:crypto';
import type { Network } from './connections.ts';
import { CABINS } from './journey.ts';
import { SELLERS, type Selection } from './prices.ts';
import type { Flight, Timetable } from './timetable.ts';
import type { Airport, World } from './world.ts';

const PREFIX = 'off_';
const MAC_BYTES = 9;
const HEADER_BYTES = 12;
/** The header without the origins of the two directions. */
const SHORT_HEADER_BYTES = 8;
const DIRECTION_BYTES = 3;
const ORIGIN_BYTES = 2;
const FLIGHT_BYTES = 4;
const FIRST_DAY = 18_262;

/**
 * Makes ids that contain the whole offer, with a MAC keyed from the seed (`off_`, base64url), so that any process can
 * price it again without storage.
 */
export function createOfferIds(world: World, network: Network, timetable: Timetable) {
  const key = hash('sha256', `farelock sandbox offers ${world.seed}`, 'buffer');
  // A MAC by one hash, with the key on both sides and most of the digest dropped: faster than HMAC and its objects.
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
    /** Null for an altered id, or one of another world. */
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

/**
 * Packs a selection. Version 1 is for adults only and one or two directions, with the origins in the header. Version 2
 * has the ages of children after the header, and an origin in each direction.
 */
function packed(selection: Selection): Buffer {
  const { issuedMinute, journey, plating, tier, sellerIndex, cabin, adults, childAges } = selection;
  const isFirst = childAges.length === 0 && journey.length <= 2;
  const flights = journey.reduce((count, one) => count + one.length, 0);
  const headerBytes = isFirst ? HEADER_BYTES : SHORT_HEADER_BYTES + 1 + childAges.length;
  const directionBytes = isFirst ? DIRECTION_BYTES : DIRECTION_BYTES + ORIGIN_BYTES;
  const bytes = Buffer.alloc(headerBytes + journey.length * directionBytes + flights * FLIGHT_BYTES);
  // Buffer's own writers cost a tenth of a search.
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  view.setUint8(0, isFirst ? 1 : 2);
  view.setUint32(1, issuedMinute);
  view.setUint8(5, (adults << 4) | (CABINS.indexOf(cabin) << (isFirst ? 1 : 2)) | (journey.length - 1));
  view.setUint8(6, (sellerIndex << 4) | tier);
  view.setUint8(7, plating.index);
  if (isFirst) {
    view.setUint16(8, journey[0]?.[0]?.from.index ?? 0);
    view.setUint16(10, journey[1]?.[0]?.from.index ?? 0);
  } else {
    view.setUint8(SHORT_HEADER_BYTES, childAges.length);
    for (const [at, age] of childAges.entries()) view.setUint8(SHORT_HEADER_BYTES + 1 + at, age);
  }
  let at = headerBytes;
  for (const itinerary of journey) {
    const day = itinerary[0]?.day ?? FIRST_DAY;
    view.setUint16(at, day - FIRST_DAY);
    view.setUint8(at + 2, itinerary.length);
    if (!isFirst) view.setUint16(at + DIRECTION_BYTES, itinerary[0]?.from.index ?? 0);
    at += directionBytes;
    for (const flight of itinerary) {
      const where = (flight.to.index << 22) | (flight.airline.index << 15);
      const when = (flight.slot.number << 10) | ((flight.day - day + 2) << 7);
      view.setUint32(at, (where | when) >>> 0);
      at += FLIGHT_BYTES;
    }
  }
  return bytes;
}

/** Null if the bytes are not a selection of this world. */
function unpacked(world: World, bytes: Buffer, flightOf: FlightOf): Selection | null {
  const version = bytes.readUInt8(0);
  if (version !== 1 && version !== 2) return null;
  const byte = bytes.readUInt8(5);
  const children = version === 1 ? 0 : bytes.readUInt8(SHORT_HEADER_BYTES);
  const headerBytes = version === 1 ? HEADER_BYTES : SHORT_HEADER_BYTES + 1 + children;
  if (headerBytes > bytes.length) return null;
  const childAges = [...bytes.subarray(headerBytes - children, headerBytes)];
  const journey =
    version === 1
      ? journeyIn(bytes, flightOf, { at: headerBytes, count: (byte & 1) + 1, originAt: (i) => 8 + 2 * i }, world)
      : journeyIn(bytes, flightOf, { at: headerBytes, count: (byte & 3) + 1, originAt: null }, world);
  const cabin = CABINS[(byte >>> (version === 1 ? 1 : 2)) & 3];
  const plating = world.airlines[bytes.readUInt8(7)];
  const tier = bytes.readUInt8(6) & 15;
  const sellerIndex = bytes.readUInt8(6) >>> 4;
  const adults = byte >>> 4;
  if (!journey || !cabin || !plating || adults < 1) return null;
  if (tier >= plating.brands.length || sellerIndex >= SELLERS.length) return null;
  return { issuedMinute: bytes.readUInt32BE(1), journey, plating, tier, sellerIndex, cabin, adults, childAges };
}

/** The place of a journey in the bytes; `originAt` is null if each direction has its own origin. */
interface Place {
  readonly at: number;
  readonly count: number;
  readonly originAt: ((direction: number) => number) | null;
}

/** Null for a flight that does not exist, or a wrong length. */
function journeyIn(bytes: Buffer, flightOf: FlightOf, place: Place, world: World): Flight[][] | null {
  const directionBytes = place.originAt ? DIRECTION_BYTES : DIRECTION_BYTES + ORIGIN_BYTES;
  const journey: Flight[][] = [];
  let { at } = place;
  for (let direction = 0; direction < place.count; direction++) {
    if (at + directionBytes > bytes.length) return null;
    const day = bytes.readUInt16BE(at) + FIRST_DAY;
    const count = bytes.readUInt8(at + 2);
    let from = world.airports[bytes.readUInt16BE(place.originAt?.(direction) ?? at + DIRECTION_BYTES)];
    at += directionBytes;
    if (count === 0 || at + count * FLIGHT_BYTES > bytes.length) return null;
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
