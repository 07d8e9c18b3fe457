import { randomBytes } from 'node:crypto';
import type { Intent } from '../../flights/wire.ts';
import type { Clock } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { type Cluster, DEVNET_USDC, MAINNET_USDC, SOLANA_NETWORKS } from '../../solana/cluster.ts';
import type { Signer } from '../../solana/signer.ts';
import type { IntentToRemember, OpenPayment, PaymentJournal, RequestIdentity } from '../store.ts';
import { ask, type Call, type HttpAnswer, type Patience, problemOf } from '../transport.ts';
import type { CallOptions, PaymentReceipt, SpendingPolicy } from '../types.ts';
import { type Challenge, readChallenge } from './challenge.ts';
import { deliver } from './delivery.ts';
import { approve, budgetOf, capOf, checkBudget, checkHost } from './policy.ts';
import { signPayment, tokenAccountsOf } from './transaction.ts';

/** A call that may have to be paid. */
export interface PaidExchange extends Call {
  /** The intent that a booking pays; absent for every other call. */
  readonly booking?: Intent;
  /** What must be kept of the answer before anybody sees it. */
  readonly remember?: (body: unknown) => IntentToRemember | null;
  /** How long an answer is worth having; absent: as long as there is one. */
  readonly freshForMs?: number;
  /** Whether the service is still at it: such an answer is not charged, and the payment waits for the real one. */
  readonly isPending?: (answer: HttpAnswer) => boolean;
  /** Whether it came to nothing and nothing is charged: the payment ends without a receipt. */
  readonly isFree?: (answer: HttpAnswer) => boolean;
}

export interface PaidAnswer {
  readonly body: unknown;
  readonly payment: PaymentReceipt | null;
}

export interface Payer {
  /**
   * Sends a call and pays for it when asked to. After a crash or a lost answer the same call sends the same payment
   * again, never a second one, until the service has answered it or it can't land any more.
   * @throws Problem the service's, the transport's, `challenge_refused`, `payment_above_cap`, `payment_declined`,
   * `daily_limit_reached`, `host_not_allowed`, `insufficient_funds`, `escrow_mismatch`
   */
  send(exchange: PaidExchange, patience: Patience, options: CallOptions): Promise<PaidAnswer>;
}

export type PayerJournal = PaymentJournal & { remember(intent: IntentToRemember): Promise<void> };

export interface PayerPorts {
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

  /** Everything that can stop a payment, then the signature, then the journal. */
  async function sign(
    exchange: PaidExchange,
    identity: RequestIdentity,
    first: HttpAnswer,
    again: () => Promise<HttpAnswer>,
  ): Promise<OpenPayment | null> {
    checkHost(policy, new URL(exchange.baseUrl).host);
    const signer = await ports.signer();
    const cluster = await ports.cluster();
    const network = ports.network ?? cluster.network;
    const acceptable = {
      network,
      asset: ports.usdcMint ?? (network === SOLANA_NETWORKS.mainnet ? MAINNET_USDC : DEVNET_USDC),
      wallet: signer.address,
    };
    const challenge = await agreed(exchange, cluster, acceptable, first, again);
    const reserved = policy.allowance?.reserve(challenge.amount);
    try {
      const written = await signed(identity, challenge, { signer, cluster });
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
    identity: RequestIdentity,
    challenge: Challenge,
    { signer, cluster }: { readonly signer: Signer; readonly cluster: Cluster },
  ): Promise<OpenPayment | null> {
    const { checkFunds } = await import('./checks.ts');
    const journal = await ports.journal();
    const budget = budgetOf(policy);
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
    exchange: PaidExchange,
    cluster: Cluster,
    acceptable: Parameters<typeof readChallenge>[1],
    first: HttpAnswer,
    again: () => Promise<HttpAnswer>,
  ): Promise<Challenge> {
    const kind = exchange.booking ? 'booking' : 'call';
    let challenge = readChallenge(first, acceptable);
    for (;;) {
      const warning = exchange.booking && (await escrowWarning(cluster, exchange.booking, challenge));
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

  async function escrowWarning(cluster: Cluster, intent: Intent, challenge: Challenge) {
    const { checkEscrow } = await import('./checks.ts');
    return checkEscrow(cluster, intent, challenge, clock);
  }

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
      const keep = (body: unknown) => exchange.remember?.(body) ?? null;
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const kept = await journal.open(identity);
        if (kept) policy.allowance?.resend(kept.id, kept.amount);
        if (!kept) options.onPhase?.('asking');
        const answer = kept ? null : await ask(exchange, patience);
        if (answer && answer.status !== 402) {
          if (answer.status >= 300) throw problemOf(answer);
          const intent = keep(answer.body);
          if (intent) await journal.remember(intent);
          return { body: answer.body, payment: null };
        }
        options.onPhase?.('paying');
        const open =
          kept ?? (answer && (await sign(exchange, identity, answer, () => ask(exchange, patience))));
        // Another process has just signed for the same request: its payment is sent.
        if (!open) continue;
        const stale =
          exchange.freshForMs !== undefined && clock.now() - open.createdAtMs > exchange.freshForMs;
        const delivered = await deliver(
          { ...ports, journal },
          {
            exchange,
            open,
            fresh: !kept,
            patience,
            options,
            keep,
            stale,
          },
        );
        if (delivered) return delivered;
      }
      throw problem('payment_pending', { message: 'The call could not be paid for now.', retryAfter: 60 });
    },
  };
}

const MOST_ROUNDS = 4;
