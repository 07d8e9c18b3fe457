import type { Clock } from '../../kernel/clock.ts';
import type { HttpResponse } from '../../kernel/http.ts';
import type { Log } from '../../kernel/log.ts';
import { networkFailure, overNetwork } from '../../kernel/network.ts';
import { isProblem, type Problem, problem } from '../../kernel/problems.ts';
import type { Attempts } from './creations.ts';
import type { Zones } from './itinerary.ts';
import { type Fields, object, objects, parsed, text } from './read.ts';

export interface DuffelPorts {
  readonly transport: Transport;
  readonly attempts: Attempts;
  readonly zones: Zones;
  readonly clock: Clock;
  readonly log: Log;
}

/** Duffel may take 120 s; hanging up earlier would lose answers. */
const TIMEOUT_MS = 130_000;

/** Short enough to fit, with an order's own two calls, in the five minutes of a booking's step. */
const QUICK_MS = 30_000;
const MOST_ANSWER_BYTES = 32 * 1024 * 1024;

interface Call {
  /** The name in the log, as the path has ids in it. */
  readonly operation: string;
  readonly method?: 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly lane?: Lane;
  /** True if Duffel answers from its own records, without asking an airline. */
  readonly isQuick?: boolean;
  readonly mostMs?: number;
  /** True if it may be refused for a while after failures; never for a look for a possible order. */
  readonly isRefusable?: boolean;
}

export interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  readonly data: unknown;
  readonly after: string | null;
  /** A refusal in Duffel's own form, which alone has codes, types and pointers. */
  readonly isRefusal: boolean;
  /** In lower case, as are types. */
  readonly codes: readonly string[];
  readonly types: readonly string[];
  /** JSON pointers to the request's errors: `/data/slices/0/origin`. */
  readonly pointers: readonly string[];
  readonly requestId: string | null;
}

/** `lost`: sent without a usable answer. */
export interface NoAnswer {
  readonly kind: 'unsent' | 'lost';
  readonly reason: string;
  /** Seconds, where a limit held the call back. */
  readonly retryAfter?: number;
}

export type Transport = ReturnType<typeof createTransport>;

interface TransportOptions extends Pick<DuffelPorts, 'clock' | 'log'> {
  readonly url: string;
  readonly token: string;
  readonly timeoutMs?: number | undefined;
}

export function createTransport({ url, token, clock, log, timeoutMs = TIMEOUT_MS }: TransportOptions) {
  const limits = createLimits(clock);
  const network = overNetwork('manual', MOST_ANSWER_BYTES);
  const base = url.replace(/\/+$/, '');
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'duffel-version': 'v2',
  };

  function refusal({ lane = 'other', isRefusable = false }: Call): NoAnswer | null {
    const waitMs = limits.waitMs(lane);
    if (waitMs > 0) return { kind: 'unsent', reason: 'rate_limit', retryAfter: Math.ceil(waitMs / 1000) };
    return isRefusable && limits.isResting() ? { kind: 'unsent', reason: 'breaker_open' } : null;
  }

  async function send(call: Call): Promise<Answer | NoAnswer> {
    const kept = refusal(call);
    if (kept) return kept;
    const { operation, method = 'GET', path, body, lane = 'other', isQuick = false, mostMs = timeoutMs } = call;
    try {
      const response = await network({
        method,
        url: `${base}${path}`,
        headers,
        body: body === undefined ? '' : JSON.stringify({ data: body }),
        signal: AbortSignal.timeout(Math.min(mostMs, timeoutMs, isQuick ? QUICK_MS : timeoutMs)),
      });
      limits.answered(lane, response);
      const answer = readAnswer(response);
      // One failing airline does not mean that Duffel is down.
      if (answer.status >= 500 && !answer.types.includes('airline_error')) limits.failed();
      if (answer.status >= 400) log('warn', 'duffel_refused', { operation, ...summaryOf(answer) });
      return answer;
    } catch (error) {
      limits.failed();
      const failure = isProblem(error)
        ? ({ kind: 'lost', reason: 'answer_too_large' } as const)
        : networkFailure(error);
      log('warn', 'duffel_not_answered', { operation, reason: failure.reason });
      return failure;
    }
  }

  return {
    /** Sends once; never throws. */
    send,
    /** @throws Problem `upstream_rate_limited`, `provider_failed` without a usable answer */
    async ask(call: Call): Promise<Answer> {
      const answer = await send(call);
      if (answer.kind !== 'answer') throw noAnswer(answer);
      if (answer.status === 429) {
        const waitMs = limits.waitMs(call.lane ?? 'other');
        throw problem('upstream_rate_limited', { retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) });
      }
      if (answer.status >= 500 || answer.status === 401 || answer.status === 403) throw failed(answer);
      return answer;
    },
  };
}

function readAnswer({ status, body, headers }: HttpResponse): Answer {
  const raw = parsed(body ?? '');
  const meta = object(raw?.meta);
  const errors = refusals(raw, status);
  return {
    kind: 'answer',
    status,
    data: raw?.data ?? null,
    after: typeof meta?.after === 'string' && meta.after !== '' ? meta.after : null,
    isRefusal: errors.length > 0,
    codes: errors.flatMap(({ code }) => word(code) ?? []),
    types: errors.flatMap(({ type }) => word(type) ?? []),
    pointers: errors.flatMap(({ source }) => text(object(source)?.pointer) ?? []),
    requestId: requestIdOf(headers['x-request-id']) ?? requestIdOf(meta?.request_id),
  };
}

