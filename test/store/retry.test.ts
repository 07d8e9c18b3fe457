import { describe, expect, test } from 'vitest';
import { checkRetryPolicy, isGivenUp, pollPauseMs, type RetryPolicy, retryDelayMs } from '../../src/store/retry.ts';

const POLICY: RetryPolicy = {
  firstMs: 500,
  factor: 2,
  mostMs: 60_000,
  jitter: 'none',
  tellAfter: null,
  giveUp: { after: 'never' },
};

describe('a retry policy', () => {
  test('waits longer after each failure, and never longer than its most', () => {
    const delays = [1, 2, 3, 7, 8, 9, 5_000].map((failures) => retryDelayMs(POLICY, failures));
    expect(delays).toEqual([500, 1_000, 2_000, 32_000, 60_000, 60_000, 60_000]);
  });

  test('takes up to half of a delay off by chance, and nothing else', () => {
    const delays = Array.from({ length: 200 }, () => retryDelayMs({ ...POLICY, jitter: 'half' }, 4));
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(2_000);
    expect(Math.max(...delays)).toBeLessThanOrEqual(4_000);
    expect(new Set(delays).size).toBeGreaterThan(20);
  });

  test('gives up after failures, after a time, or never', () => {
    const givenUp = (giveUp: RetryPolicy['giveUp'], failures: number, ageMs: number) =>
      isGivenUp({ giveUp }, { failures, ageMs });
    expect(givenUp({ after: 'never' }, 1_000_000, 1e12)).toBe(false);
    expect([1, 2, 3].map((failures) => givenUp({ after: 'failures', most: 2 }, failures, 1e12))).toEqual([
      false,
      true,
      true,
    ]);
    expect([9, 10, 11].map((ageMs) => givenUp({ after: 'age', ms: 10 }, 99, ageMs))).toEqual([false, true, true]);
  });

  test.each<[string, Partial<RetryPolicy>]>([
    ['tries again at once', { firstMs: 0 }],
    ['tries again at no time', { firstMs: Number.NaN }],
    ['comes back sooner each time', { factor: 0.5 }],
    ['waits first for longer than its most', { mostMs: 499 }],
    ['tells before anything failed', { tellAfter: 0 }],
    ['gives up before anything failed', { giveUp: { after: 'failures', most: 0 } }],
    ['gives up at once', { giveUp: { after: 'age', ms: 0 } }],
  ])('that %s is refused', (_name, wrong) => {
    expect(() => checkRetryPolicy({ ...POLICY, ...wrong })).toThrow(RangeError);
    expect(() => checkRetryPolicy(POLICY)).not.toThrow();
  });
});

test('what is under way is asked about less often the longer it takes', () => {
  const poll = { leastMs: 500, mostMs: 15_000 };
  expect([0, 5_000, 20_004, 150_000, 9e9].map((waitedMs) => pollPauseMs(poll, waitedMs))).toEqual([
    500, 500, 2_000, 15_000, 15_000,
  ]);
});
