import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDate, readDate } from '../../../src/cli/searching/dates.ts';
import { parseDuration } from '../../../src/cli/spec/options.ts';
import { isProblem } from '../../../src/kernel/problems.ts';
import { dayName } from '../../../src/terminal/times.ts';

/** A Saturday at noon, by the clock here. */
const now = new Date(2026, 10, 21, 12).getTime();

test.each([
  ['2026-12-20', '2026-12-20'],
  ['today', '2026-11-21'],
  ['Tomorrow', '2026-11-22'],
  ['+30d', '2026-12-21'],
  ['+2w', '2026-12-05'],
  ['+0d', '2026-11-21'],
  ['fri', '2026-11-27'],
  ['sunday', '2026-11-22'],
  ['Sat', '2026-11-28'],
  ['Tue 22 Dec 2026', '2026-12-22'],
  ['tuesday, 22 December 2026', '2026-12-22'],
  ['22 Dec', '2026-12-22'],
  ['22nd dec', '2026-12-22'],
  ['Dec 22', '2026-12-22'],
  ['December 22, 2026', '2026-12-22'],
  ['22-Dec-2026', '2026-12-22'],
  ['22dec', '2026-12-22'],
  ['22 Dec 27', '2027-12-22'],
  ['22/12', '2026-12-22'],
  ['12/25', '2026-12-25'],
  ['22/12/2026', '2026-12-22'],
  ['22.12.2026', '2026-12-22'],
  ['22.12.', '2026-12-22'],
  ['03.04.2027', '2027-04-03'],
  ['2026/12/22', '2026-12-22'],
  ['４/４', '2027-04-04'],
  ['next friday', '2026-11-27'],
  ['on Friday', '2026-11-27'],
  ['in 3 weeks', '2026-12-12'],
  ['in a week', '2026-11-28'],
  ['in 1 day', '2026-11-22'],
  ['in 3 months', '2027-02-21'],
  ['21 nov', '2026-11-21'],
  ['20 nov', '2027-11-20'],
  ['29 feb', '2028-02-29'],
  ['sat 03/04/2027', '2027-04-03'],
  ['thu 03/04/2027', '2027-03-04'],
])('%s is %s', (text, date) => {
  expect(parseDate(text, now)).toBe(date);
});

test('a weekday is never today', () => {
  expect(parseDate('sat', now)).toBe('2026-11-28');
});

test('late in the evening tomorrow is the next day here', () => {
  expect(parseDate('tomorrow', new Date(2026, 11, 31, 23, 59).getTime())).toBe('2027-01-01');
});

test('a change of the clocks does not move the day', () => {
  expect(parseDate('+1d', new Date(2026, 9, 24, 23, 30).getTime())).toBe('2026-10-25');
  expect(parseDate('+1d', new Date(2026, 2, 28, 0, 30).getTime())).toBe('2026-03-29');
});

describe('what is no date is refused', () => {
  test.each(['', '2026-02-30', '30d', '+d', 'fr', 'yesterday', '20-12.2026', '2026-1-2', '22 decimal', 'dec', '13/13'])(
    '%j',
    (text) => {
      expect(() => parseDate(text, now)).toSatisfy((run: () => void) => {
        try {
          run();
          return false;
        } catch (error) {
          return isProblem(error, 'usage');
        }
      });
    },
  );
});

test.each([
  ['2026-02-31', 'February 2026 has 28 days.'],
  ['31 Apr', 'April has 30 days.'],
  ['30/02', 'February has 28 days, or 29.'],
  ['29 Feb 2027', 'February 2027 has 28 days.'],
  ['2026-13-01', 'There is no month 13.'],
  ['Mon 22 Dec 2026', '22 Dec 2026 is a Tuesday, not a Monday.'],
  ['soon', '"soon" is not a date.'],
])('%s: %s', (text, message) => {
  expect(readDate(text, { nowMs: now })).toMatchObject({ kind: 'wrong', message });
});

test('what can be read in two ways is neither, and the refusal names both', () => {
  expect(readDate('03/04', { nowMs: now })).toEqual({ kind: 'either', days: ['2027-04-03', '2027-03-04'] });
  expect(() => parseDate('03/04', now)).toThrow('"03/04" can be read two ways: Sat 3 Apr 2027 or Thu 4 Mar 2027.');
  expect(readDate('05/05', { nowMs: now })).toEqual({ kind: 'day', day: '2027-05-05' });
});

test('a flight back is not before the departure', () => {
  const from = '2026-12-30';
  expect(readDate('3 jan', { nowMs: now, from })).toEqual({ kind: 'day', day: '2027-01-03' });
  expect(readDate('20 dec', { nowMs: now, from })).toEqual({ kind: 'day', day: '2027-12-20' });
  expect(readDate('wed', { nowMs: now, from })).toEqual({ kind: 'day', day: '2026-12-30' });
  expect(readDate('tue', { nowMs: now, from })).toEqual({ kind: 'day', day: '2027-01-05' });
});

test('a birthday needs its year, in full', () => {
  const rules = { nowMs: now, needsYear: true };
  expect(readDate('3 Apr 1990', rules)).toEqual({ kind: 'day', day: '1990-04-03' });
  for (const text of ['3 Apr', '3 Apr 90', '13/4']) {
    expect(readDate(text, rules)).toMatchObject({ message: 'Write the year with four digits.' });
  }
});

describe('a day of any year', () => {
  const DAYS = (Date.UTC(2100, 0, 1) - Date.UTC(1900, 0, 1)) / 86_400_000;
  const days = fc
    .integer({ min: 0, max: DAYS })
    .map((day) => new Date(Date.UTC(1900, 0, 1 + day)).toISOString().slice(0, 10));
  const readsAs = (write: (day: string) => string) =>
    fc.assert(
      fc.property(days, (day) => {
        expect(readDate(write(day), { nowMs: now })).toEqual({ kind: 'day', day });
      }),
    );

  test('is read back as the tool prints it', () => {
    readsAs(dayName);
    readsAs((day) => dayName(day).split(' ').slice(1).join(' '));
    readsAs((day) => day);
  });

  test('is read with dots, and with slashes either as it is or as one of two', () => {
    readsAs((day) => day.split('-').toReversed().join('.'));
    fc.assert(
      fc.property(days, (day) => {
        const read = readDate(day.split('-').toReversed().join('/'), { nowMs: now });
        expect(read.kind === 'either' ? read.days[0] : read.kind === 'day' && read.day).toBe(day);
      }),
    );
  });

  test('without its year is the next one to come', () => {
    fc.assert(
      fc.property(days, (day) => {
        const read = readDate(dayName(day).split(' ').slice(1, 3).join(' '), { nowMs: now });
        const next = read.kind === 'day' ? read.day : '';
        expect(next.slice(5)).toBe(day.slice(5));
        expect(next >= '2026-11-21').toBe(true);
        expect(next < (day.endsWith('02-29') ? '2028-03-01' : '2027-11-21')).toBe(true);
      }),
    );
  });

  test('nothing that is typed is a fault', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(['day', 'either', 'wrong']).toContain(readDate(text, { nowMs: now }).kind);
      }),
    );
  });
});

test('time spans take seconds, minutes and hours', () => {
  expect(['90', '90s', '5m', '1h', '250ms'].map((text) => parseDuration(text, '--timeout'))).toEqual([
    90_000, 90_000, 300_000, 3_600_000, 250,
  ]);
  expect(() => parseDuration('0', '--timeout')).toThrow(/must be a time span/);
});
