import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { aboutText, nextTryMs, WINDOW_MS, waitFor } from '../../src/cli/commands/search/many.ts';

/** How long many searches wait for a price that they have driven up themselves (spec/flight-service.md, Limits). */

test.each([
  ['as many as fit into the cheap window wait for nobody', 11, 1_100_000n, 0],
  ['one more waits until the first one counts no longer', 12, 1_200_000n, 60_000],
  ['a month for the price of now takes two windows', 31, 3_100_000n, 120_000],
  ['half of the rise takes one of them', 31, 4_600_000n, 60_000],
  ['who pays the rise waits for nobody', 31, 6_400_000n, 0],
])('%s', (_said, searches, most, wait) => {
  expect(waitFor(searches, 100_000n, most)).toBe(wait);
});

test('more money never takes longer, and what is agreed to is always enough for the last search', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 120 }), fc.bigInt({ min: 0n, max: 5_000_000n }), (searches, more) => {
      const total = BigInt(searches) * 100_000n;
      const patient = waitFor(searches, 100_000n, total);
      expect(waitFor(searches, 100_000n, total + more)).toBeLessThanOrEqual(patient);
      expect(patient).toBe(Math.floor((searches - 1) / 11) * WINDOW_MS);
    }),
  );
});

test('the next try is when the oldest of ours counts no longer; without one, after a look around', () => {
  expect(nextTryMs([10_000, 12_000], 20_000, 5_000)).toBe(50_000);
  expect(nextTryMs([10_000, 12_000], 69_900, 5_000)).toBe(500);
  expect(nextTryMs([10_000], 70_000, 5_000)).toBe(5_000);
  // A clock that was set back: what lies ahead is not waited for.
  expect(nextTryMs([90_000], 20_000, 5_000)).toBe(5_000);
});

test('a time is told as people say it', () => {
  expect([aboutText(400), aboutText(58_400), aboutText(120_000)]).toEqual([
    'a moment',
    'about 58 seconds',
    'about 2 minutes',
  ]);
});
