import type { Address } from '@solana/kit';
import type { Clock } from '../../kernel/clock.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import type { Cluster } from '../../solana/index.ts';
import { ask, type ProgramTrust, problemOf, type SpendingPolicy } from '../base/index.ts';
import type { ClientStore, OpenPayment } from '../journal/index.ts';
import { type Challenge, readChallenge } from './challenge.ts';
import { identityOf, judge } from './checks.ts';
import type { PaidExchange, Payer } from './payer.ts';

export type PaymentPlan = Readonly<Awaited<ReturnType<typeof planOf>>>;

interface Decision {
  /** `resend`: signed but unanswered. `kept`: paid and answered, but not shown. */
  readonly decision: 'sign' | 'ask' | 'refuse' | 'resend' | 'kept';
  /** The refusal, or the question. */
  readonly reason: { readonly code: string; readonly message: string } | null;
}

/** Ends a planned call with the payment it would sign. */
export class PaymentPlanned extends Error {
  constructor(readonly plan: PaymentPlan) {
    super('a payment was planned');
  }
}

interface PlannerPorts {
  readonly cluster: () => Promise<Cluster>;
  /** Null if there is none; a plan makes none. */
  readonly wallet: () => Promise<Address | null>;
  readonly journal: () => Promise<Pick<ClientStore, 'open' | 'spent' | 'intent'>>;
  readonly policy: SpendingPolicy;
  readonly trust: ProgramTrust;
  readonly network: string;
  readonly usdcMint: string;
  readonly clock: Clock;
}

/** A keyless payer for `--dry-run`, which ends at the challenge. */
export function createPlanner(ports: PlannerPorts): Payer {
  return {
    async send(exchange, patience, options) {
      options.onPhase?.('asking');
      const answer = await ask(exchange, patience);
      if (answer.status !== 402) {
        if (answer.status >= 300) throw problemOf(answer);
        return { body: answer.body, payment: null };
      }
      const wallet = await ports.wallet();
      const challenge = readChallenge(answer, { network: ports.network, asset: ports.usdcMint, wallet: wallet ?? '' });
      throw new PaymentPlanned(await planOf(ports, exchange, challenge, wallet));
    },
  };
}

async function planOf(ports: PlannerPorts, exchange: PaidExchange, challenge: Challenge, wallet: Address | null) {
  const seconds = challenge.accepted.maxTimeoutSeconds;
  const lives = typeof seconds === 'number' && seconds > 0 && seconds < 1e7;
  return {
    resource: `${exchange.method} ${exchange.path}`,
    host: new URL(exchange.baseUrl).host,
    /** Decimal USDC, and atomic units. */
    amount: formatUsdc(challenge.amount),
    amount_atomic: Number(challenge.amount),
    asset: challenge.asset,
    pay_to: challenge.payTo,
    network: challenge.network,
    /** Null if a random one would be written. */
    memo: challenge.memo,
    fee_payer: challenge.feePayer,
    /** As the challenge says; null without an end. */
    expires_at: lives ? new Date(ports.clock.now() + seconds * 1000).toISOString() : null,
    wallet,
    ...(await decisionOf(ports, exchange, challenge, wallet)),
  };
}

async function decisionOf(
  ports: PlannerPorts,
  exchange: PaidExchange,
  challenge: Challenge,
  wallet: Address | null,
): Promise<Decision> {
  try {
    const live = wallet === null ? undefined : await livePayment(ports, exchange, wallet);
    if (live) return { decision: live.answer ? 'kept' : 'resend', reason: null };
    const { verdict, request } = await judge(ports, exchange, await ports.cluster(), challenge, wallet);
    if (verdict.act === 'pay') return { decision: 'sign', reason: null };
    const { warning } = request;
    const { code, message } = problem(warning === undefined ? 'payment_above_cap' : 'escrow_mismatch');
    return { decision: 'ask', reason: { code, message: warning ?? message } };
  } catch (error) {
    if (!isProblem(error)) throw error;
    return { decision: 'refuse', reason: { code: error.code, message: error.message } };
  }
}

async function livePayment(ports: PlannerPorts, exchange: PaidExchange, wallet: string): Promise<OpenPayment | null> {
  const live = await (await ports.journal()).open(identityOf(exchange, wallet));
  const { freshForMs = Number.POSITIVE_INFINITY } = exchange;
  const isStale = live?.answer?.isReadable && ports.clock.now() - live.createdAtMs > freshForMs;
  return live && !isStale ? live : null;
}
