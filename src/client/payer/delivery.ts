import type { Clock } from '../../kernel/clock.ts';
import { formatUsdc } from '../../kernel/money.ts';
import {
  isProblem,
  isProblemCode,
  PROBLEMS,
  type Problem,
  type ProblemCode,
  type ProblemKind,
  problem,
} from '../../kernel/problems.ts';
import { farelock } from '../../kernel/shell-word.ts';
import type { Cluster } from '../../solana/index.ts';
import {
  type AnswerRules,
  ask,
  type Call,
  type CallOptions,
  type HttpAnswer,
  isRecord,
  type Patience,
  type PaymentReceipt,
  problemOf,
} from '../base/index.ts';
import type { OpenPayment, PaymentJournal } from '../journal/index.ts';
import { challengeOf, headerJson } from './challenge.ts';

export interface PaidAnswer {
  readonly body: unknown;
  readonly payment: PaymentReceipt | null;
  /** Paid and answered before, not shown yet. */
  readonly isKept?: true;
}

interface Delivery {
  readonly exchange: Call & AnswerRules;
  readonly open: OpenPayment;
  /** Signed just now, not found in the journal. */
  readonly fresh: boolean;
  readonly patience: Patience;
  readonly options: CallOptions;
  /** True if its answer is too old to be useful; it is only finished. */
  readonly stale: boolean;
}

export interface DeliveryPorts {
  readonly journal: PaymentJournal;
  readonly clock: Clock;
  readonly cluster: () => Promise<Cluster>;
  /** Proves on chain that a payment will never land; absent: the chain can't be asked. */
  readonly neverLanded?: ((paymentId: string) => Promise<boolean>) | undefined;
  /** Reports trouble that does not prevent an answer. */
  readonly warn?: ((text: string) => void) | undefined;
}

const LOST_ANSWER_PAUSES_MS = [250, 1_000, 2_500];

const PENDING_PAUSE_MS = 2_000;

/** A slow payment lands or expires in about a minute, so it is retried until then. */
const LANDS_WITHIN_MS = 90_000;

/**
 * Sends a journalled payment until its call is answered, or until it is given up and a second one may be signed. Its
 * name on chain, the fee payer's signature, is unknown here; but past `lastValidBlockHeight` it has landed or never
 * will. It is given up only if it is refused after that height and the wallet's history proves that nothing landed or,
 * where the chain can't be asked, the service then asks for another payment. Earlier answers of gateways or login pages
 * end nothing, nor does a refusal of a resend: the first copy may have settled, and a later check may refuse the
 * second. A booking is never paid again on an answer alone: its escrow's vault is read first (checkEscrow).
 * @returns null if given up, or if its answer was too old to be useful
 */
export async function deliver(ports: DeliveryPorts, delivery: Delivery): Promise<PaidAnswer | null> {
  const { journal } = ports;
  const { open, exchange } = delivery;
  if (!delivery.fresh) await journal.resent(open.id);
  // Read before the service is asked: only a later answer can end the payment.
  const expired = !delivery.fresh && (await blocksLeft(ports, open)) < 0n;
  const { answer, isResent } = await sendUntilAnswered(ports, delivery);
  const settled = settlementOf(answer);
  if (settled === null && exchange.isPending?.(answer)) {
    await journal.note(open.id, 'sent', null);
    return { body: answer.body, payment: null };
  }
  if (settled === null && exchange.isFree?.(answer)) {
    await journal.close(open.id, 'refused', 'fare_check_failed');
    return delivery.stale ? null : { body: answer.body, payment: null };
  }
  if (answer.status < 300) return accept(ports, delivery, answer, settled);
  const error = paidProblemOf(answer);
  // Charged and unfinished: the payment stays open for the same command.
  if (settled !== null) {
    await journal.note(open.id, 'sent', error.code);
    throw error;
  }
  const refusal = refusalIn(answer);
  if (refusal === 'refused' && delivery.fresh && !isResent) {
    await journal.close(open.id, 'refused', error.code);
    throw error;
  }
  // Even if the refusal's source is unknown: a service repeats its refusal of this payment for days.
  if (expired && (await isOver(ports, open, refusal === 'not_accepted'))) {
    await journal.close(open.id, 'abandoned', error.code);
    return null;
  }
  if (refusal !== 'not_accepted' || expired) {
    await journal.note(open.id, 'sent', error.code);
    throw withResume(error, open);
  }
  await journal.note(open.id, 'refused', error.code);
  throw await withWait(ports, open, error);
}

