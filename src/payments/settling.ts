import { promisify } from 'node:util';
import { type BrotliOptions, brotliCompress, brotliDecompressSync, constants } from 'node:zlib';
import type { Clock } from '../kernel/clock.ts';
import { HttpResponse, json } from '../kernel/http.ts';
import type { Log } from '../kernel/log.ts';
import { isProblem, type Problem, problem, problemBody } from '../kernel/problems.ts';
import type { Secrets } from '../kernel/secrets.ts';
import type { Cluster } from '../solana/index.ts';
import { REGAINED, regained } from '../store/base/index.ts';
import { LeaseLost, storeTrouble } from '../store/index.ts';
import type { Facilitator, Outcome } from './facilitator.ts';
import { encodeHeader, PAYMENT_RESPONSE } from './headers.ts';
import type { Journal, Settlement } from './journal.ts';
import type { SentPayment } from './payload.ts';
import type { Requirements } from './quotes.ts';
import type { Store } from './tables.ts';
import type { Answer, PaidCall, Payment } from './terms.ts';

/** A verified payment and the call that it pays. */
interface Attempt {
  readonly call: PaidCall;
  readonly sent: SentPayment;
  readonly requirements: Requirements;
  readonly lastValidBlockHeight: number;
}

export type Ended =
  | { readonly kind: 'answer'; readonly response: HttpResponse }
  /** Not charged, for certain. `error` is what the caller gets when it is not a new challenge. */
  | { readonly kind: 'failed'; readonly payment: Payment; readonly reason: string; readonly error?: unknown }
  /** Not charged, for certain, and answered so. */
  | { readonly kind: 'refused'; readonly payment: Payment; readonly response: HttpResponse }
  /** Not charged, and not at its end: the same payment may ask again. */
  | { readonly kind: 'later'; readonly response: HttpResponse }
  | { readonly kind: 'overtaken' };

export interface Settling {
  /** Carries a payment that is held from where it is to its end. */
  start(row: Settlement, attempt: Attempt): Promise<Ended>;
  goOn(row: Settlement, call: PaidCall): Promise<Ended>;
  /** Ends a payment that was never signed by us. */
  abandon(row: Settlement, reason: string): Promise<Ended>;
  endOf(row: Settlement): Promise<Ended | null>;
}

interface SettlingPorts {
  readonly answers: Answers;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Log;
  readonly journal: Journal;
  readonly facilitator: () => Promise<Facilitator>;
  readonly patienceMs: number;
}

const RETRY_MS = 400;

const paymentOf = (row: Settlement): Payment => ({
  key: row.payment_key,
  payer: row.payer,
  amount: BigInt(row.amount),
});

/** What a settled outcome changes in the journal. With the answer on record the payment is done. */
export function settledChange(row: Settlement, network: string, transaction: string) {
  const response: SettleResponse = {
    success: true,
    payer: row.payer,
    transaction,
    network,
    amount: String(row.amount),
  };
  return {
    state: hasAnswer(row) ? ('answered' as const) : ('settled' as const),
    settle_response: JSON.stringify(response),
  };
}

export function createSettling(ports: SettlingPorts): Settling {
  return {
    start: (row, attempt) =>
      unlessOvertaken(
        (async () => {
          const signed = await sign(ports, row, attempt);
          if ('kind' in signed) return signed;
          const sent = await (await ports.facilitator()).send(signed.row);
          return finish(ports, signed, attempt.call, await settle(ports, signed.row, sent));
        })(),
      ),
    goOn: (row, call) =>
      unlessOvertaken(
        (async () => {
          if (row.state !== 'settling') return deliver(ports, { row, kept: null }, call);
          const asked = await (await ports.facilitator()).resolve(row);
          return finish(ports, { row, kept: null }, call, await settle(ports, row, asked));
        })(),
      ),
    abandon: (row, reason) => unlessOvertaken(failed(ports, row, reason)),
    async endOf(row) {
      if (row.state === 'answered') return { kind: 'answer', response: await ports.answers.paid(row) };
      if (row.state !== 'failed') return null;
      const payment = paymentOf(row);
      if (hasAnswer(row)) return { kind: 'refused', payment, response: await ports.answers.paid(row) };
      return { kind: 'failed', payment, reason: row.error_code ?? 'the payment failed' };
    },
  };
}

