import { randomInt } from 'node:crypto';

/** When work that failed is tried again, and when it is left to a person. */
export interface RetryPolicy {
  /** The delay after the first failure; each further one is `factor` times as long, up to `mostMs`. */
  readonly firstMs: number;
  readonly factor: number;
  readonly mostMs: number;
  /** `half`: up to half of a delay is taken off by chance, so that rows which failed together come back apart. */
  readonly jitter: 'none' | 'half';
  /** A person is told once after so many failures, and the work is tried further; null: never. */
  readonly tellAfter: number | null;
  readonly giveUp:
    | { readonly after: 'never' }
    | { readonly after: 'failures'; readonly most: number }
    | { readonly after: 'age'; readonly ms: number };
}

/** The part of a policy that delays follow from. */
export type DelayPolicy = Pick<RetryPolicy, 'firstMs' | 'factor' | 'mostMs' | 'jitter'>;

/** @param fared failures, the last one included, and how long ago the work was begun */
export function isGivenUp(
  { giveUp }: Pick<RetryPolicy, 'giveUp'>,
  fared: { readonly failures: number; readonly ageMs: number },
): boolean {
  if (giveUp.after === 'failures') return fared.failures >= giveUp.most;
  return giveUp.after === 'age' && fared.ageMs >= giveUp.ms;
}

/** How long work waits after so many failures (milliseconds). */
export function retryDelayMs({ firstMs, factor, mostMs, jitter }: DelayPolicy, failures: number): number {
  const delayMs = Math.min(mostMs, firstMs * factor ** (Math.max(1, failures) - 1));
  if (jitter === 'none') return delayMs;
  const half = Math.round(delayMs / 2);
  return half + randomInt(half + 1);
}

/** @throws RangeError for a policy that would try again at once, ever sooner, or give up before it began */
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

/** The bounds of the pauses between two questions about work under way. */
export interface PollPolicy {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** The pause before the next question: a tenth of the time that it has taken so far, within the bounds. */
export const pollPauseMs = ({ leastMs, mostMs }: PollPolicy, waitedMs: number): number =>
  Math.round(Math.min(mostMs, Math.max(leastMs, waitedMs / 10)));
