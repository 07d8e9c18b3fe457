import { expect, test } from 'vitest';
import { type IcsSegment, journeyIcs, zonedInstant } from '../../../src/kernel/domain/ics.ts';

const FLIGHT: IcsSegment = {
  origin_iata: 'LIS',
  destination_iata: 'BER',
  departing_at: '2026-12-20T23:00:00',
  arriving_at: '2026-12-21T03:30:00',
  origin_time_zone: 'Europe/Lisbon',
  destination_time_zone: 'Europe/Berlin',
  carrier_name: 'Zephyr Example',
  flight_number: 'ZX1',
  origin_terminal: '1',
  destination_terminal: null,
};
const calendar = (...segments: Partial<IcsSegment>[]) =>
  journeyIcs({
    reference: 'ord_1',
    bookingReference: 'ZX7QPL',
    stampMs: Date.UTC(2026, 10, 21, 9),
    slices: segments.map((segment) => ({ segments: [{ ...FLIGHT, ...segment }] })),
  });
/** RFC 5545, 3.1: a line break followed by a space is no line break. */
const unfolded = (ics: string) => ics.replaceAll('\r\n ', '').split('\r\n');
const valuesOf = (ics: string, name: string) =>
  unfolded(ics)
    .filter((line) => line.startsWith(`${name}:`))
    .map((line) => line.slice(name.length + 1));

test('each flight is an event, in UTC by the zone of its airport', () => {
  const ics = calendar({}, { origin_iata: 'BER', destination_iata: 'LIS' });
  expect(unfolded(ics).filter((line) => line === 'BEGIN:VEVENT')).toHaveLength(2);
  expect(valuesOf(ics, 'DTSTART')[0]).toBe('20261220T230000Z');
  expect(valuesOf(ics, 'DTEND')[0]).toBe('20261221T023000Z');
  expect(valuesOf(ics, 'DTSTAMP')[0]).toBe('20261121T090000Z');
  expect(valuesOf(ics, 'SUMMARY')).toEqual(['ZX1 LIS to BER', 'ZX1 BER to LIS']);
});

test('every event has the properties that RFC 5545 demands, in a document that ends as it begins', () => {
  const ics = calendar({});
  const lines = unfolded(ics);
  expect(lines.slice(0, 3)).toEqual(['BEGIN:VCALENDAR', 'VERSION:2.0', expect.stringMatching(/^PRODID:/)]);
  expect(lines.slice(-3)).toEqual(['END:VEVENT', 'END:VCALENDAR', '']);
  for (const name of ['UID', 'DTSTAMP', 'DTSTART', 'DTEND', 'SUMMARY']) expect(valuesOf(ics, name)).toHaveLength(1);
  expect(ics.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
});

test('the same journey keeps its event ids, and two flights never share one', () => {
  expect(valuesOf(calendar({}, {}), 'UID')).toEqual(valuesOf(calendar({}, {}), 'UID'));
  expect(new Set(valuesOf(calendar({}, {}), 'UID')).size).toBe(2);
});

test('text is escaped, and nothing in it can begin a line', () => {
  const ics = calendar({ carrier_name: 'Air; Sea, \\ Land\r\nATTENDEE:mailto:x@example.org\u0007' });
  expect(ics).toContain('Air\\; Sea\\, \\\\ Land\\nATTENDEE');
  expect(unfolded(ics).some((line) => line.startsWith('ATTENDEE'))).toBe(false);
});

test('no line is longer than 75 octets, and no character is torn apart', () => {
  const ics = calendar({ carrier_name: 'Übergrößenträger ✈ '.repeat(12) });
  for (const line of ics.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
  expect(unfolded(ics).join('')).toContain('Übergrößenträger ✈ '.repeat(12).trim());
});

test('times around a change of the clocks are read as the airport reads them', () => {
  const at = (local: string, zone: string) => new Date(zonedInstant(local, zone)).toISOString();
  expect(at('2026-03-29T01:59:00', 'Europe/Berlin')).toBe('2026-03-29T00:59:00.000Z');
  expect(at('2026-03-29T02:30:00', 'Europe/Berlin')).toBe('2026-03-29T01:30:00.000Z');
  expect(at('2026-03-29T03:00:00', 'Europe/Berlin')).toBe('2026-03-29T01:00:00.000Z');
  expect(at('2026-10-25T02:30:00', 'Europe/Berlin')).toBe('2026-10-25T00:30:00.000Z');
  expect(at('2026-10-25T03:00:00', 'Europe/Berlin')).toBe('2026-10-25T02:00:00.000Z');
  expect(at('2026-12-20T12:00:00', 'Asia/Kathmandu')).toBe('2026-12-20T06:15:00.000Z');
  expect(at('2026-12-20T12:00:00', 'Pacific/Kiritimati')).toBe('2026-12-19T22:00:00.000Z');
});
