import { describe, expect, test } from 'vitest';
import { parseDate, parseDuration } from '../../../src/cli/searching/dates.ts';
import { isProblem } from '../../../src/kernel/problems.ts';

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
  test.each(['', '2026-02-30', '30d', '+d', 'fr', 'yesterday', '20.12.2026', '2026-1-2'])('%j', (text) => {
    expect(() => parseDate(text, now)).toSatisfy((run: () => void) => {
      try {
        run();
        return false;
      } catch (error) {
        return isProblem(error, 'usage');
      }
    });
  });
});

test('time spans take seconds, minutes and hours', () => {
  expect(['90', '90s', '5m', '1h', '250ms'].map(parseDuration)).toEqual([
    90_000, 90_000, 300_000, 3_600_000, 250,
  ]);
  expect(() => parseDuration('0')).toThrow(/not a time span/);
});
