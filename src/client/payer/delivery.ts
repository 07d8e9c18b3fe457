import type { Clock } from '../../kernel/clock.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { isProblem, isProblemCode, type Problem, problem } from '../../kernel/problems.ts';
import type { Cluster } from '../../solana/cluster.ts';
import type { IntentToRemember, OpenPayment, PaymentJournal } from '../store.ts';
import { ask, type Call, type HttpAnswer, isRecord, type Patience, problemOf } from '../transport.ts';
import type { CallOptions, PaymentReceipt } from '../types.ts';
import type { PaidAnswer } from './payer.ts';

export interface Delivery {
  readonly exchange: Call & {
    readonly isPending?: (answer: HttpAnswer) => boolean;
    readonly isFree?: (answer: HttpAnswer) => boolean;
  };
  readonly open: OpenPayment;
  /** Signed just now, rather than found in the journal. */
  readonly fresh: boolean;
  readonly patience: Patience;
  readonly options: CallOptions;
  readonly keep: (body: unknown) => IntentToRemember | null;
  /** The payment is left over from a run so long ago that its answer is of no use: it is brought to its end only. */
  readonly stale: boolean;
}

interface Ports {
  readonly journal: PaymentJournal;
  readonly clock: Clock;
  readonly cluster: () => Promise<Cluster>;
}

/** Pauses before a lost answer is asked for again. */
const LOST_ANSWER_PAUSES_MS = [250, 1_000, 2_500];
const PENDING_PAUSE_MS = 2_000;

/**
 * Sends a payment that is in the journal until its call is answered.
 *
 * When is it given up, so that a second one may be signed? The payer signed one message, with one blockhash and one
 * fee payer. Only the fee payer can complete it, so its final signature, the only name the chain has for it, is not
 * known here. But past `lastValidBlockHeight` nobody can make it land any more: from then on it has landed or never
 * will, and the service, which alone could have sent it, knows which. Therefore it is given up only when the
 * service, asked after that height, says that it did not accept it. A service that lies then could as well have kept
 * the first payment and never answered; its gain is bounded by the cap. For a booking no word is taken: the escrow's
 * vault is read before a second payment (checkEscrow), and one that is funded is never paid again.
 *
 * @returns null when the payment was given up, or its answer was too old to be of use.
 */
export async function deliver(ports: Ports, delivery: Delivery): Promise<PaidAnswer | null> {
  const { journal } = ports;
  const { open } = delivery;
  // Read before the service is asked: only an answer from after that height closes the matter.
  const expired = !delivery.fresh && (await blocksLeft(ports, open)) < 0n;
  const answer = await sendUntilAnswered(ports, delivery);
  const settled = settlementOf(answer);
  if (settled === null && delivery.exchange.isPending?.(answer)) {
    await journal.note(open.id, 'sent', null);
    return { body: answer.body, payment: null };
  }
  if (settled === null && delivery.exchange.isFree?.(answer)) {
    await journal.close(open.id, 'refused', 'fare_check_failed');
    return delivery.stale ? null : { body: answer.body, payment: null };
  }
  if (answer.status < 300) {
    await journal.answered(open.id, settled, delivery.keep(answer.body));
    return delivery.stale ? null : { body: answer.body, payment: receiptOf(open, settled) };
  }
  const error = answer.status === 402 ? refusalOf(answer) : problemOf(answer);
  // Charged, and not done yet: the payment stays open, and the same command goes on with it.
  if (settled !== null) {
    await journal.note(open.id, 'sent', error.code);
    throw error;
  }
  if (answer.status === 402) {
    if (expired) {
      await journal.close(open.id, 'abandoned', error.code);
      return null;
    }
    await journal.note(open.id, 'refused', error.code);
    const blocks = Number(await blocksLeft(ports, open));
    const seconds = Math.max(1, Math.ceil((blocks + 1) * SECONDS_PER_BLOCK));
    throw problem(error.code, {
      message: error.message,
      fix: `Run the command again in ${seconds} s: until then the refused payment could still be carried out.`,
      retryAfter: seconds,
    });
  }
  if (isFinal(answer, error)) {
    await journal.close(open.id, 'refused', error.code);
    if (delivery.stale) return null;
  } else {
    await journal.note(open.id, 'sent', error.code);
  }
  throw error;
}

