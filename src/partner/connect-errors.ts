import { refusalHeaders } from '../http/index.ts';
import { type HttpResponse, json } from '../kernel/http.ts';
import { PROBLEMS, type Problem, type ProblemCode, type ProblemKind, wireDetail } from '../kernel/problems.ts';
import type { ConnectCode, ConnectErrorBody } from '../wire/partner/kinds.ts';

const BY_STATUS: Readonly<Record<number, ConnectCode>> = {
  400: 'invalid_argument',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  405: 'unimplemented',
  409: 'aborted',
  413: 'resource_exhausted',
  415: 'unimplemented',
  429: 'resource_exhausted',
  500: 'internal',
  503: 'unavailable',
};

/** Problems of valid requests that the current state does not allow; Connect answers 400. */
const FAILED_PRECONDITIONS: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'compliance_required',
  'order_outside_offer',
  'partner_refused',
]);

export function connectCodeOf(code: ProblemCode): ConnectCode {
  if (FAILED_PRECONDITIONS.has(code)) return 'failed_precondition';
  return BY_STATUS[(PROBLEMS[code] as ProblemKind).status ?? 500] ?? 'internal';
}

/** Puts the facts of a refusal into words: a stock client shows the message, and drops fields unknown to Connect. */
function factsOf({ issues, allowed, outstanding }: Readonly<Record<string, unknown>>): string {
  const list = (given: unknown, words: (one: Readonly<Record<string, unknown>>) => string) =>
    Array.isArray(given) ? given.slice(0, MOST_FACTS).map((one) => words(Object(one))) : [];
  return [
    ...list(issues, ({ path, message }) => `${path || 'The request'} ${message}`),
    ...(Array.isArray(allowed) && allowed.length > 0 ? [`Allowed: ${allowed.join(', ')}.`] : []),
    ...list(outstanding, (one) => `${one.data ?? one.attestation} is ${one.state}.`),
  ].join(' ');
}

const MOST_FACTS = 10;

function connectBody(error: Problem): ConnectErrorBody {
  const detail = wireDetail(error.detail ?? {});
  return {
    code: connectCodeOf(error.code),
    message: [error.message, factsOf(detail), error.fix].filter((words) => words !== '').join(' '),
    detail: { ...detail, reason: error.code },
  };
}

/** The answer to a problem. Its reason is also a header, which a stock client shows as metadata of the error. */
export const connectFailure = (error: Problem): HttpResponse =>
  json(connectBody(error), error.status, { ...refusalHeaders(error), 'X-Error-Reason': error.code });
