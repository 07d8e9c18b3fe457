import { type AccountMeta, AccountRole, type Address, getAddressEncoder, type Instruction } from '@solana/kit';
import { ASSOCIATED_TOKEN_PROGRAM, associatedTokenAddress, TOKEN_PROGRAM } from '../solana/index.ts';
import type { ObservedEscrow } from './account.ts';
import { chainBytes, escrowPlace, intentHashOf } from './address.ts';

/**
 * The six instructions of the escrow program, account by account (docs/escrow.md). They name their signers by role only:
 * the builder of the transaction brings the keys.
 */

const SYSTEM_PROGRAM = '11111111111111111111111111111111' as Address;
const TAG = { open: 0, capture: 1, refund: 2, sweep: 3, close: 4, recover: 5 } as const;

const readonly = (address: Address): AccountMeta => ({ address, role: AccountRole.READONLY });
const writable = (address: Address): AccountMeta => ({ address, role: AccountRole.WRITABLE });
const signer = (address: Address): AccountMeta => ({ address, role: AccountRole.READONLY_SIGNER });
const payingSigner = (address: Address): AccountMeta => ({ address, role: AccountRole.WRITABLE_SIGNER });

type Of<Account extends string> = { readonly [A in Account | 'programId']: Address };

const instruction = (of: Of<never>, accounts: readonly AccountMeta[], data: Uint8Array): Instruction => ({
  programAddress: of.programId,
  accounts,
  data,
});

/**
 * `payer` pays the rents, and gets them back at the end. `vault` is the associated token account of `escrow`; it must be
 * there already, and be empty. `treasury` and `refundOwner` are owners of token accounts, not token accounts.
 */
export function openInstruction(
  open: Of<'authority' | 'payer' | 'escrow' | 'vault' | 'mint' | 'treasury' | 'refundOwner'> & {
    readonly intentHash: Uint8Array;
    /** Atomic units. */
    readonly amount: bigint;
    /** Seconds since the epoch. */
    readonly refundAfter: bigint;
  },
): Instruction {
  const data = new Uint8Array(113);
  const view = new DataView(data.buffer);
  const address = getAddressEncoder();
  data[0] = TAG.open;
  data.set(open.intentHash, 1);
  view.setBigUint64(33, open.amount, true);
  view.setBigInt64(41, open.refundAfter, true);
  data.set(address.encode(open.treasury), 49);
  data.set(address.encode(open.refundOwner), 81);
  return instruction(
    open,
    [
      signer(open.authority),
      payingSigner(open.payer),
      writable(open.escrow),
      readonly(open.vault),
      readonly(open.mint),
      readonly(SYSTEM_PROGRAM),
    ],
    data,
  );
}

export const captureInstruction = (
  capture: Of<'authority' | 'escrow' | 'vault' | 'treasuryAccount' | 'rentPayer'> & {
    /** A token account of the refund owner, or null: the excess then stays in the vault for a sweep. */
    readonly refundAccount: Address | null;
  },
): Instruction =>
  instruction(
    capture,
    [
      signer(capture.authority),
      writable(capture.escrow),
      writable(capture.vault),
      writable(capture.treasuryAccount),
      capture.refundAccount === null ? readonly(capture.programId) : writable(capture.refundAccount),
      writable(capture.rentPayer),
      readonly(TOKEN_PROGRAM),
    ],
    Uint8Array.of(TAG.capture),
  );

/** `authority` is the recorded one in any case; `refundAccount` is not looked at when the vault is empty. */
export const refundInstruction = (
  refund: Of<'authority' | 'escrow' | 'vault' | 'refundAccount' | 'rentPayer'> & {
    /** The authority signs. Without it the refund works once `refund_after` has passed, for anybody. */
    readonly byAuthority: boolean;
  },
): Instruction =>
  instruction(
    refund,
    [
      refund.byAuthority ? signer(refund.authority) : readonly(refund.authority),
      writable(refund.escrow),
      writable(refund.vault),
      writable(refund.refundAccount),
      writable(refund.rentPayer),
      readonly(TOKEN_PROGRAM),
    ],
    Uint8Array.of(TAG.refund),
  );

export const sweepInstruction = (sweep: Of<'escrow' | 'vault' | 'refundAccount' | 'rentPayer'>): Instruction =>
  instruction(
    sweep,
    [
      readonly(sweep.escrow),
      writable(sweep.vault),
      writable(sweep.refundAccount),
      writable(sweep.rentPayer),
      readonly(TOKEN_PROGRAM),
    ],
    Uint8Array.of(TAG.sweep),
  );

export const closeInstruction = (close: Of<'authority' | 'escrow' | 'vault' | 'rentPayer'>): Instruction =>
  instruction(
    close,
    [signer(close.authority), writable(close.escrow), readonly(close.vault), writable(close.rentPayer)],
    Uint8Array.of(TAG.close),
  );

