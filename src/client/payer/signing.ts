import { randomBytes } from 'node:crypto';
import type { Address } from '@solana/kit';
import type { Clock } from '../../kernel/clock.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import type { Cluster } from '../../solana/cluster.ts';
import type { Signer } from '../../solana/signer.ts';
import type { ClientStore, OpenPayment, PaymentJournal, RequestIdentity } from '../journal/store.ts';
import { BUDGET_WINDOW_MS, type PaymentRequest, type SpendingPolicy } from '../spending.ts';
import { type HttpAnswer, problemOf } from '../transport.ts';
import type { ProgramTrust } from '../trusted-program.ts';
import { type Acceptable, type Challenge, readChallenge } from './challenge.ts';
import { judge, type Payable } from './judge.ts';
import { signPayment, type TokenAccounts } from './transaction.ts';

export interface SigningPorts {
  readonly cluster: () => Promise<Cluster>;
  readonly signer: () => Promise<Signer>;
  readonly journal: () => Promise<PaymentJournal & Pick<ClientStore, 'remember' | 'intent'>>;
  readonly policy: SpendingPolicy;
  readonly trust: ProgramTrust;
  /** CAIP-2, of the profile; default: of its cluster. */
  readonly network?: string | undefined;
  /** Default: of its cluster. */
  readonly usdcMint?: string | undefined;
  readonly clock: Clock;
}

/** A challenge that somebody thought about for longer is fetched anew before it is signed: it may be stale. */
const STALE_CHALLENGE_MS = 30_000;

/**
 * Makes every check that can stop a payment, signs it, and writes it to the journal.
 * @param first the 402 that asked for it
 * @param again asks the service once more
 * @returns null when another process has just signed for the same request
 */
export async function sign(
  ports: SigningPorts,
  exchange: Payable,
  identity: RequestIdentity,
  first: HttpAnswer,
  again: () => Promise<HttpAnswer>,
): Promise<OpenPayment | null> {
  const signer = await ports.signer();
  const cluster = await ports.cluster();
  const network = ports.network ?? cluster.network;
  const acceptable = {
    network,
    asset: ports.usdcMint ?? cluster.usdcMint,
    wallet: signer.address,
  };
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

/** A challenge that may be signed, and from where to where its money goes. */
interface Agreed {
  readonly challenge: Challenge;
  readonly accounts: TokenAccounts | null;
}

/** The challenge that the policy accepts, and that a person has agreed to where the policy asks for one. */
async function agreed(
  ports: SigningPorts,
  exchange: Payable,
  cluster: Cluster,
  acceptable: Acceptable & { readonly wallet: Address },
  first: HttpAnswer,
  again: () => Promise<HttpAnswer>,
): Promise<Agreed> {
  const { policy, clock } = ports;
  let challenge = readChallenge(first, acceptable);
  let said: PaymentRequest | null = null;
  for (;;) {
    const { request, verdict, accounts } = await judge(
      ports,
      exchange,
      cluster,
      challenge,
      acceptable.wallet,
    );
    if (verdict.act === 'pay' || (said !== null && isCovered(request, said))) return { challenge, accounts };
    const askedAtMs = clock.now();
    if (!(await policy.ask?.(request))) {
      throw problem('payment_declined', {
        detail: { amount: formatUsdc(request.amount), resource: request.resource },
      });
    }
    said = request;
    if (clock.now() - askedAtMs < STALE_CHALLENGE_MS) continue;
    const newer = await again();
    if (newer.status !== 402) throw problemOf(newer);
    challenge = readChallenge(newer, acceptable);
  }
}

/** True when the consent given covers this too: no more money, to the same account, with nothing new to warn of. */
const isCovered = (request: PaymentRequest, said: PaymentRequest): boolean =>
  request.amount <= said.amount && request.payTo === said.payTo && request.warning === said.warning;

async function signed(
  ports: SigningPorts,
  identity: RequestIdentity,
  { challenge, accounts }: Agreed,
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
