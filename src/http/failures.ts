import { type HttpResponse, json } from '../kernel/http.ts';
import type { Log } from '../kernel/log.ts';
import { isProblem, type Problem, problem, problemBody } from '../kernel/problems.ts';
import { storeTrouble } from '../store/trouble.ts';
import { storageFields } from '../store/watch.ts';

/** As /ready says it. */
export const AWAY_S = 5;

/**
 * What a failure is for who called. What nobody expected is logged by its kind, and says nothing of the inside.
 * @param path of the route: the address itself has ids in it
 */
export function problemOf(log: Log, error: unknown, requestId: string, path: string | null): Problem {
  const storage = storeTrouble(error);
  const where = { request_id: requestId, path };
  if (!storage && isProblem(error, 'cluster_failed')) {
    log('warn', 'cluster_away', { ...where, why: error.message });
    // Which node, and how it failed, is the operator's business.
    return problem('cluster_failed', { retryAfter: AWAY_S });
  }
  if (!storage && isProblem(error) && error.kind.status !== undefined) return error;
  const known = isProblem(error, 'transaction_failed');
  log('error', 'request_failed', {
    ...where,
    ...storageFields(error),
    ...(known ? { error_code: error.code } : {}),
  });
  return storage ?? problem('internal_error');
}

/** The headers that a refusal has in every form of its body. */
export const refusalHeaders = ({ detail, retryAfter }: Problem): Record<string, string> => ({
  ...(Array.isArray(detail?.allow) ? { Allow: detail.allow.join(', ') } : {}),
  ...(retryAfter === undefined ? {} : { 'Retry-After': String(Math.ceil(retryAfter)) }),
});

/** A problem in Farelock's own form: `{ code, message, detail? }`. */
export const failure = (error: Problem): HttpResponse =>
  json(problemBody(error), error.status, {
    ...refusalHeaders(error),
    ...(error.status === 401 && error.code.startsWith('operator') ? { 'WWW-Authenticate': 'Bearer' } : {}),
  });
