import { headerOf } from '../kernel/http.ts';
import { isProblemCode, type Problem, type ProblemCode, type ProblemOptions, problem } from '../kernel/problems.ts';
import type { ConnectCode } from '../wire/partner/index.ts';
import { type HttpAnswer, isRecord } from './base/index.ts';

/** For an answer without a reason of ours: what Connect's code says, which other deployments share. */
const BY_CODE: Readonly<Record<string, ProblemCode>> = {
  invalid_argument: 'invalid_request',
  out_of_range: 'invalid_request',
  failed_precondition: 'partner_refused',
  unauthenticated: 'partner_key_invalid',
  permission_denied: 'partner_key_invalid',
  not_found: 'not_found',
  already_exists: 'conflict',
  aborted: 'conflict',
  unimplemented: 'unknown_procedure',
  resource_exhausted: 'upstream_rate_limited',
  deadline_exceeded: 'timed_out',
  unavailable: 'not_ready',
  canceled: 'not_ready',
  internal: 'internal_error',
  unknown: 'internal_error',
  data_loss: 'internal_error',
} satisfies Record<ConnectCode, ProblemCode> & Record<string, ProblemCode>;

/** Words that fit a partner service, where the catalogue's are another service's. */
const WORDS: Partial<Record<ProblemCode, { message?: string; fix: string }>> = {
  order_not_found: { message: 'There is no such order.', fix: 'Look it up: farelock partner orders list.' },
  not_found: { message: 'Nothing was found.', fix: 'Check the id, and that it belongs to your partner account.' },
  upstream_rate_limited: { message: 'Too many requests.', fix: 'Try again in a moment.' },
};

const BY_STATUS: Readonly<Record<number, ConnectCode>> = {
  400: 'invalid_argument',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  409: 'aborted',
  422: 'failed_precondition',
  429: 'resource_exhausted',
  500: 'internal',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

/**
 * Translates an error of Connect's into a Problem (CONTRACT, section 10): `detail.reason` where it is a code of
 * ours, else one by Connect's code, else by the status. `detail` and `Retry-After` are kept.
 */
export function connectProblemOf(answer: HttpAnswer): Problem {
  const body = isRecord(answer.body) ? answer.body : {};
  const detail = isRecord(body.detail) ? body.detail : {};
  const { reason, ...facts } = detail;
  const retryAfter = Number(headerOf(answer, 'retry-after') ?? Number.NaN);
  const text = typeof body.message === 'string' && body.message !== '' ? body.message : null;
  const common: ProblemOptions = {
    ...(Number.isFinite(retryAfter) ? { retryAfter } : {}),
    ...(Object.keys(facts).length > 0 ? { detail: facts } : {}),
  };
  if (isProblemCode(reason)) {
    const known = problem(reason);
    // The service's message ends with the fix, which a Problem carries apart.
    const message = text?.endsWith(` ${known.fix}`) ? text.slice(0, -known.fix.length - 1) : text;
    return problem(reason, {
      ...common,
      ...(message ? { message } : {}),
      ...WORDS[reason],
      ...(reason === 'invalid_status_transition' ? allowedWords(facts) : {}),
    });
  }
  const said = typeof body.code === 'string' ? body.code : (BY_STATUS[answer.status] ?? '');
  const code = Object.hasOwn(BY_CODE, said) ? BY_CODE[said] : undefined;
  return problem(code ?? 'unexpected_answer', {
    ...common,
    ...(code === undefined ? {} : WORDS[code]),
    ...(text ? { message: text } : code ? {} : { message: `The service answered ${answer.status}.` }),
    detail: { ...common.detail, status: answer.status, ...(said ? { connect_code: said } : {}) },
  });
}

/** Where the order may go, in words: the list itself stays in `detail`. */
function allowedWords({ from, to, allowed }: Record<string, unknown>): ProblemOptions {
  if (!Array.isArray(allowed) || typeof from !== 'string') return {};
  return {
    ...(typeof to === 'string' ? { message: `The order cannot go from ${from} to ${to}.` } : {}),
    fix: allowed.length === 0 ? `${from} is final.` : `From ${from} it can go to ${allowed.join(', ')}.`,
  };
}
