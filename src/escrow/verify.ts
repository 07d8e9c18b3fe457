import type { Address } from '@solana/kit';
import { associatedTokenAddress, tokenIn } from '../solana/index.ts';
import { type AccountReader, type EscrowAccount, escrowIn } from './account.ts';
import { escrowPlace, intentHashOf } from './address.ts';
import { type AuthorizationTerms, authorizationPlace, termsOnChain } from './authorization.ts';

interface Bounds {
  readonly min?: bigint | undefined;
  readonly max?: bigint | undefined;
}

export interface ExpectedEscrow {
  readonly intentId: string;
  readonly address: Address;
  readonly vault: Address;
  readonly mint: Address;
  /** Atomic units. */
  readonly amount: bigint;
  readonly refundOwner: Address;
  /** Seconds since the epoch, both ends included: how long the money may stay before anybody can send it back. */
  readonly refundAfter: Bounds;
  readonly programId: Address;
  /** Authorities that the payer knows. Unset: any, and the check only shows it. */
  readonly authorities?: readonly Address[] | undefined;
  /** Atomic units in the vault. Unset: any. Before paying, `max: 0n` or `max: amount - 1n` finds a paid escrow. */
  readonly held?: Bounds | undefined;
  /** Genesis hash, to accept an authorization by which the refund owner has paid. Never set it before paying. */
  readonly paidOn?: string | undefined;
}

export type EscrowCheckName =
  | 'program'
  | 'program_code'
  | 'address'
  | 'state'
  | 'authority'
  | 'mint'
  | 'amount'
  | 'refund_owner'
  | 'refund_after'
  | 'vault'
  | 'held'
  | AuthorizationCheckName;

type AuthorizationCheckName =
  | 'genesis'
  | 'operator'
  | 'pay_to'
  | 'receiver_authorizer'
  | 'payer'
  | 'capture_deadline'
  | 'refund_deadline'
  | 'captured'
  | 'refunded';

export interface EscrowCheck {
  readonly check: EscrowCheckName;
  readonly expected: string;
  readonly found: string;
  readonly ok: boolean;
}

const NONE = 'none';
const same = (check: EscrowCheckName, expected: string, found: string): EscrowCheck => {
  return { check, expected, found, ok: expected === found };
};

const among = (check: EscrowCheckName, expected: readonly Address[] | undefined, found: Address): EscrowCheck => ({
  ...{ check, expected: expected?.join(' or ') ?? 'any', found },
  ok: expected === undefined || expected.includes(found),
});

function within(check: EscrowCheckName, { min, max }: Bounds, found: bigint | null): EscrowCheck {
  const bounds = [...(min === undefined ? [] : [`at least ${min}`]), ...(max === undefined ? [] : [`at most ${max}`])];
  return {
    check,
    expected: bounds.join(', ') || 'any',
    found: found === null ? NONE : `${found}`,
    ok: found !== null && (min === undefined || found >= min) && (max === undefined || found <= max),
  };
}

/** The balance of the vault, or null when it is not a plain token account of this escrow and mint. */
function balanceOf(
  vault: Parameters<typeof tokenIn>[0],
  { address, mint }: Pick<ExpectedEscrow, 'address' | 'mint'>,
): bigint | null {
  const token = tokenIn(vault);
  if (token?.owner !== address || token.mint !== mint || token.state !== 'initialized') return null;
  return token.delegate === null && token.closeAuthority === null ? token.amount : null;
}

/**
 * Compares an escrow on chain with the payer's terms (DESIGN, section 3): pay only when every check is `ok`.
 * Without a state account of a known program the list ends after `program` and `address`.
 */
