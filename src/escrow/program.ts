import { AccountRole, type Address, type Instruction } from '@solana/kit';
import { ASSOCIATED_TOKEN_PROGRAM, associatedTokenAddress, TOKEN_PROGRAM } from '../solana/index.ts';
import { escrowPlace, intentHashOf } from './address.ts';
import {
  captureInstruction,
  closeInstruction,
  openInstruction,
  recoverInstruction,
  refundInstruction,
  SYSTEM_PROGRAM,
  sweepInstruction,
} from './instructions.ts';
import type { ObservedEscrow } from './observe.ts';

export { ESCROW_PROGRAM_ID, escrowAddress } from './address.ts';
export {
  captureInstruction,
  closeInstruction,
  openInstruction,
  recoverInstruction,
  refundInstruction,
  sweepInstruction,
} from './instructions.ts';

/** Those who have to do with one escrow. Owners of token accounts are named, not their token accounts. */
interface EscrowParties {
  /** The one that the escrow was opened at, or is to be. */
  readonly programId: Address;
  /** Pays rent of what has to be created. */
  readonly payer: Address;
  readonly escrow: Address;
  readonly mint: Address;
  readonly refundOwner: Address;
  /** The payer of the rents at Open; default `payer`. */
  readonly rentPayer?: Address | undefined;
  /** Default: the associated token account of the refund owner. Another one where that one is unusable. */
  readonly refundAccount?: Address | undefined;
  /**
   * `payer` opens the refund owner's token account where it is missing (default true). Its rent is a gift: the
   * refund owner can close it and keep that.
   */
  readonly opensRefundAccount?: boolean | undefined;
  /** The reading that `observeEscrow` just made; see each function for what happens without it. */
  readonly observed?: ObservedEscrow | undefined;
}

interface AuthorityParties extends EscrowParties {
  readonly authority: Address;
}

/** The associated token program's own: creates the account of `owner`, or does nothing when it is there. */
function createTokenAccount(payer: Address, account: Address, owner: Address, mint: Address): Instruction {
  return {
    programAddress: ASSOCIATED_TOKEN_PROGRAM,
    accounts: [
      { address: payer, role: AccountRole.WRITABLE_SIGNER },
      { address: account, role: AccountRole.WRITABLE },
      { address: owner, role: AccountRole.READONLY },
      { address: mint, role: AccountRole.READONLY },
      { address: SYSTEM_PROGRAM, role: AccountRole.READONLY },
      { address: TOKEN_PROGRAM, role: AccountRole.READONLY },
    ],
    data: Uint8Array.of(1),
  };
}

interface OpenParties {
  readonly programId: Address;
  readonly authority: Address;
  readonly payer: Address;
  readonly mint: Address;
  readonly intentId: string;
  /** Atomic units. */
  readonly amount: bigint;
  /** Seconds since the epoch, ahead of the cluster's clock. */
  readonly refundAfter: bigint;
  readonly treasury: Address;
  readonly refundOwner: Address;
}

/** Creates the vault, then the escrow. Signers: `authority` and `payer`, which may be the same. */
export async function openInstructions(open: OpenParties): Promise<Instruction[]> {
  const { address: escrow, intentHash } = await escrowPlace(intentHashOf(open.intentId), open.programId);
  const vault = await associatedTokenAddress(escrow, open.mint);
  return [
    createTokenAccount(open.payer, vault, escrow, open.mint),
    openInstruction({ ...open, escrow, vault, intentHash }),
  ];
}

/**
 * Captures: the amount to the treasury's associated token account, created when it is missing. Signer: `authority`.
 *
 * What the vault holds above the amount goes to the refund owner when his token account can take it. Where it can't,
 * or nothing was observed, it stays in the vault for `sweepInstructions`: a capture must not depend on an account
 * that the refund owner can make unusable (docs/escrow.md, Capture).
 */