/** Accepts an answer that has a settlement or the expected form; others are a stranger's. */
async function accept(
  { journal, warn }: DeliveryPorts,
  { exchange, open, stale }: Delivery,
  { body, status }: HttpAnswer,
  settled: string | null,
): Promise<PaidAnswer | null> {
  const unreadable = unreadableIn(exchange, body);
  if (unreadable !== null && settled === null) {
    await journal.note(open.id, 'sent', 'unexpected_answer');
    const message = `The service answered ${status}, not with the answer to the call.`;
    throw withResume(problem('unexpected_answer', { message, detail: { status }, cause: unreadable }), open);
  }
  const isReadable = unreadable === null || exchange.keepsAnswer === false;
  try {
    const intent = exchange.remember?.(body) ?? null;
    const isKept = (!stale || !isReadable) && exchange.keepsAnswer !== false;
    await journal.answered(open.id, { body, transaction: settled, isReadable, intent, isKept });
  } catch (error) {
    // A full disk must not hide a paid answer; the same command brings it again.
    const why = error instanceof Error ? error.message : String(error);
    if (warn === undefined) throw error;
    warn(`The journal could not be written (${why}): farelock payments resume ${open.id} brings the answer again.`);
  }
  if (unreadable !== null && !isReadable) throw answerUnreadable(open.id, unreadable);
  return stale ? null : { body, payment: receiptOf(open, settled) };
}

