import { promisify } from 'node:util';
import { type BrotliOptions, brotliCompress, brotliDecompressSync, constants } from 'node:zlib';
import type { Clock } from '../kernel/clock.ts';
import { HttpResponse, json } from '../kernel/http.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Meter } from '../kernel/meter.ts';
import { isProblem, type Problem, problem, problemBody } from '../kernel/problems.ts';
import type { Secrets } from '../kernel/secrets.ts';
import type { Cluster, Signer } from '../solana/index.ts';
import { REGAINED, regained } from '../store/base/index.ts';
import { LeaseLost, storeTrouble } from '../store/index.ts';
import type { Journal, Settlement } from './journal.ts';
import type { OperatorKeys } from './operator-keys.ts';
import type { OperatorWallets } from './operator-wallets.ts';
import type { Demand, Protocol, SentPayment } from './protocol.ts';
import { QUOTE_LIFE_MS } from './quotes.ts';
import type { Store } from './tables.ts';
import type { Answer, PaidCall, Payment } from './terms.ts';

export type Verdict =
  | { readonly valid: true; readonly payer: string; readonly lastValidBlockHeight: number }
  | { readonly valid: false; readonly reason: string };

/** `failed` and `settled` are certain. */
export type Outcome =
  | { readonly kind: 'settled'; readonly transaction: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'unknown' };

export interface Facilitator {
  /** @throws Problem `cluster_failed`, `payment_pending` while the payment can be neither accepted nor refused */
  verify(sent: SentPayment, demand: Demand): Promise<Verdict>;
  /** Adds our signature, for the journal to keep before sending. `signature` is null if a facilitator service signs. */
  seal(sent: SentPayment, demand: Demand): { transaction: string; signature: string | null };
  send(row: Settlement): Promise<Outcome>;
  /** Finds the outcome of a payment that may have been sent; sends the same bytes again while they can still land. */
  resolve(row: Settlement): Promise<Outcome>;
}

export interface PaywallPorts {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Pays the network fee of every transfer, and nothing else. */
  readonly feePayer: Signer;
  /** Fee payers of challenges from before a rotation, or from another process. */
  readonly feePayers?: OperatorKeys | undefined;
  /** Pays the fees of authorizations, and lends their rents. Absent: none are accepted. */
  readonly lender?: Signer | undefined;
  /** Lenders of challenges from before a rotation, or from another process. */
  readonly lenders?: OperatorKeys | undefined;
  readonly log: Log;
  readonly meter?: Meter | undefined;
  /** A facilitator service to verify and settle with, instead of this process (facilitator-remote.ts). */
  readonly facilitatorUrl?: string | undefined;
  /** The operator's wallets, to report a fee payer that can pay no fee before a client signs. */
  readonly wallets?: OperatorWallets | undefined;
  /** How long a request waits for a payment that another request is settling (ms, default 8000). */
  readonly patienceMs?: number | undefined;
}

export interface Till extends PaywallPorts {
  readonly journal: Journal;
  readonly facilitator: () => Promise<Facilitator>;
  readonly protocols: readonly Protocol[];
  readonly patienceMs: number;
  readonly meter: Meter;
}

interface Attempt {
  readonly call: PaidCall;
  readonly sent: SentPayment;
  readonly demand: Demand;
  readonly lastValidBlockHeight: number;
}

export type Ended =
  | { readonly kind: 'answer'; readonly row: Settlement; readonly response: HttpResponse }
  /** Certainly not charged. The client gets `error` or, without one, a new challenge. */
  | { readonly kind: 'failed'; readonly payment: Payment; readonly reason: string; readonly error?: unknown }
  /** Certainly not charged, and answered with `response`. */
  | { readonly kind: 'refused'; readonly payment: Payment; readonly row: Settlement; readonly response: HttpResponse }
  /** Not charged yet: the client may send the same payment again. */
  | { readonly kind: 'later'; readonly row: Settlement; readonly response: HttpResponse }
  | { readonly kind: 'overtaken' };

const RETRY_MS = 400;