const TYPES = ['airline', 'api', 'authentication', 'invalid_request', 'invalid_state', 'rate_limit', 'validation'].map(
  (kind) => `${kind}_error`,
);

/**
 * Reads errors in Duffel's own form: each with a type and a code, and `meta` with the request's id and the same status.
 * Any other refusal (of a gateway, a proxy) says nothing about what Duffel did.
 */
function refusals(raw: Fields | null, status: number): readonly Fields[] {
  const errors = objects(raw?.errors);
  const meta = object(raw?.meta);
  const isWhole = errors.every(({ type, code }) => TYPES.includes(word(type) ?? '') && word(code) !== null);
  return isWhole && meta?.status === status && requestIdOf(meta.request_id) !== null ? errors : [];
}

/** Accepts single words only; a code may be the number 400. */
function word(value: unknown): string | null {
  const given = typeof value === 'number' ? String(value) : value;
  return typeof given === 'string' && /^\w{1,64}$/.test(given) ? given.toLowerCase() : null;
}

const requestIdOf = (value: unknown): string | null =>
  typeof value === 'string' && /^[\w.:=-]{1,120}$/.test(value) ? value : null;

export const summaryOf = ({ status, codes, types, requestId }: Answer) => ({
  status,
  code: codes[0] ?? types[0] ?? null,
  request_id: requestId,
});

/** A problem with what Duffel's support needs, without Duffel's sentences, which may repeat a name. */
export const failed = (answer: Answer, message?: string): Problem => {
  const { status, code, request_id } = summaryOf(answer);
  return problem('provider_failed', {
    ...(message !== undefined && { message }),
    detail: { airline_status: status, airline_code: code, airline_request_id: request_id },
  });
};

export const noAnswer = ({ reason, retryAfter }: NoAnswer): Problem =>
  retryAfter === undefined
    ? problem('provider_failed', { detail: { airline_code: reason } })
    : problem('upstream_rate_limited', { retryAfter });

export const isOk = ({ status }: Answer): boolean => status >= 200 && status < 300;

/** @throws Problem `provider_failed` for an answer without an object in `data` */
export function dataOf(answer: Answer): Fields {
  const data = object(answer.data);
  if (!isOk(answer) || !data) throw failed(answer);
  return data;
}

/** Duffel limits searches separately; reaching that limit must not hold back looks for orders. */
type Lane = 'search' | 'other';

/** Consecutive failures that open the breaker; its time then doubles with each failure. */
const MOST_FAILURES = 5;
const OPEN_MS = 15_000;
const MOST_OPEN_MS = 120_000;

/** A reset later than this comes from a wrong clock. */
const MOST_WAIT_MS = 5 * 60_000;
const USUAL_WAIT_MS = 10_000;

/** Tracks Duffel's rate limits and failures, for this process alone. */
function createLimits(clock: Clock) {
  const untilMs: Record<Lane, number> = { search: 0, other: 0 };
  let failures = 0;
  let openUntilMs = 0;
  return {
    waitMs(lane: Lane): number {
      const rest = untilMs[lane] - clock.now();
      // The clock was set back.
      return rest > MOST_WAIT_MS ? 0 : Math.max(0, rest);
    },
    /** True while reads are refused after consecutive failures; lets one caller at a time try. */
    isResting(): boolean {
      if (failures < MOST_FAILURES) return false;
      const nowMs = clock.now();
      const rest = openUntilMs - nowMs;
      if (rest > 0 && rest <= MOST_OPEN_MS) return true;
      openUntilMs = nowMs + OPEN_MS;
      return false;
    },
    answered(lane: Lane, { status, headers }: HttpResponse): void {
      if (status < 500) failures = 0;
      const isRefused = status === 429;
      if (!isRefused && headers['ratelimit-remaining']?.trim() !== '0') return;
      untilMs[lane] = clock.now() + (waitOf(headers, clock.now()) ?? (isRefused ? USUAL_WAIT_MS : 0));
    },
    failed(): void {
      failures += 1;
      if (failures < MOST_FAILURES) return;
      const doubled = OPEN_MS * 2 ** Math.min(10, failures - MOST_FAILURES);
      openUntilMs = clock.now() + Math.min(MOST_OPEN_MS, doubled);
    },
  };
}

/** The wait until `ratelimit-reset`, an HTTP date, measured by the answer's own date if it has one. */
function waitOf(headers: HttpResponse['headers'], nowMs: number): number | null {
  const resetMs = Date.parse(headers['ratelimit-reset'] ?? '');
  if (Number.isNaN(resetMs)) return null;
  const dateMs = Date.parse(headers.date ?? '');
  const waitMs = resetMs - (Number.isNaN(dateMs) ? nowMs : dateMs);
  return Math.min(MOST_WAIT_MS, Math.max(1000, waitMs));
}

/** The problem of an offer that is gone; null for other answers. */
export function goneProblem({ status, codes }: Answer) {
  if (codes.includes('offer_expired')) return problem('offer_expired');
  if (codes.includes('offer_no_longer_available')) return problem('offer_unavailable');
  return status === 404 && codes.includes('not_found') ? problem('offer_not_found') : null;
}
