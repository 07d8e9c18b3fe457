import { randomInt } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type HttpRequest, type HttpResponse, json } from '../../../kernel/http.ts';
import { randomIds } from '../../../kernel/ids.ts';
import { problem, problemBody } from '../../../kernel/problems.ts';

export type Why = 'requests' | 'event_loop';

/** The highest accepted median delay of the event loop. */
const MOST_DELAY_MS = 100;
const WINDOW_MS = 1_000;
/** The monitor's own interval, which its delays include. */
const RESOLUTION_MS = 100;
/** A range, so that callers who were turned away do not all come back at once. */
const RETRY_S = { least: 2, most: 10 };

/** Never turned away: probes, operators, an airline's messages, and the cluster, without which nothing can be paid. */
const NEVER = /^\/(health|ready|rpc\/?)$|^\/(operator|webhooks)\//;
/** Headers of a caller who has paid, or who is known: a partner, a customer, an operator. */
const WELCOME = ['payment-signature', 'x-api-key', 'authorization'];

interface LoadPorts {
  /** Unpaid requests are turned away while more than this many are being answered. */
  readonly most: number;
  readonly inFlight: () => number;
  readonly shed: (why: Why) => void;
  /** @returns the delay of the event loop in the last window (ms); measured if absent */
  readonly delayMs?: () => number;
}

/** Turns unpaid requests of strangers away while there is too much to do, so that paid ones are answered. */
export function watchLoad({ most, inFlight, shed, delayMs = measuredDelay() }: LoadPorts) {
  const ids = randomIds();
  return {
    /** @returns null if the request is to be answered */
    refusal({ url, headers }: HttpRequest): HttpResponse | null {
      const why: Why | null = inFlight() > most ? 'requests' : delayMs() > MOST_DELAY_MS ? 'event_loop' : null;
      if (why === null || WELCOME.some((name) => name in headers) || NEVER.test(new URL(url).pathname)) return null;
      shed(why);
      const retryAfter = randomInt(RETRY_S.least, RETRY_S.most + 1);
      const busy = problem('not_ready', { message: 'The service is busy.', retryAfter });
      return json(problemBody(busy), 503, {
        'cache-control': 'no-store',
        'retry-after': String(retryAfter),
        'x-request-id': ids.next('req'),
      });
    },
  };
}

/** The median delay of the last window, which a single long turn does not move. */
function measuredDelay(): () => number {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let lastMs = 0;
  setInterval(() => {
    lastMs = delays.count === 0 ? 0 : delays.percentile(50) / 1e6 - RESOLUTION_MS;
    delays.reset();
  }, WINDOW_MS).unref();
  return () => lastMs;
}