const paymentOf = (row: Settlement): Payment => ({
  key: row.payment_key,
  payer: row.payer,
  amount: BigInt(row.amount),
});

function settledChange({ cluster: { network } }: Till, row: Settlement, transaction: string) {
  const { payer, amount } = row;
  return {
    state: hasAnswer(row) ? ('answered' as const) : ('settled' as const),
    // x402's settlement response.
    settle_response: JSON.stringify({ success: true, payer, transaction, network, amount: String(amount) }),
  };
}

const failedChange = (reason: string) =>
  ({ state: 'failed', error_code: reason, answer_sealed: null, answer_fence: null, answer_status: null }) as const;

export const start = (till: Till, row: Settlement, attempt: Attempt): Promise<Ended> =>
  unlessOvertaken(async () => {
    const signed = await sign(till, row, attempt);
    if ('kind' in signed) return signed;
    const begun = process.uptime();
    const sent = await (await till.facilitator()).send(signed.row);
    const outcome = await settle(till, signed.row, sent);
    return finish(till, signed, attempt.call, outcome, process.uptime() - begun);
  });

export const goOn = (till: Till, row: Settlement, call: PaidCall): Promise<Ended> =>
  unlessOvertaken(async () => {
    if (row.state !== 'settling') return deliver(till, { row, kept: null }, call);
    const asked = await (await till.facilitator()).resolve(row);
    return finish(till, { row, kept: null }, call, await settle(till, row, asked));
  });

/** Ends a payment that we have never signed. */
export const abandon = (till: Till, row: Settlement, reason: string): Promise<Ended> =>
  unlessOvertaken(() => failed(till, row, reason));

export async function endOf(till: Till, row: Settlement): Promise<Ended | null> {
  if (row.state === 'answered') return { kind: 'answer', row, response: await keptAnswer(till, row) };
  if (row.state !== 'failed') return null;
  const payment = paymentOf(row);
  if (hasAnswer(row)) return { kind: 'refused', payment, row, response: await keptAnswer(till, row) };
  return { kind: 'failed', payment, reason: row.error_code ?? 'the payment failed' };
}

const unlessOvertaken = (steps: () => Promise<Ended>): Promise<Ended> =>
  steps().catch((error: unknown) => {
    if (error instanceof LeaseLost) return { kind: 'overtaken' };
    throw error;
  });

interface Held {
  readonly row: Settlement;
  readonly kept: KeptAnswer | null;
}

/** Does the work before the charge, then signs: answer and signed bytes are on the disk before anything is sent. */
async function sign(till: Till, row: Settlement, attempt: Attempt): Promise<Held | Ended> {
  const { journal } = till;
  const { call, sent, demand, lastValidBlockHeight } = attempt;
  const payment = paymentOf(row);
  try {
    await call.prepare?.(payment);
  } catch (error) {
    // It will pass, and nothing was begun: the client may send the same payment again.
    if (isProblem(error) && error.status === 503 && error.retryAfter !== undefined)
      return { kind: 'later', row, response: paidProblem(error) };
    return refuse(till, row, payment, error);
  }
  let answer: Answer | null = null;
  try {
    if (call.settle === 'after') answer = await call.perform(payment);
  } catch (error) {
    if (isProblem(error, 'upstream_rate_limited')) return { kind: 'later', row, response: paidProblem(error) };
    return refuse(till, row, payment, error);
  }
  if (answer?.charged === 'not_yet') return { kind: 'later', row, response: json(answer.body, answer.status) };
  if (answer?.charged === 'never') {
    const { body, change } = await keepAnswer(till, row, answer);
    const ended = await journal.write(row, { state: 'failed', error_code: 'not_charged', ...change });
    return { kind: 'refused', payment, row: ended, response: paidAnswer(ended, body) };
  }
  const kept = answer && (await keepAnswer(till, row, answer));
  const facilitator = await till.facilitator();
  const signed = await journal.write(row, {
    state: 'settling',
    ...facilitator.seal(sent, demand),
    last_valid_block_height: lastValidBlockHeight,
    ...kept?.change,
  });
  return { row: signed, kept };
}

