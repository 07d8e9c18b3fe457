import type { Address } from '@solana/kit';
import { type Clock, DAY_MS } from '../../kernel/clock.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { type Cluster, decodeTokenAccount, TOKEN_PROGRAM } from '../../solana/index.ts';
import type { Intent } from '../../wire/flights/index.ts';
import {
  type Agreement,
  BUDGET_WINDOW_MS,
  type Call,
  checkProgram,
  checkTerms,
  loadEscrowTerms,
  mayBePaid,
  type PaymentRequest,
  type ProgramTrust,
  refusal,
  type SpendingPolicy,
} from '../base/index.ts';
import type { ClientStore, RequestIdentity } from '../journal/index.ts';
import type { Challenge } from './challenge.ts';
import { type TokenAccounts, tokenAccountsOf } from './transaction.ts';

/** A call answered with a challenge. */
export interface Payable extends Call {
  /** The intent that a booking pays. */
  readonly booking?: Intent;
  /** The refund wallet that the person named. */
  readonly refundWallet?: string | undefined;
}

interface JudgePorts {
  readonly journal: () => Promise<Pick<ClientStore, 'spent' | 'intent'>>;
  readonly policy: SpendingPolicy;
  readonly trust: ProgramTrust;
  readonly clock: Clock;
}

export const identityOf = (exchange: Payable, wallet: string): RequestIdentity => ({
  baseUrl: exchange.baseUrl,
  resource: `${exchange.method} ${exchange.path}`,
  body: exchange.body ?? null,
  headers: exchange.headers ?? {},
  wallet,
});

/**
 * Makes all checks before a payment, in dry runs too; the write repeats the daily limit, as another process may be
 * quicker.
 * @param wallet null if there is none yet; then its money is not checked
 * @returns a payment to sign, at once or once a person agrees; `accounts` is null without a wallet
 * @throws Problem `program_not_trusted`, `host_not_allowed`, `terms_not_agreed`, `escrow_mismatch`,
 *   `daily_limit_reached`, `payment_above_cap`, `payment_declined`, `insufficient_funds`
 */
export async function judge(
  ports: JudgePorts,
  exchange: Payable,
  cluster: Cluster,
  challenge: Challenge,
  wallet: Address | null,
) {
  const { policy, clock } = ports;
  const { booking, refundWallet } = exchange;
  const journal = await ports.journal();
  // Before a search or lock too: a fare that cannot be booked safely is not worth its fee.
  if (challenge.escrowProgram !== null) await checkProgram(cluster, challenge.escrowProgram, ports.trust);
  const warning =
    booking &&
    (await checkEscrow(
      cluster,
      booking,
      challenge,
      clock,
      { wallet, terms: (await journal.intent(booking.intent_id))?.terms ?? null, named: refundWallet ?? null },
      ports.trust,
    ));
  const { amount, asset, payTo, network } = challenge;
  const request: PaymentRequest = {
    resource: `${exchange.method} ${exchange.path}`,
    host: new URL(exchange.baseUrl).host,
    amount,
    asset,
    payTo,
    network,
    kind: booking ? 'booking' : 'call',
    ...(warning !== undefined && { warning }),
  };
  const isCounted = wallet !== null && policy.limits.perDay !== null;
  const spending = { ...request, ...(isCounted && { spent: await journal.spent(wallet, network, BUDGET_WINDOW_MS) }) };
  const verdict = mayBePaid(spending, policy);
  if (verdict.act === 'refuse') throw refusal(spending, policy, verdict.why);
  const accounts = wallet === null ? null : await tokenAccountsOf(wallet, challenge);
  if (wallet !== null && accounts !== null) await checkFunds(cluster, wallet, challenge, accounts);
  return { request, verdict, accounts };
}

/**
 * Refuses if the wallet lacks funds or the payee can't receive.
 * @throws Problem `insufficient_funds` with the gap, `challenge_refused`
 */
async function checkFunds(
  cluster: Cluster,
  wallet: Address,
  challenge: Challenge,
  accounts: TokenAccounts,
): Promise<void> {
  const read = await cluster.accounts([accounts.source, accounts.destination]);
  const [source, destination] = read.map((account) =>
    account?.owner === TOKEN_PROGRAM ? decodeTokenAccount(account.data) : null,
  );
  const held = source?.amount ?? 0n;
  if (held < challenge.amount) {
    const detail = {
      wallet,
      needed: formatUsdc(challenge.amount),
      held: formatUsdc(held),
      missing: formatUsdc(challenge.amount - held),
    };
    throw problem('insufficient_funds', {
      message: (usdc) =>
        `The wallet holds ${usdc(held)} of the ${detail.needed} needed; ${usdc(detail.missing)} are missing.`,
      detail,
    });
  }
  if (!destination) {
    throw problem('challenge_refused', {
      message: 'The payment challenge was refused: the payee has no account for USDC.',
      detail: { reason: 'no token account', pay_to: challenge.payTo },
    });
  }
}

/** Longer than any booking window; escrows that hold money longer are refused. */
const LONGEST_HOLD_MS = 30 * DAY_MS;

/**
 * Checks the intent against our terms, the challenge against the intent, and the escrow against the chain (DESIGN,
 * section 3). A funded escrow is never paid again, whatever the service says.
 * @returns a warning if the escrow can't be verified: no program is named, or one of the settings has an escrow form of
 *   its own
 * @throws Problem `terms_not_agreed`, `challenge_refused`, `program_not_trusted`, `escrow_mismatch`
 */
async function checkEscrow(
  cluster: Cluster,
  intent: Intent,
  challenge: Challenge,
  clock: Clock,
  agreement: Agreement,
  trust: ProgramTrust,
): Promise<string | undefined> {
  const { escrow } = intent;
  checkTerms(intent, agreement);
  const wrong = [
    ...(challenge.payTo === escrow.address ? [] : ['payTo is not the escrow of the intent']),
    ...(challenge.asset === escrow.mint ? [] : ['the coin is not the one of the escrow']),
    ...(challenge.amount === BigInt(escrow.amount) ? [] : ['the amount is not the one of the escrow']),
  ];
  if (wrong.length > 0) {
    throw problem('challenge_refused', {
      message: `The payment challenge was refused: ${wrong.join(', ')}.`,
      detail: { reason: wrong.join(', ') },
    });
  }
  const { program_id: program } = escrow;
  if (program === '') {
    return `The record of ${intent.intent_id} names no program for its escrow: it can't be verified on chain.`;
  }
  await checkProgram(cluster, program, trust);
  const { escrowChecks } = await loadEscrowTerms();
  const checks = await escrowChecks(cluster, intent, {
    // A smaller amount may be a stranger's dust, which the service first sends to the refund wallet.
    held: { max: challenge.amount - 1n },
    latestRefundMs: clock.now() + LONGEST_HOLD_MS,
  });
  const owned = checks.find((one) => one.check === 'program');
  if (owned?.ok === false && owned.found === program && trust.programs.includes(program)) {
    return `The escrow of ${intent.intent_id} has a form that this tool does not know: it can't be verified on chain.`;
  }
  const failed = checks.filter((check) => !check.ok);
  if (checks.length > 0 && failed.length === 0) return undefined;
  const paid = failed.length === 1 && failed[0]?.check === 'held';
  throw problem('escrow_mismatch', {
    message: paid
      ? 'The escrow of this intent already holds the money.'
      : `The escrow on chain is not what the intent says: ${failed.map((one) => one.check).join(', ')}.`,
    ...(paid ? { fix: 'Do not pay it again. Follow the status of the intent.' } : {}),
    detail: { checks },
  });
}
