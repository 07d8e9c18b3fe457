import { randomBytes } from 'node:crypto';
import type { Intent } from '../../flights/wire.ts';
import type { Clock } from '../../kernel/clock.ts';
import { type Cluster, DEVNET_USDC, MAINNET_USDC, SOLANA_NETWORKS } from '../../solana/cluster.ts';
import type { Signer } from '../../solana/signer.ts';
import type { ClientStore, OpenPayment, PaymentJournal, RequestIdentity } from '../journal/store.ts';
import { type Call, type HttpAnswer, problemOf } from '../transport.ts';
import type { SpendingPolicy } from '../types.ts';
import { type Acceptable, type Challenge, readChallenge } from './challenge.ts';
import { approve, budgetOf, capOf, checkBudget, checkHost } from './policy.ts';
import { signPayment, tokenAccountsOf } from './transaction.ts';

/** A call that was answered with a challenge. */
export interface Payable extends Call {
  /** The intent that a booking pays; absent for every other call. */
  readonly booking?: Intent;
  /** The refund wallet that the person has named for the booking. */
  readonly refundWallet?: string | undefined;
}

export interface SigningPorts {
  readonly cluster: () => Promise<Cluster>;
  readonly signer: () => Promise<Signer>;
  readonly journal: () => Promise<PaymentJournal & Pick<ClientStore, 'remember' | 'intent'>>;
  readonly policy: SpendingPolicy;
  /** CAIP-2, of the profile; default: of its cluster. */
  readonly network?: string | undefined;
  /** Default: Circle's on that network. */
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
  const { policy } = ports;
  checkHost(policy, new URL(exchange.baseUrl).host);
  const signer = await ports.signer();
  const cluster = await ports.cluster();
  const network = ports.network ?? cluster.network;
  const acceptable = {
    network,
    asset: ports.usdcMint ?? (network === SOLANA_NETWORKS.mainnet ? MAINNET_USDC : DEVNET_USDC),
    wallet: signer.address,
  };
  const challenge = await agreed(ports, exchange, cluster, acceptable, first, again);
  const reserved = policy.allowance?.reserve(challenge.amount);
  try {
    const written = await signed(ports, identity, challenge, signer, cluster);
    if (written) reserved?.spend(written.id);
    else reserved?.giveBack();
    return written;
  } catch (error) {
    reserved?.giveBack();
    throw error;
  }
}

/** The challenge that the policy accepts, and that a person has approved where the policy asks for one. */
async function agreed(
  ports: SigningPorts,
  exchange: Payable,
  cluster: Cluster,
  acceptable: Acceptable,
  first: HttpAnswer,
  again: () => Promise<HttpAnswer>,
): Promise<Challenge> {
  const { policy, clock } = ports;
  const kind = exchange.booking ? 'booking' : 'call';
  let challenge = readChallenge(first, acceptable);
  for (;;) {
    const warning = await escrowWarning(ports, exchange, cluster, challenge, acceptable.wallet);
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
  { journal, clock }: SigningPorts,
  { booking, refundWallet }: Payable,
  cluster: Cluster,
  challenge: Challenge,
  wallet: string,
): Promise<string | undefined> {
  if (!booking) return undefined;
  const { checkEscrow } = await import('./checks.ts');
  const terms = (await (await journal()).intent(booking.intent_id))?.terms ?? null;
  return checkEscrow(cluster, booking, challenge, clock, { wallet, terms, named: refundWallet ?? null });
}

async function signed(
  ports: SigningPorts,
  identity: RequestIdentity,
  challenge: Challenge,
  signer: Signer,
  cluster: Cluster,
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