/** Ends a payment whose work failed before the charge. It is never charged; copies get the same refusal. */
async function refuse(till: Till, row: Settlement, payment: Payment, error: unknown): Promise<Ended> {
  // Neither trouble says anything of the call. Nothing is signed yet, so the same payment can go on from here.
  if (storeTrouble(error) || isProblem(error, 'cluster_failed')) throw error;
  const refusal = isProblem(error) ? { status: error.status, body: problemBody(error) } : null;
  await till.journal.write(row, {
    state: 'failed',
    error_code: isProblem(error) ? error.code : 'internal_error',
    ...(refusal && (await keepAnswer(till, row, refusal)).change),
  });
  return { kind: 'failed', payment, reason: 'the call could not be done', error };
}

/** Asks until the outcome is known or patience ends. The row stays `settling` until then: it may have landed. */
async function settle({ clock, patienceMs, facilitator }: Till, row: Settlement, outcome: Outcome): Promise<Outcome> {
  const deadline = clock.now() + patienceMs;
  let known = outcome;
  while (known.kind === 'unknown' && clock.now() < deadline) {
    await clock.sleep(RETRY_MS);
    known = await (await facilitator()).resolve(row);
  }
  return known;
}

async function finish(
  till: Till,
  { row, kept }: Held,
  call: PaidCall,
  outcome: Outcome,
  seconds?: number,
): Promise<Ended> {
  const { log, journal } = till;
  till.meter('payment', { outcome: outcome.kind }, seconds);
  const fields = { payment: row.payment_key, resource: call.resource };
  if (outcome.kind === 'unknown') {
    log('warn', 'settlement_unknown', fields);
    throw problem('payment_pending', { retryAfter: 2 });
  }
  if (outcome.kind === 'failed') {
    log('warn', 'settlement_failed', { ...fields, reason: outcome.reason });
    return failed(till, row, outcome.reason);
  }
  log('info', 'settled', { ...fields, transaction: outcome.transaction });
  // A power cut may lose this: the bytes are on the disk, and the cluster can be asked again.
  const settled = await journal.write(row, settledChange(till, row, outcome.transaction), REGAINED);
  return deliver(till, { row: settled, kept }, call);
}

/** Answers a settled payment, or says why it cannot yet; the same payment may ask again at no charge. */
async function deliver(till: Till, { row, kept }: Held, call: PaidCall): Promise<Ended> {
  if (row.state === 'answered') {
    return { kind: 'answer', row, response: kept ? paidAnswer(row, kept.body) : await keptAnswer(till, row) };
  }
  try {
    const { body, change } = await keepAnswer(till, row, await call.perform(paymentOf(row)));
    const answered = await till.journal.write(row, { state: 'answered', ...change });
    return { kind: 'answer', row: answered, response: paidAnswer(answered, body) };
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    const away = isProblem(error, 'cluster_failed') ? problem('cluster_failed', { retryAfter: 2, cause: error }) : null;
    const own = isProblem(error) ? error : problem('internal_error', { cause: error });
    const known = storeTrouble(error) ?? away ?? own;
    till.log(isProblem(error) ? 'info' : 'error', 'paid_call_not_done', {
      payment: row.payment_key,
      resource: call.resource,
      error_code: known.code,
      error_name: error instanceof Error ? error.name : typeof error,
    });
    return { kind: 'answer', row, response: paidProblem(known) };
  }
}

async function failed({ journal }: Till, row: Settlement, reason: string): Promise<Ended> {
  await journal.write(row, failedChange(reason));
  return { kind: 'failed', payment: paymentOf(row), reason };
}

interface KeptAnswer {
  readonly body: string;
  readonly change: Pick<Settlement, 'answer_status' | 'answer_fence'>;
}

const place = (key: string, fence: number) => `paid_answers.body_sealed.${key}.${fence}`;
const oldPlace = (key: string) => `settlements.answer_sealed.${key}`;