export async function captureInstructions(
  parties: AuthorityParties & { readonly treasury: Address },
): Promise<Instruction[]> {
  const { payer, escrow, mint, treasury, refundOwner, observed } = parties;
  const vault = await associatedTokenAddress(escrow, mint);
  const treasuryAccount = await associatedTokenAddress(treasury, mint);
  const refundAccount = await refundAccountOf(parties);
  const opens = parties.opensRefundAccount !== false;
  const creates = opens && observed?.refundAccount === 'missing' && observed.excess > 0n;
  const pays = creates || observed?.refundAccount === 'usable';
  return [
    createTokenAccount(payer, treasuryAccount, treasury, mint),
    ...(creates ? [createTokenAccount(payer, refundAccount, refundOwner, mint)] : []),
    captureInstruction({
      ...parties,
      vault,
      treasuryAccount,
      refundAccount: pays ? refundAccount : null,
      rentPayer: parties.rentPayer ?? payer,
    }),
  ];
}

/**
 * Refunds: the whole vault to the refund owner. Signer: `authority`, unless `byAuthority` is false, which works once
 * `refund_after` has passed. The refund owner's token account is created when it is missing and money goes there;
 * when nothing was observed it is created in any case, at the payer's cost. With `closes` the state account is closed in
 * the same transaction: the program allows it for an escrow that was never paid.
 */
export async function refundInstructions(
  parties: AuthorityParties & { readonly byAuthority?: boolean | undefined; readonly closes?: boolean | undefined },
): Promise<Instruction[]> {
  const { payer, escrow, mint } = parties;
  const refundAccount = await refundAccountOf(parties);
  const vault = await associatedTokenAddress(escrow, mint);
  const rentPayer = parties.rentPayer ?? payer;
  return [
    ...createRefundAccount(parties, refundAccount, parties.observed?.held),
    refundInstruction({ ...parties, byAuthority: parties.byAuthority ?? true, vault, refundAccount, rentPayer }),
    ...(parties.closes ? [closeInstruction({ ...parties, vault, rentPayer })] : []),
  ];
}

/**
 * Closes the state account of an ended escrow. A vault that somebody made again is swept in the same transaction, also
 * an empty one: it would be in the way, and who makes it each time only gives its rent away. Signer: `authority`.
 */
export async function closeInstructions(parties: AuthorityParties): Promise<Instruction[]> {
  const vault = await associatedTokenAddress(parties.escrow, parties.mint);
  const rentPayer = parties.rentPayer ?? parties.payer;
  return [
    ...(parties.observed?.hasVault ? await sweepInstructions(parties) : []),
    closeInstruction({ ...parties, vault, rentPayer }),
  ];
}

/**
 * Sends what lies at the address of an escrow that does not exist (closed, or never opened) to the refund owner whom
 * its intent id names. No signer but the fee payer.
 */
export async function recoverInstructions(
  parties: EscrowParties & { readonly intentId: string },
): Promise<Instruction[]> {
  const vault = await associatedTokenAddress(parties.escrow, parties.mint);
  const refundAccount = await refundAccountOf(parties);
  return [
    ...createRefundAccount(parties, refundAccount, parties.observed?.held),
    recoverInstruction({ ...parties, vault, refundAccount }),
  ];
}

/** Sends what is above the amount (after the end: everything) to the refund owner. No signer but the fee payer. */
export async function sweepInstructions(parties: EscrowParties): Promise<Instruction[]> {
  const { payer, escrow, mint } = parties;
  const refundAccount = await refundAccountOf(parties);
  return [
    ...createRefundAccount(parties, refundAccount, parties.observed?.excess),
    sweepInstruction({
      ...parties,
      vault: await associatedTokenAddress(escrow, mint),
      refundAccount,
      rentPayer: parties.rentPayer ?? payer,
    }),
  ];
}

const refundAccountOf = async ({
  refundAccount,
  refundOwner,
  mint,
}: Pick<EscrowParties, 'refundAccount' | 'refundOwner' | 'mint'>): Promise<Address> =>
  refundAccount ?? (await associatedTokenAddress(refundOwner, mint));

/** The rent of a token account that holds nothing would be a gift to the refund owner, who can close it. */
function createRefundAccount(parties: EscrowParties, account: Address, moves: bigint | undefined): Instruction[] {
  const { observed, refundAccount, payer, refundOwner, mint } = parties;
  if (refundAccount !== undefined || moves === 0n || parties.opensRefundAccount === false) return [];
  if (observed !== undefined && observed.refundAccount !== 'missing') return [];
  return [createTokenAccount(payer, account, refundOwner, mint)];
}
