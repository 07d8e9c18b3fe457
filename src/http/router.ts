import { channel } from 'node:diagnostics_channel';
import type * as z from 'zod';
import { type HttpRequest, HttpResponse, json } from '../kernel/http.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import {
  isProblem,
  PROBLEMS,
  type Problem,
  type ProblemCode,
  type ProblemKind,
  problem,
  problemBody,
} from '../kernel/problems.ts';
import { storageFields, storeTrouble } from '../store/index.ts';
import { checked, readJson, readQuery } from './body.ts';
import { type Call, type Connection, codesOf, methodsOf, type Route, type RouteTable, type Visit } from './routes.ts';

/** The diagnostics channel for undeclared answers. Tests listen to it, and fail. */
const UNDECLARED = 'farelock:undeclared-answer';

export type Serve = (request: HttpRequest, connection?: Connection) => Promise<HttpResponse>;

interface Served<C, O> {
  readonly table: RouteTable<C, O>;
  readonly log: Log;
  readonly ids: Pick<Ids, 'next'>;
  readonly arrive?: (visit: Visit) => Promise<unknown>;
  /** Makes the context for `run`. `route` is null with `keyFirst`, which enters before the path is read. */
  readonly enter: (visit: Visit, route: Route<C, O> | null) => C | Promise<C>;
  readonly read?: (request: HttpRequest, schema: z.ZodType, route: Route<C, O>) => Promise<Body>;
  readonly failure?: (error: Problem) => HttpResponse;
}

export type Body = Pick<Call<unknown>, 'body' | 'bytes'>;

interface Matched<C, O> extends Pick<Call<unknown>, 'params'> {
  readonly route: Route<C, O>;
}

export function createRouter<C, O>(served: Served<C, O>): Serve {
  const { table, log, ids, arrive, enter } = served;
  const undeclared = channel(UNDECLARED);

  async function read(request: HttpRequest, route: Route<C, O>): Promise<Body> {
    const schema = await route.body?.load();
    if (!schema) return { body: undefined, bytes: new Uint8Array() };
    if (served.read) return served.read(request, schema, route);
    const { value, bytes } = await readJson(request, route.mostBodyBytes, table.json);
    return { body: checked(schema, value), bytes };
  }

  async function answer(visit: Visit, url: URL, matched: Matched<C, O> | Problem): Promise<HttpResponse> {
    await arrive?.(visit);
    const first = table.keyFirst ? { context: await enter(visit, null) } : null;
    if (!('route' in matched)) throw matched;
    const { route, params } = matched;
    const query = await readQuery(url, route.query);
    const { context } = first ?? { context: await enter(visit, route) };
    const given = await read(visit.request, route);
    if (visit.request.trail) visit.request.trail.intentId = intentIn(params) ?? intentIn(given.body);
    const discovery = async () => (await import('./discovery.ts')).discoveryOf(route, params);
    const result = await route.run({ ...visit, ...given, context, params, query, discovery });
    return result instanceof HttpResponse ? result : json(result, firstStatus(route));
  }

  return async function fetch(request, connection = {}) {
    const visit = { request, connection, requestId: '' };
    const url = new URL(request.url);
    const matched = matchOf(table, request.method, url.pathname);
    if (request.trail && 'route' in matched) request.trail.route = matched.route.path;
    let code: ProblemCode | null = null;
    const named = async () => {
      visit.requestId = ids.next('req');
      return answer(visit, url, matched);
    };
    const response = await named().catch((error: unknown) => {
      const refusal = problemOf(log, error, visit.requestId, 'route' in matched ? matched.route.path : null);
      code = refusal.code;
      return (served.failure ?? failure)(refusal);
    });
    if (undeclared.hasSubscribers && 'route' in matched && !isDeclared(table, matched.route, response, code))
      undeclared.publish(line(matched.route, response, code));
    return new HttpResponse(response.status, request.method === 'HEAD' ? null : response.body, {
      'cache-control': 'no-store',
      ...response.headers,
      'x-request-id': visit.requestId,
    });
  };
}