/** A payment that is held, and its answer where this request has kept it. */
interface Held {
  readonly row: Settlement;
  readonly kept: KeptAnswer | null;
}

/**
 * The work that comes before the money, then our signature. The answer and the signed bytes are on the disk before
 * anything is sent.
 */
async function sign(ports: SettlingPorts, row: Settlement, attempt: Attempt): Promise<Held | Ended> {
  const { answers, journal } = ports;
  const { call, sent, requirements, lastValidBlockHeight } = attempt;
  const payment = paymentOf(row);
  try {
    await call.prepare?.(payment);
  } catch (error) {
    // It passes by itself, and nothing was begun: the same payment may ask again.
    if (isProblem(error) && error.status === 503 && error.retryAfter !== undefined) {
      return { kind: 'later', response: paidProblem(row, error) };
    }
    return refuse(ports, row, payment, error);
  }
  let answer: Answer | null = null;
  try {
    if (call.settle === 'after') answer = await call.perform(payment);
  } catch (error) {
    if (isProblem(error, 'upstream_rate_limited')) return { kind: 'later', response: paidProblem(row, error) };
    return refuse(ports, row, payment, error);
  }
  if (answer?.charged === 'not_yet') {
    return { kind: 'later', response: json(answer.body, answer.status) };
  }
  if (answer?.charged === 'never') {
    const { body, change } = await answers.keep(row, answer);
    const ended = await journal.write(row, { state: 'failed', error_code: 'not_charged', ...change });
    return { kind: 'refused', payment, response: paidAnswer(ended, body) };
  }
  const kept = answer && (await answers.keep(row, answer));
  const facilitator = await ports.facilitator();
  const signed = await journal.write(row, {
    state: 'settling',
    ...facilitator.seal(sent, requirements),
    last_valid_block_height: lastValidBlockHeight,
    ...kept?.change,
  });
  return { row: signed, kept };
}

/** The work that comes before the money failed: never charged, and copies of the request get the same refusal. */
async function refuse(
  { journal, answers }: SettlingPorts,
  row: Settlement,
  payment: Payment,
  error: unknown,
): Promise<Ended> {
  // Neither says anything of the call. Nothing is signed yet: the same payment goes on from here.
  if (storeTrouble(error) || isProblem(error, 'cluster_failed')) throw error;
  const refusal = refusalAnswer(error);
  await journal.write(row, {
    state: 'failed',
    error_code: isProblem(error) ? error.code : 'internal_error',
    ...(refusal && (await answers.keep(row, refusal)).change),
  });
  return { kind: 'failed', payment, reason: 'the call could not be done', error };
}

/** Asks until the outcome is known or patience ends. The row stays `settling` until then: it may have landed. */
async function settle(ports: SettlingPorts, row: Settlement, outcome: Outcome): Promise<Outcome> {
  const { clock } = ports;
  const facilitator = await ports.facilitator();
  const deadline = clock.now() + ports.patienceMs;
  let known = outcome;
  while (known.kind === 'unknown' && clock.now() < deadline) {
    await clock.sleep(RETRY_MS);
    known = await facilitator.resolve(row);
  }
  return known;
}

async function finish(ports: SettlingPorts, { row, kept }: Held, call: PaidCall, outcome: Outcome): Promise<Ended> {
  const { log, journal, cluster } = ports;
  const fields = { payment: row.payment_key, resource: call.resource };
  if (outcome.kind === 'unknown') {
    log('warn', 'settlement_unknown', fields);
    throw problem('payment_pending', { retryAfter: 2 });
  }
  if (outcome.kind === 'failed') {
    log('warn', 'settlement_failed', { ...fields, reason: outcome.reason });
    return failed(ports, row, outcome.reason);
  }
  log('info', 'settled', { ...fields, transaction: outcome.transaction });
  const settled = settledChange(row, cluster.network, outcome.transaction);
  // The bytes are on the disk, and the cluster tells it again.
  return deliver(ports, { row: await journal.write(row, settled, REGAINED), kept }, call);
}

