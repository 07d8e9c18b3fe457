import { HttpResponse, json } from '../kernel/http.ts';
import { isProblem, type Problem, problemBody } from '../kernel/problems.ts';
import type { Secrets } from '../kernel/secrets.ts';
import { encodeHeader, PAYMENT_RESPONSE } from './headers.ts';
import type { Settlement } from './journal.ts';
import type { Answer } from './terms.ts';

/** What x402 calls a settlement response, of a payment that was settled. */
export interface SettleResponse {
  readonly success: true;
  readonly payer: string;
  readonly transaction: string;
  readonly network: string;
  readonly amount: string;
}

const place = (key: string) => `settlements.answer_sealed.${key}`;

/** The answer as the journal keeps it: sealed, because it can hold a support code. */
export const sealAnswer = (secrets: Secrets, key: string, answer: Answer) => ({
  answer_status: answer.status,
  answer_sealed: secrets.encrypt(place(key), JSON.stringify(answer.body ?? null)),
});

/** The kept answer of a paid call, the same bytes every time. */
export function paidResponse(secrets: Secrets, row: Settlement): HttpResponse {
  const body =
    row.answer_sealed === null ? 'null' : secrets.decrypt(place(row.payment_key), row.answer_sealed);
  return new HttpResponse(row.answer_status ?? 200, body, {
    'content-type': 'application/json',
    ...paidHeaders(row),
  });
}

/** A call that was paid and then could not be done: the payer is told both. */
export function paidProblem(row: Settlement, error: Problem): HttpResponse {
  const retryAfter = error.retryAfter === undefined ? {} : { 'retry-after': String(error.retryAfter) };
  return json(problemBody(error), error.status, { ...paidHeaders(row), ...retryAfter });
}

const paidHeaders = (row: Settlement): Record<string, string> => ({
  'cache-control': 'no-store',
  ...(row.settle_response === null
    ? {}
    : { [PAYMENT_RESPONSE]: encodeHeader(JSON.parse(row.settle_response)) }),
});

/** The refusal of an unpaid call, kept so that copies of the same request get the same one. */
export const refusalAnswer = (error: unknown): Answer | null =>
  isProblem(error) ? { status: error.status, body: problemBody(error) } : null;
