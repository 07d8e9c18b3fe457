import { randomBytes } from 'node:crypto';
import type { Address } from '@solana/kit';
import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import type { Cluster, Signer } from '../../solana/index.ts';
import {
  type AnswerRules,
  ask,
  BUDGET_WINDOW_MS,
  type CallOptions,
  type HttpAnswer,
  type Patience,
  type PaymentRequest,
  type ProgramTrust,
  problemOf,
  type SpendingPolicy,
} from '../base/index.ts';
import type { ClientStore, OpenPayment, PaymentJournal, RequestIdentity } from '../journal/index.ts';
import { type Acceptable, readChallenge } from './challenge.ts';
import { identityOf, judge, type Payable } from './checks.ts';
import { answerUnreadable, type DeliveryPorts, deliver, type PaidAnswer, receiptOf, unreadableIn } from './delivery.ts';
import { signPayment } from './transaction.ts';

export interface PaidExchange extends Payable, AnswerRules {
  /** The answer's useful life; absent: no limit. */
  readonly freshForMs?: number;
}

export interface Payer {
  /**
   * Sends a call and pays when asked. After a crash or a lost answer it resends the same payment, never a second one,
   * until it is answered or can't land. An answer that was not shown is returned without paying.
   * @throws Problem the service's; those of `ask` and `judge`; `challenge_refused`, `payment_declined`,
   *   `answer_unreadable`
   */
  send(exchange: PaidExchange, patience: Patience, options: CallOptions): Promise<PaidAnswer>;
}

export interface PayerPorts extends Pick<DeliveryPorts, 'cluster' | 'clock' | 'neverLanded' | 'warn'> {
  readonly signer: () => Promise<Signer>;
  readonly journal: () => Promise<PaymentJournal & Pick<ClientStore, 'remember' | 'intent'>>;
  readonly policy: SpendingPolicy;
  readonly trust: ProgramTrust;
  /** CAIP-2; default: the cluster's. */
  readonly network?: string | undefined;
  /** Default: the cluster's. */
  readonly usdcMint?: string | undefined;
}

/** A round ends unanswered if its payment is given up, or another process signs first. */
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
  const identity = identityOf(exchange, wallet);
  const isStale = (open: OpenPayment) => freshForMs !== undefined && clock.now() - open.createdAtMs > freshForMs;
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
    const open = kept ?? (answer && (await sign(ports, exchange, identity, answer, () => ask(exchange, patience))));
    // Sends the payment that another process has just signed.
    if (!open) continue;
    const delivered = await deliver(
      { ...ports, journal },
      { exchange, open, fresh: !kept, patience, options, stale: isStale(open) },
    );
    if (delivered) return delivered;
  }
  throw problem('payment_pending', { message: 'The call could not be paid for now.', retryAfter: 60 });
}

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
  if (!isReadable) await journal.answered(open.id, { body, transaction, isReadable: true, intent: null, isKept: true });
  return { body, payment: receiptOf(open, transaction), isKept: true };
}

/** A challenge is fetched again if the person took longer than this. */
const STALE_CHALLENGE_MS = 30_000;

/**
 * Checks, signs and journals a payment.
 * @param first the 402 that asked for it
 * @param again asks the service again
 * @returns null if another process just signed the same request
 */
async function sign(
  ports: PayerPorts,
  exchange: Payable,
  identity: RequestIdentity,
  first: HttpAnswer,
  again: () => Promise<HttpAnswer>,
): Promise<OpenPayment | null> {
  const signer = await ports.signer();
  const cluster = await ports.cluster();
  const network = ports.network ?? cluster.network;
  const acceptable = { network, asset: ports.usdcMint ?? cluster.usdcMint, wallet: signer.address };
  const payable = await agreed(ports, exchange, cluster, acceptable, first, again);
  const reserved = ports.policy.allowance?.reserve(payable.challenge.amount);
  try {
    const written = await signed(ports, identity, payable, signer, cluster);
    if (written) reserved?.spend(written.id);
    else reserved?.giveBack();
    return written;
  } catch (error) {
    reserved?.giveBack();
    throw error;
  }
}

/** The challenge that the policy, and if needed a person, agreed to. */
async function agreed(
  ports: PayerPorts,
  exchange: Payable,
  cluster: Cluster,
  acceptable: Acceptable & { readonly wallet: Address },
  first: HttpAnswer,
  again: () => Promise<HttpAnswer>,
) {
  const { policy, clock } = ports;
  let challenge = readChallenge(first, acceptable);
  let said: PaymentRequest | null = null;
  for (;;) {
    const { request, verdict, accounts } = await judge(ports, exchange, cluster, challenge, acceptable.wallet);
    if (verdict.act === 'pay' || (said !== null && isCovered(request, said))) return { challenge, accounts };
    const askedAtMs = clock.now();
    if (!(await policy.ask?.(request))) {
      throw problem('payment_declined', { detail: { amount: formatUsdc(request.amount), resource: request.resource } });
    }
    said = request;
    if (clock.now() - askedAtMs < STALE_CHALLENGE_MS) continue;
    const newer = await again();
    if (newer.status !== 402) throw problemOf(newer);
    challenge = readChallenge(newer, acceptable);
  }
}

/** True if a person's yes covers this: no more money, the same account, no new warning. */
const isCovered = (request: PaymentRequest, said: PaymentRequest): boolean =>
  request.amount <= said.amount && request.payTo === said.payTo && request.warning === said.warning;

async function signed(
  ports: PayerPorts,
  identity: RequestIdentity,
  { challenge, accounts }: Awaited<ReturnType<typeof agreed>>,
  signer: Signer,
  cluster: Cluster,
): Promise<OpenPayment | null> {
  const journal = await ports.journal();
  const { perDay } = ports.policy.limits;
  const blockhash = await cluster.latestBlockhash();
  const memo = challenge.memo ?? randomBytes(16).toString('hex');
  const transaction = await signPayment(signer, { ...challenge, memo, accounts }, blockhash);
  const payload = {
    x402Version: 2,
    resource: challenge.resource,
    accepted: challenge.accepted,
    payload: { transaction },
  };
  return journal.write({
    budget: perDay === null ? undefined : { limit: perDay, windowMs: BUDGET_WINDOW_MS },
    identity,
    payload: Buffer.from(JSON.stringify(payload)).toString('base64'),
    amount: challenge.amount,
    asset: challenge.asset,
    payTo: challenge.payTo,
    network: challenge.network,
    lastValidBlockHeight: blockhash.lastValidBlockHeight,
    signedAtSlot: blockhash.slot,
  });
}
