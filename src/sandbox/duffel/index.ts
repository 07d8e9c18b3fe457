import { createRouter, MOST_BODY_BYTES, readBytes } from '../../http/index.ts';
import { type HttpRequest, HttpResponse, headerOf } from '../../kernel/http.ts';
import { silentLog } from '../../kernel/log.ts';
import { tableOf } from '../base/index.ts';
import { adminCalls } from './admin.ts';
import { changeCalls } from './change-calls.ts';
import { ApiError, type KindName, refused } from './errors.ts';
import { cancellationCalls, paymentCalls } from './money-calls.ts';
import { orderCalls } from './order-calls.ts';
import { referenceCalls } from './reference-calls.ts';
import { type Asked, type Body, type Calls, rateLimitHeaders, type Sandbox } from './sandbox.ts';
import { searchCalls } from './search-calls.ts';
import { webhookCalls } from './webhook-calls.ts';

export { openBooks } from './books.ts';
export { isCut } from './errors.ts';
export { createDuffelIds } from './ids.ts';
export { deliverDue, nextDelivery, register } from './webhook-calls.ts';
export { createDuffelWorld } from './world.ts';

const CALLS: Calls = {
  ...searchCalls,
  ...referenceCalls,
  ...orderCalls,
  ...paymentCalls,
  ...changeCalls,
  ...cancellationCalls,
  ...webhookCalls,
  ...adminCalls,
};

const TABLE = tableOf<Asked>(
  Object.fromEntries(
    Object.entries(CALLS).map(([place, work]) => [
      place,
      async ({ context, params }) => {
        try {
          const [id = '', second = ''] = Object.values<string>(params);
          return await work(context, id, second);
        } catch (error) {
          if (error instanceof ApiError) return error.response(context.requestId);
          throw error;
        }
      },
    ]),
  ),
);

/** The API's limit for a test token. */
const CALLS_PER_MINUTE = 4_000;

/**
 * A double of the Duffel flights API v2, after its public documentation. It sells the sandbox's world, keeps its own
 * books, and misbehaves on demand (docs/sandbox.md). It shares only calls with the service.
 */
export function createDuffelApp(sandbox: Sandbox): { fetch(request: HttpRequest): Promise<HttpResponse> } {
  let minute = 0;
  let calls = 0;
  return {
    async fetch(request) {
      const url = new URL(request.url);
      const isOwn = url.pathname.startsWith('/sandbox/');
      const requestId = sandbox.ids.hashed('req', sandbox.books.count('call')).slice(8);
      const nowMs = sandbox.clock.now();
      const limit = sandbox.books.settings.get('rate_limit') ?? CALLS_PER_MINUTE;
      if (!isOwn) {
        calls = Math.floor(nowMs / 60_000) === minute ? calls + 1 : 1;
        minute = Math.floor(nowMs / 60_000);
      }
      const budget = rateLimitHeaders(nowMs, limit, limit - calls);
      const refusal = isOwn ? null : turnedAway(request, calls > limit);
      const answer = refusal?.response(requestId) ?? (await served(sandbox, request, url, requestId));
      return new HttpResponse(answer.status, answer.body, { ...budget, ...answer.headers, 'x-request-id': requestId });
    },
  };
}

/** The reason to refuse a call unread; null if it is admitted. */
function turnedAway(request: HttpRequest, isTooMuch: boolean): ApiError | null {
  const token = /^Bearer (\S+)$/.exec(headerOf(request, 'authorization') ?? '')?.[1];
  if (token === undefined) return refused('missing_authorization_header');
  if (!token.startsWith('duffel_test_')) return refused('access_token_not_found');
  const version = headerOf(request, 'duffel-version');
  if (version === null) return refused('missing_version_header');
  if (version !== 'v2') return refused('unsupported_version');
  return isTooMuch ? refused('rate_limit_exceeded') : null;
}

/** Hides the query from the router, which refuses repeated names: the API allows them. */
function served(sandbox: Sandbox, request: HttpRequest, url: URL, requestId: string): Promise<HttpResponse> {
  let body: Promise<Body> | undefined;
  const asked: Asked = {
    ...sandbox,
    search: url.searchParams,
    requestId,
    signal: request.signal,
    data() {
      body ??= dataOf(request, url.pathname.startsWith('/sandbox/'));
      return body;
    },
  };
  const router = createRouter({
    table: TABLE,
    log: silentLog,
    ids: { next: () => requestId },
    enter: () => asked,
    failure: ({ code }) => refused(failureOf(code)).response(requestId),
  });
  // Duffel's own client sends a final slash.
  return router({ ...request, url: url.origin + url.pathname.replace(/\/+$/, '') });
}

const failureOf = (code: string): KindName =>
  code === 'not_found' || code === 'method_not_allowed' || code === 'payload_too_large'
    ? code
    : 'internal_server_error';

/** The body's `data`, or the body itself of the sandbox's own calls. @throws ApiError */
async function dataOf(request: HttpRequest, isOwn: boolean): Promise<Body> {
  const text = new TextDecoder().decode(await readBytes(request, MOST_BODY_BYTES));
  const body = objectOf(parsed(text));
  const data = isOwn ? body : objectOf(body?.data);
  if (data === null) throw refused('malformed_json');
  return data;
}

const objectOf = (value: unknown): Body | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : null;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Refused like a body without data.
    return null;
  }
}
