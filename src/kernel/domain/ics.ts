import { DAY_MS } from '../clock.ts';

/**
 * A journey as an iCalendar document (RFC 5545): one event a flight. Times are written in UTC, computed from the
 * airport's local time and zone, so that no calendar needs a zone definition and every one shows the right moment.
 */

/** A flight, as the wire of the flight service describes it: local times without offset, with the IANA zone. */
export interface IcsSegment {
  readonly origin_iata: string;
  readonly destination_iata: string;
  /** `YYYY-MM-DDTHH:MM:SS`, local to the origin. */
  readonly departing_at: string;
  /** `YYYY-MM-DDTHH:MM:SS`, local to the destination. */
  readonly arriving_at: string;
  readonly origin_time_zone: string;
  readonly destination_time_zone: string;
  readonly carrier_name: string;
  readonly flight_number: string;
  readonly origin_terminal?: string | null | undefined;
  readonly destination_terminal?: string | null | undefined;
}

interface IcsJourney {
  /** Identifies the events when they are sent again: an order or intent id. */
  readonly reference: string;
  /** The record locator, when it is known. */
  readonly bookingReference: string | null;
  /** When this description was made, epoch ms. */
  readonly stampMs: number;
  readonly slices: readonly { readonly segments: readonly IcsSegment[] }[];
}

/** The whole document, lines folded and ended as RFC 5545 asks. The same journey gives the same event ids. */
export function journeyIcs(journey: IcsJourney): string {
  const events = journey.slices.flatMap((slice, direction) =>
    slice.segments.flatMap((segment, flight) => eventLines(journey, segment, `${direction + 1}-${flight + 1}`)),
  );
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Farelock//Journey//EN',
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    ...events,
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${folded(line)}\r\n`).join('');
}

function eventLines(journey: IcsJourney, segment: IcsSegment, place: string): string[] {
  const { origin_iata: from, destination_iata: to } = segment;
  const description = [
    `${segment.carrier_name} ${segment.flight_number}`,
    `Departs ${from} ${localText(segment.departing_at)} (${segment.origin_time_zone})${terminal(segment.origin_terminal)}`,
    `Arrives ${to} ${localText(segment.arriving_at)} (${segment.destination_time_zone})${terminal(segment.destination_terminal)}`,
    ...(journey.bookingReference === null ? [] : [`Booking reference ${journey.bookingReference}`]),
  ].join('\n');
  return [
    'BEGIN:VEVENT',
    `UID:${text(`${journey.reference}-${place}@farelock`)}`,
    `DTSTAMP:${utcStamp(journey.stampMs)}`,
    `DTSTART:${utcStamp(zonedInstant(segment.departing_at, segment.origin_time_zone))}`,
    `DTEND:${utcStamp(zonedInstant(segment.arriving_at, segment.destination_time_zone))}`,
    `SUMMARY:${text(`${segment.flight_number} ${from} to ${to}`)}`,
    `LOCATION:${text(`${from}${terminal(segment.origin_terminal)}`)}`,
    `DESCRIPTION:${text(description)}`,
    'STATUS:CONFIRMED',
    'TRANSP:OPAQUE',
    'END:VEVENT',
  ];
}

const terminal = (name: string | null | undefined): string => (name ? `, terminal ${name}` : '');
const localText = (local: string): string => local.slice(0, 16).replace('T', ' ');
const utcStamp = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, 19).replaceAll('-', '').replaceAll(':', '')}Z`;

/** RFC 5545, 3.3.11. What an airline sent must not be able to begin a line of its own. */
const text = (value: string): string =>
  value
    .replace(/\\/g, '\\\\')
    .replace(/;/g, '\\;')
    .replace(/,/g, '\\,')
    .replace(/\r\n|\r|\n|\u2028|\u2029/g, '\\n')
    .replace(/\p{Cc}/gu, '');

/** RFC 5545, 3.1: at most 75 octets a line, and no character torn apart. */
function folded(line: string): string {
  const parts: string[] = [];
  let part = '';
  let octets = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (octets + size > 75) {
      parts.push(part);
      part = ' ';
      octets = 1;
    }
    part += character;
    octets += size;
  }
  return [...parts, part].join('\r\n');
}

/**
 * The instant (epoch ms) of an airport's local time. A time that the clocks skip is read with the offset before the
 * change; of one that comes twice the first is taken.
 * @param local `YYYY-MM-DDTHH:MM:SS`
 */
export function zonedInstant(local: string, timeZone: string): number {
  const asUtc = Date.parse(`${local}Z`);
  const offsetAt = zoneOffsets(timeZone);
  // A change of the clocks is never further away than a day, so one of the two offsets is the right one.
  const before = asUtc - offsetAt(asUtc - DAY_MS);
  const after = asUtc - offsetAt(asUtc + DAY_MS);
  if (offsetAt(before) === asUtc - before) return before;
  return offsetAt(after) === asUtc - after ? after : before;
}

/** When the last flight of a journey has landed, by the clock of its airport; epoch ms. */
export const journeyEndMs = (slices: IcsJourney['slices']): number =>
  Math.max(
    0,
    ...slices.flatMap(({ segments }) =>
      segments.map((segment) => zonedInstant(segment.arriving_at, segment.destination_time_zone)),
    ),
  );

/** How far the clocks of a zone are ahead of UTC at an instant, ms. @throws RangeError for an unknown zone */
export function zoneOffsets(timeZone: string): (ms: number) => number {
  // Swedish dates are those of ISO 8601.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return (ms) => Date.parse(`${format.format(ms).replace(' ', 'T')}Z`) - Math.floor(ms / 1000) * 1000;
}