const SECONDS_PER_BLOCK = 0.4;

async function sendUntilAnswered(ports: Ports, delivery: Delivery): Promise<HttpAnswer> {
  const { journal, clock } = ports;
  const { exchange, open, patience, options } = delivery;
  const headers = { ...exchange.headers, 'PAYMENT-SIGNATURE': open.payload };
  const deadline = clock.now() + patience.timeoutMs;
  for (let lost = 0; ; ) {
    const answer = await ask({ ...exchange, headers }, patience).catch(async (error: unknown) => {
      if (!isProblem(error, 'network_unreachable', 'unexpected_answer', 'timed_out')) throw error;
      await journal.note(open.id, 'sent', error.code);
      const pauseMs = error.code === 'timed_out' ? undefined : LOST_ANSWER_PAUSES_MS[lost];
      if (pauseMs === undefined) throw withResume(error);
      lost++;
      await pause(ports, pauseMs, options);
      return null;
    });
    if (!answer) continue;
    const pending = answer.status === 503 && problemOf(answer).code === 'payment_pending';
    if (!pending || clock.now() >= deadline) return answer;
    const retryAfter = problemOf(answer).retryAfter;
    await pause(ports, retryAfter === undefined ? PENDING_PAUSE_MS : retryAfter * 1000, options);
  }
}

async function pause({ clock }: Ports, ms: number, options: CallOptions): Promise<void> {
  options.onPhase?.('waiting');
  await clock.sleep(ms, options.signal);
  if (options.signal?.aborted) throw problem('interrupted');
}

const withResume = (error: Problem): Problem =>
  problem(error.code, {
    message: `${error.message} A payment is on its way.`,
    fix: 'Run the same command again: it sends the same payment, never a second one.',
    ...(error.detail ? { detail: error.detail } : {}),
    cause: error,
  });

/** The settling transaction that the answer tells of; null when nothing was settled as far as it says. */
function settlementOf(answer: HttpAnswer): string | null {
  const header = answer.headers.get('PAYMENT-RESPONSE');
  if (header === null) return null;
  try {
    const response: unknown = JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
    if (!isRecord(response) || response.success !== true) return null;
    return typeof response.transaction === 'string' ? response.transaction : null;
  } catch {
    // An answer is an answer, also with a header that can't be read: only the receipt is poorer.
    return null;
  }
}

const receiptOf = (open: OpenPayment, transaction: string | null): PaymentReceipt => ({
  amount: formatUsdc(open.amount),
  asset: open.asset,
  transaction: transaction ?? '',
  network: open.network,
});

/** A 402 to a payment: our services put the code in front of the reason. */
function refusalOf(answer: HttpAnswer): Problem {
  const body = isRecord(answer.body) ? answer.body : {};
  const text = typeof body.error === 'string' ? body.error : '';
  const [, code, reason] = /^(payment_\w+): (.*)$/s.exec(text) ?? [];
  if (isProblemCode(code) && code !== 'payment_required') {
    const known = problem(code);
    return problem(code, { message: `${known.message.replace(/\.$/, '')}: ${reason}.` });
  }
  return problem('payment_verification_failed', {
    message: `The payment was not accepted${text ? `: ${text}` : ''}.`,
  });
}

/** Negative once the payment can't land any more. */
async function blocksLeft(ports: Ports, open: OpenPayment): Promise<bigint> {
  const cluster = await ports.cluster();
  return open.lastValidBlockHeight - (await cluster.blockHeight());
}

/** Whether the service itself said no. A bare 500 or 502 is a lost answer: a proxy's, or a crash half way. */
function isFinal(answer: HttpAnswer, error: Problem): boolean {
  if ([408, 425, 429].includes(answer.status)) return false;
  if (answer.status < 500) return true;
  const said = isRecord(answer.body) ? answer.body.code : undefined;
  return isProblemCode(said) && !['internal_error', 'payment_pending', 'not_ready'].includes(error.code);
}