export function unreadableIn({ read }: Pick<AnswerRules, 'read'>, body: unknown): Error | null {
  try {
    read(body);
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

export const answerUnreadable = (paymentId: string, cause: Error): Problem =>
  problem('answer_unreadable', {
    message: `The call was paid, but its answer cannot be read. ${cause.message}`,
    next: [farelock`payments resume ${paymentId}`],
    detail: { payment_id: paymentId },
    cause,
  });

/** Asks the chain; if it can't be asked, an expired payment is over once it is not accepted. */
async function isOver({ neverLanded }: DeliveryPorts, { id }: OpenPayment, isNotAccepted: boolean): Promise<boolean> {
  if (neverLanded === undefined) return isNotAccepted;
  try {
    return await neverLanded(id);
  } catch (error) {
    if (isProblem(error)) return false;
    throw error;
  }
}

const SECONDS_PER_BLOCK = 0.4;

async function withWait(ports: DeliveryPorts, open: OpenPayment, error: Problem): Promise<Problem> {
  const blocks = Number(await blocksLeft(ports, open));
  const seconds = Math.max(1, Math.ceil((blocks + 1) * SECONDS_PER_BLOCK));
  return problem(error.code, {
    message: error.message,
    fix: `Run the command again in ${seconds} s: until then the refused payment could still be carried out.`,
    retryAfter: seconds,
  });
}

async function sendUntilAnswered(
  ports: DeliveryPorts,
  delivery: Delivery,
): Promise<{ answer: HttpAnswer; isResent: boolean }> {
  const { journal, clock } = ports;
  const { exchange, open, patience, options } = delivery;
  const headers = { ...exchange.headers, 'PAYMENT-SIGNATURE': open.payload };
  const deadline = clock.now() + Math.max(patience.timeoutMs, LANDS_WITHIN_MS);
  for (let lost = 0, sent = 0; ; sent++) {
    const answer = await ask({ ...exchange, headers }, patience).catch(async (error: unknown) => {
      if (!isProblem(error, 'network_unreachable', 'unexpected_answer', 'timed_out')) throw error;
      await journal.note(open.id, 'sent', error.code);
      const pauseMs = LOST_ANSWER_PAUSES_MS[lost];
      const isOver = patience.signal?.aborted === true || clock.now() >= deadline;
      if (pauseMs === undefined || isOver) throw withResume(error, open);
      lost++;
      await pause(ports, pauseMs, options);
      return null;
    });
    if (!answer) continue;
    if (!isPassing(answer) || clock.now() >= deadline) return { answer, isResent: sent > 0 };
    const retryAfter = problemOf(answer).retryAfter;
    await pause(ports, retryAfter === undefined ? PENDING_PAUSE_MS : retryAfter * 1000, options);
  }
}

/** True while the service waits for the cluster: the answer comes later. */
const isPassing = (answer: HttpAnswer): boolean =>
  answer.status === 503 && ['payment_pending', 'cluster_failed'].includes(problemOf(answer).code);

async function pause({ clock }: DeliveryPorts, ms: number, options: CallOptions): Promise<void> {
  options.onPhase?.('waiting');
  await clock.sleep(ms, options.signal);
  if (options.signal?.aborted) throw problem('interrupted');
}

const withResume = (error: Problem, { id }: OpenPayment): Problem =>
  problem(error.code, {
    message: `${error.message} A payment is on its way.`,
    fix: 'Run the same command again: it sends the same payment, never a second one.',
    next: [farelock`payments resume ${id}`],
    detail: { ...error.detail, payment_id: id },
    ...(error.retryAfter === undefined ? {} : { retryAfter: error.retryAfter }),
    cause: error,
  });

/** The settling transaction that an answer reports, else null. */
function settlementOf(answer: HttpAnswer): string | null {
  const response = headerJson(answer, 'PAYMENT-RESPONSE');
  if (!isRecord(response) || response.success !== true) return null;
  return typeof response.transaction === 'string' ? response.transaction : null;
}

export const receiptOf = (
  open: Pick<OpenPayment, 'amount' | 'asset' | 'network'>,
  transaction: string | null,
): PaymentReceipt => ({
  amount: formatUsdc(open.amount),
  asset: open.asset,
  transaction: transaction ?? '',
  network: open.network,
});

/** Blocks in which the payment can land; negative if it can't. */
async function blocksLeft(ports: DeliveryPorts, open: OpenPayment): Promise<bigint> {
  const cluster = await ports.cluster();
  return open.lastValidBlockHeight - (await cluster.blockHeight());
}

/**
 * Finds a refusal's source: a proxy, gateway or login page decides nothing, as the payment may just have settled.
 * @returns `refused` if the service refused the call; `not_accepted` if it asks for another payment; null if the
 *   service may not have seen the payment
 */
function refusalIn(answer: HttpAnswer): 'refused' | 'not_accepted' | null {
  if (answer.status === 402) return isChallenge(answer) && !isUnseen(answer) ? 'not_accepted' : null;
  const code = ownCode(answer);
  return code !== null && DECIDED.has(code) ? 'refused' : null;
}

/**
 * Codes that decide this very call, unlike those of any gateway (`not_found`, `invalid_request`, rate limits) or of
 * passing states during settlement.
 */
const DECIDED: ReadonlySet<ProblemCode> = new Set([
  'airport_unknown',
  'invalid_wallet',
  'funding_wallet_not_payer',
  'refund_wallet_without_account',
  'refund_wallet_not_allowed',
  'duplicate_passenger',
  'passenger_count_mismatch',
  'travel_document_required',
  'travel_document_expired',
  'support_code_required',
  'family_name_required',
  'support_code_mismatch',
  'identity_mismatch',
  'offer_not_found',
  'intent_not_found',
  'order_not_found',
  'intent_already_exists',
  'offer_unsupported',
  'offer_unavailable',
  'offer_expired',
  'offer_repriced',
  'lowcost_booking_unavailable',
  'fare_check_failed',
  'fare_menu_expired',
  'invalid_fare_index',
  'intent_not_active',
  'intent_expired',
  'escrow_missing',
  'booking_already_requested',
  'use_automatic_refund',
  'already_refunded',
  'refund_already_requested',
  'family_name_unavailable',
  'escrow_initialization_failed',
  'provider_failed',
  'provider_not_configured',
  'too_many_locks',
  'booking_disabled',
] satisfies ProblemCode[]);

/** A code of our catalogue, if the answer has our form and that code's status. */
function ownCode({ status, body }: HttpAnswer): ProblemCode | null {
  if (!isRecord(body) || !isProblemCode(body.code) || typeof body.message !== 'string') return null;
  const kind: ProblemKind = PROBLEMS[body.code];
  return kind.status === status ? body.code : null;
}

const errorOf = (answer: HttpAnswer): string => {
  const said = challengeOf(answer)?.error;
  return typeof said === 'string' ? said : '';
};

/** True for x402's form, in header or body. */
const isChallenge = (answer: HttpAnswer): boolean => {
  const challenge = challengeOf(answer);
  return challenge?.x402Version === 2 && Array.isArray(challenge.accepts) && challenge.accepts.length > 0;
};

/** True for a challenge that ignores the payment: its header was removed on the way. */
const isUnseen = (answer: HttpAnswer): boolean =>
  /^payment_required\b|\bheader is (required|missing)\b/i.test(errorOf(answer));

function paidProblemOf(answer: HttpAnswer): Problem {
  if (answer.status === 402) return challengeProblem(answer);
  const error = problemOf(answer);
  if (ownCode(answer) !== null || answer.status >= 500 || isOfOthers(answer)) return error;
  // By status alone it would look like our refusal.
  const { message, detail, retryAfter } = error;
  return problem('unexpected_answer', {
    message,
    detail: { ...detail, status: answer.status },
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}

/** True for other deployments' form: `{ error: { code } }` with a catalogue code. */
const isOfOthers = ({ body }: HttpAnswer): boolean =>
  isRecord(body) && isRecord(body.error) && isProblemCode(body.error.code);

/** Reads the refusal from the new challenge: `payment_verification_failed: <reason>`. */
function challengeProblem(answer: HttpAnswer): Problem {
  const text = errorOf(answer);
  if (!isChallenge(answer)) {
    return problem('unexpected_answer', {
      message: `The service answered 402 without a payment challenge${text ? `: ${text}` : ''}.`,
      detail: { status: 402 },
    });
  }
  const [, code, reason] = /^(payment_\w+): (.*)$/s.exec(text) ?? [];
  if (isProblemCode(code) && code !== 'payment_required') {
    const known = problem(code);
    return problem(code, { message: `${known.message.replace(/\.$/, '')}: ${reason}.` });
  }
  return problem('payment_verification_failed', {
    message: isUnseen(answer)
      ? 'The service did not see the payment: something on the way removes its header.'
      : `The payment was not accepted${text ? `: ${text}` : ''}.`,
  });
}
