import { randomInt } from 'node:crypto';

/** When to retry work, and when to leave it to a person. */
export interface RetryPolicy {
  /** The first delay; later ones grow by `factor` up to `mostMs`. */
  readonly firstMs: number;
  readonly factor: number;
  readonly mostMs: number;
  /** `half`: takes up to half off at random, so that rows which failed together spread out. */
  readonly jitter: 'none' | 'half';
  /** After so many failures a person is notified, once; null for never. */
  readonly tellAfter: number | null;
  readonly giveUp:
    | { readonly after: 'never' }
    | { readonly after: 'failures'; readonly most: number }
    | { readonly after: 'age'; readonly ms: number };
}

export type DelayPolicy = Pick<RetryPolicy, 'firstMs' | 'factor' | 'mostMs' | 'jitter'>;

/** @param fared the failures, including the last, and the work's age */
export function isGivenUp(
  { giveUp }: Pick<RetryPolicy, 'giveUp'>,
  fared: { readonly failures: number; readonly ageMs: number },
): boolean {
  if (giveUp.after === 'failures') return fared.failures >= giveUp.most;
  return giveUp.after === 'age' && fared.ageMs >= giveUp.ms;
}

export function retryDelayMs({ firstMs, factor, mostMs, jitter }: DelayPolicy, failures: number): number {
  const delayMs = Math.min(mostMs, firstMs * factor ** (Math.max(1, failures) - 1));
  if (jitter === 'none') return delayMs;
  const half = Math.round(delayMs / 2);
  return half + randomInt(half + 1);
}

/** @throws RangeError for immediate or ever sooner retries, or giving up before the start */
export function checkRetryPolicy({ firstMs, factor, mostMs, tellAfter, giveUp }: RetryPolicy): void {
  const atLeast = (name: string, value: number, least: number) => {
    if (!(value >= least)) throw new RangeError(`a retry policy's ${name} is at least ${least}, not ${value}`);
  };
  atLeast('firstMs', firstMs, 1);
  atLeast('factor', factor, 1);
  atLeast('mostMs', mostMs, firstMs);
  atLeast('tellAfter', tellAfter ?? 1, 1);
  if (giveUp.after === 'failures') atLeast('giveUp.most', giveUp.most, 1);
  if (giveUp.after === 'age') atLeast('giveUp.ms', giveUp.ms, 1);
}

export interface PollPolicy {
  readonly leastMs: number;
  readonly mostMs: number;
}

export const pollPauseMs = ({ leastMs, mostMs }: PollPolicy, waitedMs: number): number =>
  Math.round(Math.min(mostMs, Math.max(leastMs, waitedMs / 10)));