const intentIn = (named: unknown): string | undefined => {
  const id = typeof named === 'object' && named !== null && 'intent_id' in named ? named.intent_id : undefined;
  return typeof id === 'string' && /^int_\w{1,40}$/.test(id) ? id : undefined;
};

const firstStatus = ({ answers }: Pick<Route<never>, 'answers'>): number => Number(Object.keys(answers)[0]);

/** True if the route declares the answer. Replayed refusals carry no code. */
function isDeclared<C, O>(
  table: RouteTable<C, O>,
  route: Route<C, O>,
  { status }: HttpResponse,
  code: ProblemCode | null,
): boolean {
  const codes = codesOf(table, route);
  if (code !== null) return codes.includes(code);
  const statuses = codes.map((one) => (PROBLEMS[one] as ProblemKind).status);
  return status in route.answers || statuses.includes(status) || (status === 402 && !!route.price);
}

const line = ({ method, path }: Pick<Route<never>, 'method' | 'path'>, { status }: HttpResponse, code: string | null) =>
  [method, path, 'answered', status, code].filter((word) => word !== null).join(' ');

const NO_PATH = { message: 'There is nothing at this address.', fix: 'See /openapi.json for the paths.' };

function matchOf<C, O>(table: RouteTable<C, O>, method: string, pathname: string): Matched<C, O> | Problem {
  const segments = pathname.split('/');
  const matching = table.routes.flatMap((route) => {
    const params = paramsIn(route.path.split('/'), segments);
    return params ? [{ route, params }] : [];
  });
  if (matching.length === 0) return problem(table.unknown, table.unknown === 'not_found' ? NO_PATH : {});
  const found = matching.find(({ route }) => methodsOf(table, route).includes(method));
  const allow = matching.flatMap(({ route }) => methodsOf(table, route));
  return found ?? problem('method_not_allowed', { detail: { allow } });
}

function paramsIn(pattern: readonly string[], segments: readonly string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? '';
    const isParam = part.startsWith('{');
    if (isParam ? segment === '' : part !== segment) return null;
    if (isParam) params[part.slice(1, -1)] = decoded(segment);
  }
  return params;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // It is not UTF-8, so it is not an id.
    return segment;
  }
}

export const AWAY_S = 5;

/** Turns a failure into the caller's problem. Logs unexpected ones with the route's path, as the address has ids. */
function problemOf(log: Log, error: unknown, requestId: string, path: string | null): Problem {
  const storage = storeTrouble(error);
  const where = { request_id: requestId, path };
  if (!storage && isProblem(error, 'cluster_failed')) {
    log('warn', 'cluster_away', { ...where, why: error.message });
    // Only the operator may see which node failed and how.
    return problem('cluster_failed', { retryAfter: AWAY_S });
  }
  if (!storage && isProblem(error) && error.kind.status !== undefined) return error;
  const known = isProblem(error, 'transaction_failed');
  log('error', 'request_failed', { ...where, ...storageFields(error), ...(known ? { error_code: error.code } : {}) });
  return storage ?? problem('internal_error');
}

/** The headers of a refusal, whatever the form of its body. */
export const refusalHeaders = ({ detail, retryAfter }: Problem): Record<string, string> => ({
  ...(Array.isArray(detail?.allow) ? { Allow: detail.allow.join(', ') } : {}),
  ...(retryAfter === undefined ? {} : { 'Retry-After': String(Math.ceil(retryAfter)) }),
});

/** A problem in Farelock's own form: `{ code, message, detail? }`. */
const failure = (error: Problem): HttpResponse =>
  json(problemBody(error), error.status, {
    ...refusalHeaders(error),
    ...(error.status === 401 && error.code.startsWith('operator') ? { 'WWW-Authenticate': 'Bearer' } : {}),
  });
