import { DAY_MS } from '../clock.ts';

/** Writes journeys as iCalendar (RFC 5545), one event per flight, in UTC so that calendars need no zone definitions. */

/** A flight of the flight service: local times without offset, and an IANA zone. */
export interface IcsSegment {
  readonly origin_iata: string;
  readonly destination_iata: string;
  /** `YYYY-MM-DDTHH:MM:SS` at the origin. */
  readonly departing_at: string;
  /** `YYYY-MM-DDTHH:MM:SS` at the destination. */
  readonly arriving_at: string;
  readonly origin_time_zone: string;
  readonly destination_time_zone: string;
  readonly carrier_name: string;
  readonly flight_number: string;
  readonly origin_terminal?: string | null | undefined;
  readonly destination_terminal?: string | null | undefined;
}

interface IcsJourney {
  /** An order or intent id, from which the ids of events are made. */
  readonly reference: string;
  /** The record locator, if known. */
  readonly bookingReference: string | null;
  /** The travellers who still fly, if some were refunded. */
  readonly travellers?: string | undefined;
  /** The time of writing, epoch ms. */
  readonly stampMs: number;
  readonly slices: readonly { readonly segments: readonly IcsSegment[] }[];
  /** `segment_index`: the flight's position among all flights. */
  readonly seats?: readonly { readonly segment_index: number; readonly designator: string }[] | undefined;
}

/** Writes a calendar file. Equal journeys have equal event ids. */
export function journeyIcs(journey: IcsJourney): string {
  let place = 0;
  const events = journey.slices.flatMap((slice, direction) =>
    slice.segments.flatMap((segment, flight) => {
      const index = place++;
      const seats = journey.seats?.flatMap((seat) => (seat.segment_index === index ? seat.designator : []));
      return eventLines(journey, segment, `${direction + 1}-${flight + 1}`, seats);
    }),
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

function eventLines(journey: IcsJourney, segment: IcsSegment, place: string, seats: readonly string[] = []): string[] {
  const { origin_iata: from, destination_iata: to } = segment;
  const description = [
    `${segment.carrier_name} ${segment.flight_number}`,
    `Departs ${from} ${localText(segment.departing_at)} (${segment.origin_time_zone})${terminal(segment.origin_terminal)}`,
    `Arrives ${to} ${localText(segment.arriving_at)} (${segment.destination_time_zone})${terminal(segment.destination_terminal)}`,
    ...(seats.length === 0 ? [] : [`${seats.length === 1 ? 'Seat' : 'Seats'} ${seats.join(', ')}`]),
    ...(journey.bookingReference === null ? [] : [`Booking reference ${journey.bookingReference}`]),
    ...(journey.travellers === undefined ? [] : [journey.travellers]),
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

/** Escapes text (RFC 5545, 3.3.11), so that an airline's text cannot start a line of its own. */
const text = (value: string): string =>
  value
    .replace(/\\/g, '\\\\')
    .replace(/;/g, '\\;')
    .replace(/,/g, '\\,')
    .replace(/\r\n|\r|\n|\u2028|\u2029/g, '\\n')
    .replace(/\p{Cc}/gu, '');

/** Folds a line between characters, at most 75 octets each (RFC 5545, 3.1). */
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

/** Converts a local time to epoch ms. A skipped time takes the old offset; a repeated time means its first turn. */
export function zonedInstant(local: string, timeZone: string): number {
  const asUtc = Date.parse(`${local}Z`);
  const offsetAt = zoneOffsets(timeZone);
  // Clocks change at most once in a day, so one of the offsets is right.
  const before = asUtc - offsetAt(asUtc - DAY_MS);
  const after = asUtc - offsetAt(asUtc + DAY_MS);
  if (offsetAt(before) === asUtc - before) return before;
  return offsetAt(after) === asUtc - after ? after : before;
}

export const journeyEndMs = (slices: IcsJourney['slices']): number =>
  Math.max(
    0,
    ...slices.flatMap(({ segments }) =>
      segments.map((segment) => zonedInstant(segment.arriving_at, segment.destination_time_zone)),
    ),
  );

/** Gives a zone's offset from UTC by time, ms. @throws RangeError for an unknown zone */
export function zoneOffsets(timeZone: string): (ms: number) => number {
  // Swedish dates are ISO 8601.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return (ms) => Date.parse(`${format.format(ms).replace(' ', 'T')}Z`) - Math.floor(ms / 1000) * 1000;
}