/**
 * There must be no escrow at `escrow` any more. `intentId` names `refundOwner` (address.ts), who gets the rent of a vault
 * that was made again.
 */
export const recoverInstruction = (
  recover: Of<'escrow' | 'vault' | 'refundAccount' | 'refundOwner'> & { readonly intentId: string },
): Instruction =>
  instruction(
    recover,
    [
      readonly(recover.escrow),
      writable(recover.vault),
      writable(recover.refundAccount),
      writable(recover.refundOwner),
      readonly(TOKEN_PROGRAM),
    ],
    Uint8Array.of(TAG.recover, ...chainBytes(recover.intentId)),
  );

/**
 * The parties of one escrow, by the owners of token accounts. `programId` is the program that it is opened at; `payer`
 * pays the rent of what has to be created.
 */
interface EscrowParties extends Of<'payer' | 'escrow' | 'mint' | 'refundOwner'> {
  /** The payer of the rents at Open; default `payer`. */
  readonly rentPayer?: Address | undefined;
  /** Default: the associated token account of the refund owner. Another where that one is unusable. */
  readonly refundAccount?: Address | undefined;
  /**
   * `payer` opens the refund owner's token account where it is missing (default true). Its rent is a gift: the
   * refund owner can close it and keep that.
   */
  readonly opensRefundAccount?: boolean | undefined;
  /** A fresh reading of `observeEscrow`; see each function for what happens without it. */
  readonly observed?: ObservedEscrow | undefined;
}

interface AuthorityParties extends EscrowParties {
  readonly authority: Address;
}

/** The associated token program's own: creates the account of `owner`, or does nothing when it is there. */
function createTokenAccount(payer: Address, account: Address, owner: Address, mint: Address): Instruction {
  const others = [owner, mint, SYSTEM_PROGRAM, TOKEN_PROGRAM].map(readonly);
  return instruction(
    { programId: ASSOCIATED_TOKEN_PROGRAM },
    [payingSigner(payer), writable(account), ...others],
    Uint8Array.of(1),
  );
}

/**
 * Creates the vault, then the escrow. Signers: `authority` and `payer`, which may be the same. `refundAfter` has to be
 * ahead of the cluster's clock.
 */
export async function openInstructions(
  open: Omit<Parameters<typeof openInstruction>[0], 'escrow' | 'vault' | 'intentHash'> & { readonly intentId: string },
): Promise<Instruction[]> {
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
export async function captureInstructions(parties: AuthorityParties & { readonly treasury: Address }) {
  const { payer, mint, treasury, refundOwner, observed } = parties;
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
      ...(await vaultOf(parties)),
      treasuryAccount,
      refundAccount: pays ? refundAccount : null,
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
  const refundAccount = await refundAccountOf(parties);
  const { vault, rentPayer } = await vaultOf(parties);
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
  const { vault, rentPayer } = await vaultOf(parties);
  return [
    ...(parties.observed?.hasVault ? await sweepInstructions(parties) : []),
    closeInstruction({ ...parties, vault, rentPayer }),
  ];
}

/**
 * Sends what lies at the address of an escrow that does not exist (closed, or never opened) to the refund owner whom
 * its intent id names. No signer but the fee payer.
 */
export async function recoverInstructions(parties: EscrowParties & { readonly intentId: string }) {
  const { vault } = await vaultOf(parties);
  const refundAccount = await refundAccountOf(parties);
  return [
    ...createRefundAccount(parties, refundAccount, parties.observed?.held),
    recoverInstruction({ ...parties, vault, refundAccount }),
  ];
}

/** Sends what is above the amount (after the end: everything) to the refund owner. No signer but the fee payer. */
export async function sweepInstructions(parties: EscrowParties): Promise<Instruction[]> {
  const refundAccount = await refundAccountOf(parties);
  return [
    ...createRefundAccount(parties, refundAccount, parties.observed?.excess),
    sweepInstruction({ ...parties, ...(await vaultOf(parties)), refundAccount }),
  ];
}

const vaultOf = async ({ escrow, mint, rentPayer, payer }: EscrowParties) => ({
  vault: await associatedTokenAddress(escrow, mint),
  rentPayer: rentPayer ?? payer,
});

const refundAccountOf = async ({ refundAccount, refundOwner, mint }: EscrowParties): Promise<Address> =>
  refundAccount ?? (await associatedTokenAddress(refundOwner, mint));

/** The rent of a token account that holds nothing would be a gift to the refund owner, who can close it. */
function createRefundAccount(parties: EscrowParties, account: Address, moves: bigint | undefined): Instruction[] {
  const { observed, refundAccount, payer, refundOwner, mint } = parties;
  if (refundAccount !== undefined || moves === 0n || parties.opensRefundAccount === false) return [];
  if (observed !== undefined && observed.refundAccount !== 'missing') return [];
  return [createTokenAccount(payer, account, refundOwner, mint)];
}