/** A settled payment gets its answer, or the reason why not yet; the same payment may ask again, unpaid. */
async function deliver({ answers, journal, log }: SettlingPorts, { row, kept }: Held, call: PaidCall): Promise<Ended> {
  if (row.state === 'answered') {
    return { kind: 'answer', response: kept ? paidAnswer(row, kept.body) : await answers.paid(row) };
  }
  try {
    const { body, change } = await answers.keep(row, await call.perform(paymentOf(row)));
    const answered = await journal.write(row, { state: 'answered', ...change });
    return { kind: 'answer', response: paidAnswer(answered, body) };
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    const known =
      storeTrouble(error) ??
      (isProblem(error, 'cluster_failed')
        ? problem('cluster_failed', { retryAfter: 2, cause: error })
        : isProblem(error)
          ? error
          : problem('internal_error', { cause: error }));
    log(isProblem(error) ? 'info' : 'error', 'paid_call_not_done', {
      payment: row.payment_key,
      resource: call.resource,
      error_code: known.code,
      error_name: error instanceof Error ? error.name : typeof error,
    });
    return { kind: 'answer', response: paidProblem(row, known) };
  }
}

async function failed({ journal }: SettlingPorts, row: Settlement, reason: string): Promise<Ended> {
  await journal.write(row, {
    state: 'failed',
    error_code: reason,
    answer_sealed: null,
    answer_fence: null,
    answer_status: null,
  });
  return { kind: 'failed', payment: paymentOf(row), reason };
}

const unlessOvertaken = (steps: Promise<Ended>): Promise<Ended> =>
  steps.catch((error: unknown) => {
    if (error instanceof LeaseLost) return { kind: 'overtaken' };
    throw error;
  });

/** What x402 calls a settlement response, of a payment that was settled. */
interface SettleResponse {
  readonly success: true;
  readonly payer: string;
  readonly transaction: string;
  readonly network: string;
  readonly amount: string;
}

/** An answer that was kept, and what its journal row says of it. */
interface KeptAnswer {
  readonly body: string;
  readonly change: Pick<Settlement, 'answer_status' | 'answer_fence'>;
}

/** Answers of paid calls: kept until nobody asks for them again. */
interface Answers {
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

const hasAnswer = (row: Settlement): boolean => row.answer_fence !== null || row.answer_sealed !== null;

export function createAnswers(ports: {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
}): Answers {
  const { store, secrets, clock } = ports;

  async function bodyOf({ payment_key: key, answer_fence: fence, answer_sealed }: Settlement): Promise<string> {
    if (fence === null) return answer_sealed === null ? 'null' : secrets.decrypt(oldPlace(key), answer_sealed);
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
const paidAnswer = (row: Settlement, body: string): HttpResponse =>
  new HttpResponse(row.answer_status ?? 200, body, { 'content-type': 'application/json', ...paidHeaders(row) });

/** A call that was paid and then could not be done: the payer is told both. */
function paidProblem(row: Settlement, error: Problem): HttpResponse {
  const retryAfter = error.retryAfter === undefined ? {} : { 'retry-after': String(error.retryAfter) };
  return json(problemBody(error), error.status, { ...paidHeaders(row), ...retryAfter });
}

const paidHeaders = (row: Settlement): Record<string, string> => ({
  'cache-control': 'no-store',
  ...(row.settle_response === null ? {} : { [PAYMENT_RESPONSE]: encodeHeader(JSON.parse(row.settle_response)) }),
});

/** The refusal of an unpaid call, kept so that copies of the same request get the same one. */
const refusalAnswer = (error: unknown): Answer | null =>
  isProblem(error) ? { status: error.status, body: problemBody(error) } : null;
