import { decodeTokenAccount } from '../../../src/solana/token.ts';
import type { World } from '../world/world.ts';
import type { Fact } from './people.ts';
import { CHEATS, CUSTOMERS, refundWalletOf, type Stage, walletOf } from './stage.ts';

/** What every wallet holds of the one coin, by the owner of its token accounts. */
export type Purses = ReadonlyMap<string, bigint>;

export function purses(stage: Stage): Map<string, bigint> {
  const accounts = stage.ledger.ledger.accountsPage({ by: 'mint', is: stage.ledger.usdcMint }, '', 10_000);
  const held = new Map<string, bigint>();
  for (const { data } of accounts) {
    const account = decodeTokenAccount(data);
    if (account) held.set(account.owner, (held.get(account.owner) ?? 0n) + account.amount);
  }
  return held;
}

interface Charged {
  readonly payer: string;
  readonly pay_to: string;
  readonly amount: number;
}
interface Locked {
  readonly escrow_address: string;
  readonly funding_wallet: string;
}
interface PaidOut {
  readonly request_id: string;
  readonly funding_wallet: string;
  readonly payout_amount: number;
}

/**
 * At rest each wallet holds what it began with, less what it paid, plus what was due to it: the whole of an escrow that
 * was refunded, what lay above the fare in any escrow, and each pay-out that an operator decided. It is worked out from
 * who did what, never from the transfers: a transfer too many, or one to another wallet, is a difference.
 */
export function checkWallets(
  world: World,
  stage: Stage,
  { began, ends }: { readonly began: Purses; readonly ends: ReadonlyMap<string, 'open' | 'captured' | 'refunded'> },
  facts: readonly Fact[],
): void {
  const due = new Map(began);
  const move = (from: string | null, to: string | null, amount: bigint) => {
    if (from !== null) due.set(from, (due.get(from) ?? 0n) - amount);
    if (to !== null) due.set(to, (due.get(to) ?? 0n) + amount);
  };
  const treasury: string = walletOf('treasury').address;
  const locked = new Map(
    stage
      .rows<Locked>('select escrow_address, funding_wallet from intents')
      .map((one) => [one.escrow_address, refundsOf(one.funding_wallet)]),
  );
  for (const { payer, pay_to: to, amount } of stage.rows<Charged>(
    `select payer, pay_to, amount from sim_all_settlements where state in ('settled', 'answered')`,
  )) {
    const owner = locked.get(to);
    if (owner === undefined || ends.get(to) === 'captured') move(payer, treasury, BigInt(amount));
    else move(payer, owner, BigInt(amount));
  }
  for (const { from, to, amount } of stage.sentByHand) move(from, locked.get(to) ?? to, amount);
  for (const one of stage.rows<PaidOut>(
    `select request_id, funding_wallet, payout_amount from refund_requests join intents using (intent_id)
       where state = 'refunded'`,
  )) {
    const decided = stage.decided.get(one.request_id);
    if (!decided?.has(one.payout_amount)) {
      world.violate(
        'a pay-out was decided',
        `${one.request_id}: ${one.payout_amount}, decided ${[...(decided ?? [])]}`,
      );
    }
    move(treasury, refundsOf(one.funding_wallet), BigInt(one.payout_amount));
  }
  for (const [affiliate, share] of sharesOf(stage, facts)) {
    world.saw('an affiliate is paid');
    move(treasury, affiliate, share);
  }
  const held = purses(stage);
  for (const wallet of new Set([...due.keys(), ...held.keys()])) {
    const [has, should] = [held.get(wallet) ?? 0n, due.get(wallet) ?? 0n];
    if (has !== should) {
      world.violate(
        'each wallet holds its start, less what it paid, plus refunds and pay-outs',
        `${stage.names.get(wallet) ?? wallet} holds ${has} instead of ${should} (${has - should})`,
      );
    }
  }
}

/** A fifth of the hundredth that the platform keeps, of each journey that was flown and not paid back. */
function sharesOf(stage: Stage, facts: readonly Fact[]): Map<string, bigint> {
  const booked = new Map(
    stage
      .rows<{ intent_id: string; amount: number }>(`select intent_id, amount from intents where status = 'booked'`)
      .map((one) => [one.intent_id, BigInt(one.amount)]),
  );
  const by = new Map(
    facts.flatMap((fact) => (fact.kind === 'referred' && fact.by ? [[fact.intentId, fact.by] as const] : [])),
  );
  const shares = new Map<string, bigint>();
  for (const [intentId, affiliate] of by) {
    const amount = booked.get(intentId);
    if (amount === undefined) continue;
    const wallet = walletOf(affiliate).address;
    shares.set(wallet, (shares.get(wallet) ?? 0n) + amount / 100n / 5n);
  }
  return shares;
}

/** Where what is due to somebody goes, by the wallet that paid: customers name another, cheats none. */
const refundsOf = (payer: string): string => REFUNDS.get(payer) ?? payer;
const REFUNDS = new Map<string, string>([
  ...CUSTOMERS.map((name) => [walletOf(name).address, refundWalletOf(name).address] as const),
  ...CHEATS.map((name) => [walletOf(name).address, walletOf(name).address] as const),
]);