/** Shrinks an answer with offers to a fourteenth, in half a millisecond off the main thread. */
const COMPRESSION: BrotliOptions = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 17 },
};

const compressed = promisify<string, BrotliOptions, Buffer>(brotliCompress);

const hasAnswer = (row: Settlement): boolean => row.answer_fence !== null || row.answer_sealed !== null;

/** Keeps the holder's answer. It counts once its row names it, and reaches the disk no later than that. */
async function keepAnswer(
  { store, secrets, clock }: Till,
  { payment_key: key, fence }: Settlement,
  answer: Answer,
): Promise<KeptAnswer> {
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
}

const keptAnswer = async (till: Till, row: Settlement): Promise<HttpResponse> =>
  paidAnswer(row, await keptBody(till, row));

async function keptBody({ store, secrets }: Till, row: Settlement): Promise<string> {
  const { payment_key: key, answer_fence: fence, answer_sealed } = row;
  if (fence === null) return answer_sealed === null ? 'null' : secrets.decrypt(oldPlace(key), answer_sealed);
  const { body_sealed } = await store
    .selectFrom('paid_answers')
    .select('body_sealed')
    .where('payment_key', '=', key)
    .where('fence', '=', fence)
    .executeTakeFirstOrThrow();
  return brotliDecompressSync(secrets.unseal(place(key, fence), body_sealed)).toString('utf8');
}

const paidAnswer = (row: Settlement, body: string): HttpResponse =>
  new HttpResponse(row.answer_status ?? 200, body, { 'content-type': 'application/json', 'cache-control': 'no-store' });

function paidProblem(error: Problem): HttpResponse {
  const retryAfter = error.retryAfter === undefined ? {} : { 'retry-after': String(error.retryAfter) };
  return json(problemBody(error), error.status, { 'cache-control': 'no-store', ...retryAfter });
}

const AT_ONCE = 50;

/** Finds the outcome of a payment, by `resolve` if its process died while settling it. */
export async function outcomeOf(till: Till, row: Settlement): Promise<'settled' | 'failed' | 'unknown'> {
  const { clock, journal } = till;
  if (row.state === 'answered' || row.state === 'settled') return 'settled';
  if (row.state === 'failed') return 'failed';
  // We have not signed it, so it has not landed. The same request may still go on with it while its quote lives.
  const stale = Math.abs(clock.now() - row.created_at_ms) > QUOTE_LIFE_MS;
  if (row.state !== 'settling' && !stale) return 'unknown';
  const mine = await journal.overtake(row);
  if (!mine) return 'unknown';
  try {
    return await journal.hold(mine, () => recovered(till, mine));
  } catch (error) {
    if (error instanceof LeaseLost || isProblem(error, 'cluster_failed')) return 'unknown';
    throw error;
  }
}

async function recovered(till: Till, row: Settlement): Promise<'settled' | 'failed' | 'unknown'> {
  // Its holder was only slow, and settled it just before we took over.
  if (row.state === 'settled') return 'settled';
  const outcome =
    row.state === 'settling'
      ? await (await till.facilitator()).resolve(row)
      : { kind: 'failed' as const, reason: 'it was given up before it was sent' };
  till.meter('payment', { outcome: outcome.kind });
  if (outcome.kind === 'unknown') return 'unknown';
  await till.journal.write(
    row,
    outcome.kind === 'settled' ? settledChange(till, row, outcome.transaction) : failedChange(outcome.reason),
  );
  till.log('info', 'payment_recovered', { payment: row.payment_key, outcome: outcome.kind });
  return outcome.kind;
}

/** Ends payments whose process died. Failed ones are only marked: callers of `outcome`, or a repeat, undo the call. */
export async function recover(till: Till): Promise<{ readonly finished: number; readonly waiting: number }> {
  let finished = 0;
  const orphans = await till.journal.orphans(AT_ONCE);
  for (const row of orphans) if ((await outcomeOf(till, row)) !== 'unknown') finished++;
  return { finished, waiting: orphans.length - finished };
}
