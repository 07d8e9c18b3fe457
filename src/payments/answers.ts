import { promisify } from 'node:util';
import { type BrotliOptions, brotliCompress, brotliDecompressSync, constants } from 'node:zlib';
import type { Clock } from '../kernel/clock.ts';
import { HttpResponse, json } from '../kernel/http.ts';
import { isProblem, type Problem, problemBody } from '../kernel/problems.ts';
import type { Secrets } from '../kernel/secrets.ts';
import { regained } from '../store/regained.ts';
import { encodeHeader, PAYMENT_RESPONSE } from './headers.ts';
import type { Settlement } from './journal.ts';
import type { Store } from './tables.ts';
import type { Answer } from './terms.ts';

/** What x402 calls a settlement response, of a payment that was settled. */
export interface SettleResponse {
  readonly success: true;
  readonly payer: string;
  readonly transaction: string;
  readonly network: string;
  readonly amount: string;
}

/** An answer that was kept, and what its journal row says of it. */
export interface KeptAnswer {
  readonly body: string;
  readonly change: Pick<Settlement, 'answer_status' | 'answer_fence'>;
}

/** Answers of paid calls: kept until nobody asks for them again. */
export interface Answers {
  /** Keeps an answer of a row's holder. It is part of the row once that names it, and on the disk no later than that. */
  keep(row: Settlement, answer: Answer): Promise<KeptAnswer>;
  /** The kept answer of a paid call, the same bytes every time. */
  paid(row: Settlement): Promise<HttpResponse>;
}

const place = (key: string, fence: number) => `paid_answers.body_sealed.${key}.${fence}`;
const oldPlace = (key: string) => `settlements.answer_sealed.${key}`;

/** A fourteenth of an answer's offers is left, after half a millisecond beside the thread that everything runs on. */
const COMPRESSION: BrotliOptions = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 17 },
};
const compressed = promisify<string, BrotliOptions, Buffer>(brotliCompress);

export const hasAnswer = (row: Settlement): boolean =>
  row.answer_fence !== null || row.answer_sealed !== null;

export function createAnswers(ports: {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
}): Answers {
  const { store, secrets, clock } = ports;

  async function bodyOf({
    payment_key: key,
    answer_fence: fence,
    answer_sealed,
  }: Settlement): Promise<string> {
    if (fence === null)
      return answer_sealed === null ? 'null' : secrets.decrypt(oldPlace(key), answer_sealed);
    const { body_sealed } = await store
      .selectFrom('paid_answers')
      .select('body_sealed')
      .where('payment_key', '=', key)
      .where('fence', '=', fence)
      .executeTakeFirstOrThrow();
    return brotliDecompressSync(secrets.unseal(place(key, fence), body_sealed)).toString('utf8');
  }

  return {
    async keep({ payment_key: key, fence }, answer) {
      const body = JSON.stringify(answer.body ?? null);
      const kept = {
        body_sealed: secrets.seal(place(key, fence), await compressed(body, COMPRESSION)),
        kept_at_ms: clock.now(),
      };
      await regained(store)
        .insertInto('paid_answers')
        .values({ payment_key: key, fence, ...kept })
        .onConflict((conflict) => conflict.columns(['payment_key', 'fence']).doUpdateSet(kept))
        .execute();
      return { body, change: { answer_status: answer.status, answer_fence: fence } };
    },
    paid: async (row) => paidAnswer(row, await bodyOf(row)),
  };
}

/** The answer of a paid call, of which the body is at hand. */
export const paidAnswer = (row: Settlement, body: string): HttpResponse =>
  new HttpResponse(row.answer_status ?? 200, body, {
    'content-type': 'application/json',
    ...paidHeaders(row),
  });

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
