import {
  type Address,
  getAddressDecoder,
  getAddressEncoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Instruction,
} from '@solana/kit';
import { ASSOCIATED_TOKEN_PROGRAM, associatedTokenAddress, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../solana/index.ts';
import type { ObservedEscrow } from './account.ts';
import { chainBytes, escrowPlace, intentHashOf } from './address.ts';
import {
  createTokenAccount,
  expectedBytes,
  instruction,
  type Of,
  payingSigner,
  readonly,
  signer,
  TAG,
  writable,
} from './instruction.ts';

/**
 * The escrow program's instructions for intents (docs/escrow.md); authorization.ts has those for authorizations.
 * Instructions only name their signers; the caller has the keys.
 */

export interface SeenInstruction {
  readonly program: Address;
  readonly accounts: readonly Address[];
  readonly data: Uint8Array;
}

const NAMES = ['open_escrow', 'capture', 'refund', 'sweep', 'close_escrow', 'sweep', null, 'capture'] as const;
/** The escrow's place among the accounts. */
const ESCROW_AT = [2, 1, 1, 0, 1, 0, 2, 1] as const;
/** The length of the data. */
const BYTES = [113, 1, 1, 1, 1, 31, 0, 34] as const;
/** The length of a void, which names the amounts that it expects. */
const VOID_BYTES = 25;

/** Finds by its form what an instruction of any escrow program does; null for another form. */
export function escrowActOf({ program, accounts, data }: SeenInstruction) {
  // Its instructions are one byte long, too.
  if (program === ASSOCIATED_TOKEN_PROGRAM) return null;
  const tag = data[0] ?? NAMES.length;
  const [kind, escrow] = [NAMES[tag], accounts[ESCROW_AT[tag] ?? 0]];
  const isOne = data.length === BYTES[tag] || (tag === TAG.refund && data.length === VOID_BYTES);
  if (!kind || !escrow || !isOne) return null;
  /** Atomic units that a capture in part takes. */
  const takes = tag === TAG.capturePart ? Buffer.from(data).readBigUInt64LE(1) : undefined;
  return { kind, escrow, takes };
}

const OPEN_BYTES = 113;

/** The terms with which a transaction opened an escrow; null for another transaction. */
export function openedIn(transaction: Uint8Array, escrow: Address, programId: Address) {
  const { messageBytes } = getTransactionDecoder().decode(transaction);
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
  const all = message.staticAccounts;
  for (const { programAddressIndex, accountIndices = [], data } of 'instructions' in message
    ? message.instructions
    : []) {
    const [authority, , opened, , mint] = accountIndices.map((index) => all[index]);
    const isOpen = data?.[0] === TAG.open && data.length === OPEN_BYTES && opened === escrow;
    if (!isOpen || all[programAddressIndex] !== programId || !authority || !mint) continue;
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const [amount, refundAfter] = [view.getBigUint64(33, true), view.getBigInt64(41, true)];
    const decoder = getAddressDecoder();
    return {
      authority,
      mint,
      amount,
      refundAfter,
      treasury: decoder.decode(data, 49),
      refundOwner: decoder.decode(data, 81),
    };
  }
  return null;
}

/** `payer` lends the rents until the end. `vault` must be empty. `treasury` and `refundOwner` are wallets. */
export function openInstruction(
  open: Of<'authority' | 'payer' | 'escrow' | 'vault' | 'mint' | 'treasury' | 'refundOwner'> & {
    readonly intentHash: Uint8Array;
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
  return instruction(open, data, [
    signer(open.authority),
    payingSigner(open.payer),
    writable(open.escrow),
    readonly(open.vault),
    readonly(open.mint),
    readonly(SYSTEM_PROGRAM),
  ]);
}

export const captureInstruction = (
  capture: Of<'authority' | 'escrow' | 'vault' | 'treasuryAccount' | 'rentPayer'> & {
    /** A token account of the refund owner, or null: the excess then stays in the vault for a sweep. */
    readonly refundAccount: Address | null;
  },
): Instruction =>
  instruction(capture, Uint8Array.of(TAG.capture), [
    signer(capture.authority),
    writable(capture.escrow),
    writable(capture.vault),
    writable(capture.treasuryAccount),
    capture.refundAccount === null ? readonly(capture.programId) : writable(capture.refundAccount),
    writable(capture.rentPayer),
    readonly(TOKEN_PROGRAM),
  ]);

/** Captures a part of an intent's escrow before `refund_after`, releases the rest, and ends it. */
export const capturePartInstruction = (
  capture: Parameters<typeof captureInstruction>[0] & {
    /** Atomic units to the treasury, less than `total`. */
    readonly amount: bigint;
    /** The amount of the escrow. */
    readonly total: bigint;
  },
): Instruction => {
  const data = Uint8Array.of(...new Uint8Array(9), 1, ...expectedBytes({ capturable: capture.total, refundable: 0n }));
  data[0] = TAG.capturePart;
  new DataView(data.buffer).setBigUint64(1, capture.amount, true);
  return { ...captureInstruction(capture), data };
};

/** `authority` is the recorded one in any case; `refundAccount` is not looked at when the vault is empty. */
export const refundInstruction = (
  refund: Of<'authority' | 'escrow' | 'vault' | 'refundAccount' | 'rentPayer'> & {
    /** True if the authority signs. Without it anybody can refund, once `refund_after` has passed. */
    readonly byAuthority: boolean;
  },
): Instruction =>
  instruction(refund, Uint8Array.of(TAG.refund), [
    refund.byAuthority ? signer(refund.authority) : readonly(refund.authority),
    writable(refund.escrow),
    writable(refund.vault),
    writable(refund.refundAccount),
    writable(refund.rentPayer),
    readonly(TOKEN_PROGRAM),
  ]);

export const sweepInstruction = (sweep: Of<'escrow' | 'vault' | 'refundAccount' | 'rentPayer'>): Instruction =>
  instruction(sweep, Uint8Array.of(TAG.sweep), [
    readonly(sweep.escrow),
    writable(sweep.vault),
    writable(sweep.refundAccount),
    writable(sweep.rentPayer),
    readonly(TOKEN_PROGRAM),
  ]);

export const closeInstruction = (close: Of<'authority' | 'escrow' | 'vault' | 'rentPayer'>): Instruction =>
  instruction(close, Uint8Array.of(TAG.close), [
    signer(close.authority),
    writable(close.escrow),
    readonly(close.vault),
    writable(close.rentPayer),
  ]);

/** No escrow may exist at `escrow`. `intentId` names `refundOwner`, who gets the rent of a vault made again. */
export const recoverInstruction = (
  recover: Of<'escrow' | 'vault' | 'refundAccount' | 'refundOwner'> & { readonly intentId: string },
): Instruction =>
  instruction(recover, Uint8Array.of(TAG.recover, ...chainBytes(recover.intentId)), [
    readonly(recover.escrow),
    writable(recover.vault),
    writable(recover.refundAccount),
    writable(recover.refundOwner),
    readonly(TOKEN_PROGRAM),
  ]);

/** The parties of one escrow, by their wallets. `payer` pays the rent of accounts that have to be created. */
interface EscrowParties extends Of<'payer' | 'escrow' | 'mint' | 'refundOwner'> {
  /** The payer of the rents at Open; default `payer`. */
  readonly rentPayer?: Address | undefined;
  /** Default: the associated token account of the refund owner. Another if that one is unusable. */
  readonly refundAccount?: Address | undefined;
  /** `payer` opens a missing refund account (default true): a gift, as the owner can close it and keep the rent. */
  readonly opensRefundAccount?: boolean | undefined;
  /** A fresh reading of `observeEscrow`; see each function for what happens without it. */
  readonly observed?: ObservedEscrow | undefined;
}

interface AuthorityParties extends EscrowParties {
  readonly authority: Address;
}

/** Creates vault, then escrow. Signers: `authority`, `payer`. `refundAfter` must be ahead of the cluster's clock. */
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
 * Captures the amount to the treasury's token account, created when missing. Signer: `authority`. A surplus goes to the
 * refund owner's account if that is usable, else stays for a sweep: no owner can block it (docs/escrow.md, Capture).
 */
export async function captureInstructions(
  parties: AuthorityParties & {
    readonly treasury: Address;
    /** Captures only this much, before `refund_after`, and releases the rest (docs/escrow.md, CapturePart). */
    readonly part?: { readonly amount: bigint; readonly total: bigint } | undefined;
  },
) {
  const { payer, mint, treasury, refundOwner, observed } = parties;
  const treasuryAccount = await associatedTokenAddress(treasury, mint);
  const refundAccount = await refundAccountOf(parties);
  const opens = parties.opensRefundAccount !== false;
  const releases = parties.part !== undefined || (observed?.excess ?? 0n) > 0n;
  const creates = opens && observed?.refundAccount === 'missing' && releases;
  const pays = creates || observed?.refundAccount === 'usable';
  const vault = await vaultOf(parties);
  const accounts = { ...parties, ...vault, treasuryAccount, refundAccount: pays ? refundAccount : null };
  return [
    createTokenAccount(payer, treasuryAccount, treasury, mint),
    ...(creates ? [createTokenAccount(payer, refundAccount, refundOwner, mint)] : []),
    parties.part === undefined
      ? captureInstruction(accounts)
      : capturePartInstruction({ ...accounts, ...parties.part }),
  ];
}

/**
 * Refunds the whole vault. Signer: `authority`, unless `byAuthority` is false (after `refund_after`). A missing refund
 * account is created when money goes there, or nothing was observed. `closes` also closes an escrow never paid.
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

/** Closes an ended escrow. Signer: `authority`. A vault that was made again is in the way, and swept first. */
export async function closeInstructions(parties: AuthorityParties): Promise<Instruction[]> {
  const { vault, rentPayer } = await vaultOf(parties);
  return [
    ...(parties.observed?.hasVault ? await sweepInstructions(parties) : []),
    closeInstruction({ ...parties, vault, rentPayer }),
  ];
}

/** Sends money at a closed or unopened escrow to the refund owner that the intent id names. Signer: the fee payer. */
export async function recoverInstructions(parties: EscrowParties & { readonly intentId: string }) {
  const { vault } = await vaultOf(parties);
  const refundAccount = await refundAccountOf(parties);
  return [
    ...createRefundAccount(parties, refundAccount, parties.observed?.held),
    recoverInstruction({ ...parties, vault, refundAccount }),
  ];
}

/** Sends any excess (after the end: everything) to the refund owner. No signer but the fee payer. */
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

/** Creates a missing refund account only for money: the rent of an empty one would be a gift to its owner. */
function createRefundAccount(parties: EscrowParties, account: Address, moves: bigint | undefined): Instruction[] {
  const { observed, refundAccount, payer, refundOwner, mint } = parties;
  if (refundAccount !== undefined || moves === 0n || parties.opensRefundAccount === false) return [];
  if (observed !== undefined && observed.refundAccount !== 'missing') return [];
  return [createTokenAccount(payer, account, refundOwner, mint)];
}