export async function verifyEscrow({
  cluster,
  ...expected
}: ExpectedEscrow & { readonly cluster: AccountReader }): Promise<EscrowCheck[]> {
  const vaultAddress = await associatedTokenAddress(expected.address, expected.mint);
  const [state, vault] = await cluster.accounts([expected.address, vaultAddress]);
  const { programId } = expected;
  const found = escrowIn(state, [programId]);
  const escrow = found?.kind === 'intent' || expected.paidOn !== undefined ? found : null;
  const checks: EscrowCheck[] = [
    { check: 'program', expected: programId, found: state?.owner ?? NONE, ok: escrow !== null },
    same('address', await addressOf(expected, escrow), expected.address),
  ];
  if (escrow === null) return checks;
  return [
    ...checks,
    same('state', 'open', escrow.state),
    among('authority', expected.authorities, escrow.authority),
    same('mint', expected.mint, escrow.mint),
    same('amount', `${expected.amount}`, `${escrow.amount}`),
    same('refund_owner', expected.refundOwner, escrow.refundOwner),
    within('refund_after', expected.refundAfter, escrow.refundAfter),
    {
      check: 'vault',
      expected: vaultAddress,
      found: expected.vault === vaultAddress ? escrow.vault : expected.vault,
      ok: expected.vault === vaultAddress && escrow.vault === vaultAddress,
    },
    within('held', expected.held ?? {}, balanceOf(vault, expected)),
  ];
}

/** Derives the address of an intent's escrow; that of an authorization from its terms, with the intent as nonce. */
async function addressOf({ intentId, programId, paidOn }: ExpectedEscrow, escrow: EscrowAccount | null) {
  const hash = intentHashOf(intentId);
  if (escrow?.kind !== 'authorization' || paidOn === undefined) return (await escrowPlace(hash, programId)).address;
  return (await authorizationPlace(termsOnChain(escrow, hash, paidOn), programId)).escrow;
}

export interface ExpectedAuthorization {
  readonly terms: AuthorizationTerms;
  readonly programId: Address;
  /** Genesis hash of the cluster that `cluster` reads: the program cannot see it, so only this check compares it. */
  readonly genesis: string;
  /** Atomic units captured and refunded so far; unset: any. After Authorize both are 0. */
  readonly captured?: bigint | undefined;
  readonly refunded?: bigint | undefined;
}

/**
 * Compares an open authorization on chain with its terms: accept it as a payment only when every check is `ok`.
 * Without a state account of the program the list ends after `genesis` and `program`.
 */
export async function verifyAuthorization({
  cluster,
  terms,
  programId,
  ...expected
}: ExpectedAuthorization & { readonly cluster: AccountReader }): Promise<EscrowCheck[]> {
  const place = await authorizationPlace(terms, programId);
  const [state, vault] = await cluster.accounts([place.escrow, place.vault]);
  const found = escrowIn(state, [programId]);
  const isThere = found?.kind === 'authorization';
  const checks: EscrowCheck[] = [
    same('genesis', expected.genesis, terms.genesis),
    { check: 'program', expected: programId, found: state?.owner ?? NONE, ok: isThere },
  ];
  if (!isThere) return checks;
  const counted = (check: EscrowCheckName, wanted: bigint | undefined, is: bigint) =>
    within(check, { min: wanted, max: wanted }, is);
  return [
    ...checks,
    same('state', 'open', found.state),
    same('operator', terms.operator, found.authority),
    same('mint', terms.mint, found.mint),
    same('amount', `${terms.amount}`, `${found.amount}`),
    same('pay_to', terms.payTo, found.treasury),
    same('receiver_authorizer', terms.receiverAuthorizer, found.receiverAuthorizer),
    same('payer', terms.payer, found.refundOwner),
    same('capture_deadline', `${terms.captureDeadline}`, `${found.refundAfter}`),
    same('refund_deadline', `${terms.refundDeadline}`, `${found.refundDeadline}`),
    counted('captured', expected.captured, found.captured),
    counted('refunded', expected.refunded, found.refunded),
    same('vault', place.vault, found.vault),
    within(
      'held',
      { min: found.amount - found.captured },
      balanceOf(vault, { address: place.escrow, mint: terms.mint }),
    ),
  ];
}

export const isVerified = (checks: readonly EscrowCheck[]): boolean =>
  checks.length > 0 && checks.every((check) => check.ok);
