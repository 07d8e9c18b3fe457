import { type Fetch, type HttpHeaders, headerOf, lowerCase } from '../../kernel/http.ts';
import {
  isProblem,
  isProblemCode,
  type Problem,
  type ProblemCode,
  type ProblemOptions,
  problem,
} from '../../kernel/problems.ts';

export interface Call {
  readonly fetch: Fetch;
  readonly baseUrl: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly body: unknown;
}

export interface Patience {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a call and reads its JSON. @throws Problem `network_unreachable`, `timed_out`, `interrupted` (the caller's
 * signal), `unexpected_answer` (not JSON, such as a proxy's page)
 */
export async function ask(call: Call, patience: Patience): Promise<HttpAnswer> {
  const host = new URL(call.baseUrl).host;
  const timeout = AbortSignal.timeout(patience.timeoutMs);
  const signal = patience.signal ? AbortSignal.any([timeout, patience.signal]) : timeout;
  const given = (): Problem =>
    patience.signal?.aborted
      ? problem('interrupted')
      : problem('timed_out', { message: `${host} did not answer in ${patience.timeoutMs / 1000} s.` });
  if (signal.aborted) throw given();
  try {
    return await orAborted(exchange(call, signal), signal);
  } catch (error) {
    if (signal.aborted) throw given();
    if (isProblem(error)) throw error;
    if (error instanceof NotJson) {
      throw problem('unexpected_answer', {
        message: `${host} answered ${error.status} without JSON.`,
        detail: { status: error.status },
      });
    }
    throw problem('network_unreachable', { message: `Can't reach ${host}.`, cause: error });
  }
}

async function exchange(call: Call, signal: AbortSignal): Promise<HttpAnswer> {
  const { status, headers, body } = await call.fetch({
    method: call.method,
    url: `${call.baseUrl.replace(/\/+$/, '')}${call.path}`,
    headers: lowerCase({
      accept: 'application/json',
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...call.headers,
    }),
    body: call.body === undefined ? '' : JSON.stringify(call.body),
    signal,
  });
  if (status >= 300 && status < 400) throw redirected(call, status, headers.location ?? '');
  try {
    return { status, headers, body: JSON.parse(body ?? '') };
  } catch {
    throw new NotJson(status);
  }
}

function redirected({ baseUrl }: Call, status: number, location: string): Problem {
  const to = URL.canParse(location, baseUrl) ? ` to ${new URL(location, baseUrl).origin}` : '';
  return problem('unexpected_answer', {
    message: `${new URL(baseUrl).host} redirects calls${to}, which is not followed.`,
    fix: 'Name the service by its own address.',
    detail: { status },
  });
}

class NotJson extends Error {
  constructor(readonly status: number) {
    super('not JSON');
  }
}

/** Rejects once aborted: an embedded service ignores the signal, but the caller must not wait. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error('aborted'));
    // The call itself may have aborted before the listener was added.
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

const BY_STATUS: Readonly<Record<number, ProblemCode>> = {
  400: 'invalid_request',
  402: 'payment_required',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  429: 'too_many_attempts',
  500: 'internal_error',
  501: 'provider_not_configured',
  502: 'provider_failed',
  503: 'not_ready',
};

/**
 * Makes a Problem of an error answer, by our code (`{ code, message, detail? }`, also inside `error`) or else its
 * status, keeping `Retry-After` and `detail`.
 */
export function problemOf(answer: HttpAnswer): Problem {
  const body = isRecord(answer.body) ? answer.body : {};
  const { code, message, ...error } = isRecord(body.error) ? body.error : body;
  const text = typeof message === 'string' ? message : null;
  const detail = isRecord(error.detail) ? error.detail : undefined;
  const common: ProblemOptions = { ...retryAfterOf(answer), ...(detail ? { detail } : {}) };
  if (isProblemCode(code)) return problem(code, { ...common, ...messageOf(code, text) });
  const name = typeof code === 'string' ? `${code}: ` : '';
  return problem(BY_STATUS[answer.status] ?? 'unexpected_answer', {
    ...common,
    message: `The service answered ${answer.status}${text || name ? `: ${name}${text ?? ''}` : '.'}`,
    detail: { ...detail, status: answer.status, ...(typeof code === 'string' ? { service_code: code } : {}) },
  });
}

export function retryAfterOf(answer: HttpAnswer): { readonly retryAfter?: number } {
  const retryAfter = Number(headerOf(answer, 'retry-after') ?? Number.NaN);
  return Number.isFinite(retryAfter) ? { retryAfter } : {};
}

/** Strips the fix from the service's message: a Problem carries it apart. */
export function messageOf(code: ProblemCode, text: string | null): { readonly message?: string } {
  const fix = ` ${problem(code).fix}`;
  const message = text?.endsWith(fix) ? text.slice(0, -fix.length) : text;
  return message ? { message } : {};
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Encodes a path segment; half a surrogate pair becomes U+FFFD. */
export const segmentOf = (text: string): string => encodeURIComponent(text.toWellFormed());
