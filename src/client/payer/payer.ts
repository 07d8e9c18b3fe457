import { randomBytes } from 'node:crypto';
import type { Intent } from '../../flights/wire.ts';
import type { Clock } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { type Cluster, DEVNET_USDC, MAINNET_USDC, SOLANA_NETWORKS } from '../../solana/cluster.ts';
import type { Signer } from '../../solana/signer.ts';
import type { ClientStore, OpenPayment, PaymentJournal, RequestIdentity } from '../journal/store.ts';
import { ask, type Call, type HttpAnswer, type Patience, problemOf } from '../transport.ts';
import type { CallOptions, PaymentReceipt, SpendingPolicy } from '../types.ts';
import { type Challenge, readChallenge } from './challenge.ts';
import {
  type AnswerRules,
  answerUnreadable,
  type DeliveryPorts,
  deliver,
  type PaidAnswer,
  receiptOf,
  unreadableIn,
} from './delivery.ts';
import { approve, budgetOf, capOf, checkBudget, checkHost } from './policy.ts';
import { signPayment, tokenAccountsOf } from './transaction.ts';

/** A call that may have to be paid. */
export interface PaidExchange extends Call, AnswerRules {
  /** The intent that a booking pays; absent for every other call. */
  readonly booking?: Intent;
  /** The refund wallet that the person has named for the booking. */
  readonly refundWallet?: string | undefined;
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

export type PayerJournal = PaymentJournal & Pick<ClientStore, 'remember' | 'intent'>;

export interface PayerPorts extends Pick<DeliveryPorts, 'neverLanded' | 'warn'> {
  readonly cluster: () => Promise<Cluster>;
  readonly signer: () => Promise<Signer>;
  readonly journal: () => Promise<PayerJournal>;
  readonly policy: SpendingPolicy;
  /** CAIP-2, of the profile; default: of its cluster. */
  readonly network?: string | undefined;
  /** Default: Circle's on that network. */
  readonly usdcMint?: string | undefined;
  readonly clock: Clock;
}

/** A challenge that somebody thought about for longer is fetched anew before it is signed: it may be stale. */
const STALE_CHALLENGE_MS = 30_000;

export function createPayer(ports: PayerPorts): Payer {
  const { policy, clock } = ports;

  return {
    async send(exchange, patience, options) {
      const { address: wallet } = await ports.signer();
      const journal = await ports.journal();
      const identity: RequestIdentity = {
        baseUrl: exchange.baseUrl,
        resource: `${exchange.method} ${exchange.path}`,
        body: exchange.body ?? null,
        headers: exchange.headers ?? {},
        wallet,
      };
      const { freshForMs } = exchange;
      const isStale = (open: OpenPayment) =>
        freshForMs !== undefined && clock.now() - open.createdAtMs > freshForMs;
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const live = await journal.open(identity);
        const seen = await keptAnswer(exchange, live, journal, isStale);
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
    },
  };
}

const MOST_ROUNDS = 4;

/** Everything that can stop a payment, then the signature, then the journal. */
async function sign(
  ports: PayerPorts,
  exchange: PaidExchange,
  identity: RequestIdentity,
  first: HttpAnswer,
  again: () => Promise<HttpAnswer>,
): Promise<OpenPayment | null> {
  checkHost(ports.policy, new URL(exchange.baseUrl).host);
  const signer = await ports.signer();
  const cluster = await ports.cluster();
  const network = ports.network ?? cluster.network;
  const acceptable = {
    network,
    asset: ports.usdcMint ?? (network === SOLANA_NETWORKS.mainnet ? MAINNET_USDC : DEVNET_USDC),
    wallet: signer.address,
  };
  const challenge = await agreed(ports, exchange, cluster, acceptable, first, again);
  const reserved = ports.policy.allowance?.reserve(challenge.amount);
  try {
    const written = await signed(ports, identity, challenge, { signer, cluster });
    if (written) reserved?.spend(written.id);
    else reserved?.giveBack();
    return written;
  } catch (error) {
    reserved?.giveBack();
    throw error;
  }
}

/** Null when another process has just signed for the same request. */
async function signed(
  ports: PayerPorts,
  identity: RequestIdentity,
  challenge: Challenge,
  { signer, cluster }: { readonly signer: Signer; readonly cluster: Cluster },
): Promise<OpenPayment | null> {
  const { checkFunds } = await import('./checks.ts');
  const journal = await ports.journal();
  const budget = budgetOf(ports.policy);
  await checkBudget(journal, budget, { ...challenge, wallet: signer.address });
  const accounts = await tokenAccountsOf(signer.address, challenge);
  await checkFunds(cluster, signer.address, challenge, accounts);
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
    budget,
    identity,
    payload: Buffer.from(JSON.stringify(payload)).toString('base64'),
    amount: challenge.amount,
    asset: challenge.asset,
    payTo: challenge.payTo,
    network: challenge.network,
    lastValidBlockHeight: blockhash.lastValidBlockHeight,
  });
}

/** The challenge that policy, and where it must somebody who was asked, agrees to. */
async function agreed(
  ports: PayerPorts,
  exchange: PaidExchange,
  cluster: Cluster,
  acceptable: Parameters<typeof readChallenge>[1],
  first: HttpAnswer,
  again: () => Promise<HttpAnswer>,
): Promise<Challenge> {
  const { policy, clock } = ports;
  const kind = exchange.booking ? 'booking' : 'call';
  let challenge = readChallenge(first, acceptable);
  for (;;) {
    const warning = await escrowWarning(ports, cluster, exchange, challenge, acceptable.wallet);
    const askedAtMs = clock.now();
    const asked = await approve(policy, {
      resource: `${exchange.method} ${exchange.path}`,
      host: new URL(exchange.baseUrl).host,
      amount: challenge.amount,
      asset: challenge.asset,
      payTo: challenge.payTo,
      network: challenge.network,
      cap: capOf(policy, kind),
      kind,
      ...(warning === undefined ? {} : { warning }),
    });
    if (!asked || clock.now() - askedAtMs < STALE_CHALLENGE_MS) return challenge;
    const newer = await again();
    if (newer.status !== 402) throw problemOf(newer);
    const approved = challenge;
    challenge = readChallenge(newer, acceptable);
    if (challenge.amount <= approved.amount && challenge.payTo === approved.payTo) return challenge;
  }
}

async function escrowWarning(
  ports: PayerPorts,
  cluster: Cluster,
  { booking, refundWallet }: PaidExchange,
  challenge: Challenge,
  wallet: string,
) {
  if (!booking) return undefined;
  const { checkEscrow } = await import('./checks.ts');
  const terms = (await (await ports.journal()).intent(booking.intent_id))?.terms ?? null;
  const agreement = { wallet, terms, named: refundWallet ?? null };
  return checkEscrow(cluster, booking, challenge, ports.clock, agreement);
}

/** An answer that nobody has seen; null where there is none, or it is of no use any more. */
async function keptAnswer(
  exchange: PaidExchange,
  open: OpenPayment | undefined,
  journal: PayerJournal,
  isStale: (open: OpenPayment) => boolean,
): Promise<PaidAnswer | null> {
  if (!open?.answer) return null;
  const { body, transaction, isReadable } = open.answer;
  if (isReadable && isStale(open)) {
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
