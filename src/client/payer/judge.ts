import type { Address } from '@solana/kit';
import type { Clock } from '../../kernel/clock.ts';
import type { Cluster } from '../../solana/index.ts';
import type { Intent } from '../../wire/flights/index.ts';
import {
  BUDGET_WINDOW_MS,
  type Call,
  checkProgram,
  mayBePaid,
  type PaymentRequest,
  type ProgramTrust,
  refusal,
  type SpendingPolicy,
  type Verdict,
} from '../base/index.ts';
import type { ClientStore } from '../journal/index.ts';
import type { Challenge } from './challenge.ts';
import { type TokenAccounts, tokenAccountsOf } from './transaction.ts';

/** A call that was answered with a challenge. */
export interface Payable extends Call {
  /** The intent that a booking pays; absent for every other call. */
  readonly booking?: Intent;
  /** The refund wallet that the person has named for the booking. */
  readonly refundWallet?: string | undefined;
}

interface JudgePorts {
  readonly journal: () => Promise<Pick<ClientStore, 'spent' | 'intent'>>;
  readonly policy: SpendingPolicy;
  readonly trust: ProgramTrust;
  readonly clock: Clock;
}

/** A challenge that may be signed, at once or when a person says so. */
interface Judged {
  readonly request: PaymentRequest;
  readonly verdict: Exclude<Verdict, { act: 'refuse' }>;
  /** null without a wallet. */
  readonly accounts: TokenAccounts | null;
}

/**
 * Every check that can stop a payment, in the order in which they stop it; a dry run makes the same ones. The journal
 * holds the daily limit once more when the payment is written, for another process may be quicker.
 * @param wallet null: there is none yet, so that its money is not looked at
 * @throws Problem `program_not_trusted`, `host_not_allowed`, `terms_not_agreed`, `escrow_mismatch`,
 * `daily_limit_reached`, `payment_above_cap`, `payment_declined`, `insufficient_funds`
 */
export async function judge(
  ports: JudgePorts,
  exchange: Payable,
  cluster: Cluster,
  challenge: Challenge,
  wallet: Address | null,
): Promise<Judged> {
  const { policy, clock } = ports;
  const { booking, refundWallet } = exchange;
  const { checkEscrow, checkFunds } = await import('./checks.ts');
  const journal = await ports.journal();
  // Also before a search or a lock is paid: a fare that nobody should book is not worth its fee.
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
