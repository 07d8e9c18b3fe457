import type { Clock } from '../../kernel/clock.ts';
import type { HttpResponse } from '../../kernel/http.ts';

/** Searches have a limit of their own at Duffel: one that is reached must not keep questions about orders back. */
export type Lane = 'search' | 'other';

interface BreakerOptions {
  /** Calls in a row without a usable answer that open it. */
  readonly failures: number;
  readonly openMs: number;
  readonly mostOpenMs: number;
}

const breakerOptions: BreakerOptions = { failures: 5, openMs: 15_000, mostOpenMs: 120_000 };

/** A reset further away than this was written by another clock. */
const MOST_WAIT_MS = 5 * 60_000;
const USUAL_WAIT_MS = 10_000;

/** What Duffel lets us send now. All of it is kept in this process: another one finds out by itself. */
export interface Limits {
  /** Milliseconds until the lane may be used again; 0: now. */
  waitMs(lane: Lane): number;
  /** Milliseconds for which reads are refused, after failures in a row; 0: ask. Lets one caller at a time look. */
  restMs(): number;
  /** Takes in what an answer says of its lane's limit; gives the wait that it asks for. */
  answered(lane: Lane, answer: Pick<HttpResponse, 'status' | 'headers'>): number;
  /** The connection failed, or the gateway did. */
  failed(): void;
}

export function createLimits(clock: Clock, options: BreakerOptions = breakerOptions): Limits {
  const untilMs: Record<Lane, number> = { search: 0, other: 0 };
  let failures = 0;
  let openUntilMs = 0;
  return {
    waitMs(lane) {
      const rest = untilMs[lane] - clock.now();
      // Longer than any wait: the clock was set back.
      return rest > MOST_WAIT_MS ? 0 : Math.max(0, rest);
    },
    restMs() {
      if (failures < options.failures) return 0;
      const nowMs = clock.now();
      const rest = openUntilMs - nowMs;
      if (rest > 0 && rest <= options.mostOpenMs) return rest;
      openUntilMs = nowMs + options.openMs;
      return 0;
    },
    answered(lane, answer) {
      if (answer.status < 500) failures = 0;
      const isRefused = answer.status === 429;
      if (!isRefused && answer.headers['ratelimit-remaining']?.trim() !== '0') return 0;
      const waitMs = waitOf(answer.headers, clock.now()) ?? (isRefused ? USUAL_WAIT_MS : 0);
      untilMs[lane] = clock.now() + waitMs;
      return waitMs;
    },
    failed() {
      failures += 1;
      if (failures < options.failures) return;
      const doubled = options.openMs * 2 ** Math.min(10, failures - options.failures);
      openUntilMs = clock.now() + Math.min(options.mostOpenMs, doubled);
    },
  };
}

/** The wait until `ratelimit-reset`, an HTTP date, by the clock that wrote it where the answer has its date. */
function waitOf(headers: HttpResponse['headers'], nowMs: number): number | null {
  const resetMs = Date.parse(headers['ratelimit-reset'] ?? '');
  if (Number.isNaN(resetMs)) return null;
  const dateMs = Date.parse(headers.date ?? '');
  const waitMs = resetMs - (Number.isNaN(dateMs) ? nowMs : dateMs);
  return Math.min(MOST_WAIT_MS, Math.max(1000, waitMs));
}
