import { problem } from '../../kernel/problems.ts';
import type { OpenPayment, PaymentJournal, RequestIdentity } from '../journal/store.ts';
import { ask, type Patience, problemOf } from '../transport.ts';
import type { CallOptions } from '../types.ts';
import {
  type AnswerRules,
  answerUnreadable,
  type DeliveryPorts,
  deliver,
  type PaidAnswer,
  receiptOf,
  unreadableIn,
} from './delivery.ts';
import type { Payable } from './judge.ts';
import { type SigningPorts, sign } from './signing.ts';

/** A call that may have to be paid. */
export interface PaidExchange extends Payable, AnswerRules {
  /** How long an answer is worth having; absent: as long as there is one. */
  readonly freshForMs?: number;
}

export interface Payer {
  /**
   * Sends a call and pays for it when asked to. After a crash or a lost answer the same call sends the same payment
   * again, never a second one, until the service has answered it or it can't land any more; and an answer that nobody
   * has seen is given again rather than paid for again.
   * @throws Problem the service's, the transport's, `challenge_refused`, `payment_above_cap`, `payment_declined`,
   * `daily_limit_reached`, `host_not_allowed`, `insufficient_funds`, `terms_not_agreed`, `escrow_mismatch`,
   * `answer_unreadable`
   */
  send(exchange: PaidExchange, patience: Patience, options: CallOptions): Promise<PaidAnswer>;
}

export interface PayerPorts extends SigningPorts, Pick<DeliveryPorts, 'neverLanded' | 'warn'> {}

/** A round ends without an answer where a payment was given up, or another process signed first. */
const MOST_ROUNDS = 4;

export const createPayer = (ports: PayerPorts): Payer => ({
  send: (exchange, patience, options) => send(ports, exchange, patience, options),
});

async function send(
  ports: PayerPorts,
  exchange: PaidExchange,
  patience: Patience,
  options: CallOptions,
): Promise<PaidAnswer> {
  const { clock, policy } = ports;
  const { freshForMs } = exchange;
  const { address: wallet } = await ports.signer();
  const journal = await ports.journal();
  const identity: RequestIdentity = {
    baseUrl: exchange.baseUrl,
    resource: `${exchange.method} ${exchange.path}`,
    body: exchange.body ?? null,
    headers: exchange.headers ?? {},
    wallet,
  };
  const isStale = (open: OpenPayment) =>
    freshForMs !== undefined && clock.now() - open.createdAtMs > freshForMs;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const live = await journal.open(identity);
    const seen = live && (await keptAnswer(journal, exchange, live, isStale(live)));
    if (seen) return seen;
    const kept = live?.answer ? undefined : live;
    if (kept) policy.allowance?.resend(kept.id, kept.amount);
    if (!kept) options.onPhase?.('asking');
    const answer = kept ? null : await ask(exchange, patience);
    if (answer && answer.status !== 402) {
      if (answer.status >= 300) throw problemOf(answer);
      const intent = exchange.remember?.(answer.body);
      if (intent) await journal.remember(intent);
      return { body: answer.body, payment: null };
    }
    options.onPhase?.('paying');
    const open =
      kept ?? (answer && (await sign(ports, exchange, identity, answer, () => ask(exchange, patience))));
    // Another process has just signed for the same request: its payment is sent.
    if (!open) continue;
    const delivered = await deliver(
      { ...ports, journal },
      { exchange, open, fresh: !kept, patience, options, stale: isStale(open) },
    );
    if (delivered) return delivered;
  }
  throw problem('payment_pending', { message: 'The call could not be paid for now.', retryAfter: 60 });
}

/** An answer that nobody has seen; null where there is none, or it is of no use any more. */
async function keptAnswer(
  journal: PaymentJournal,
  exchange: PaidExchange,
  open: OpenPayment,
  isStale: boolean,
): Promise<PaidAnswer | null> {
  if (!open.answer) return null;
  const { body, transaction, isReadable } = open.answer;
  if (isReadable && isStale) {
    await journal.shown([open.id]);
    return null;
  }
  const unreadable = unreadableIn(exchange, body);
  if (unreadable !== null) throw answerUnreadable(open.id, unreadable);
  // An older version could not read it.
  if (!isReadable) {
    await journal.answered(open.id, { body, transaction, isReadable: true, intent: null, isKept: true });
  }
  return { body, payment: receiptOf(open, transaction), isKept: true };
}
