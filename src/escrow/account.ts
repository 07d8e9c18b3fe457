import { type Address, getAddressDecoder } from '@solana/kit';
import { associatedTokenAddress, type ChainAccount, type Cluster, TOKEN_PROGRAM, tokenIn } from '../solana/index.ts';

/** The layouts of an intent's escrow and of an authorization, by version (docs/escrow.md, State account). */
const LAYOUTS = { 1: { bytes: 272, kind: 'intent' }, 2: { bytes: 336, kind: 'authorization' } } as const;
const MAGIC = new TextEncoder().encode('FARELOCK');
const STATES = [undefined, 'open', 'captured', 'refunded'] as const;

export type EscrowAccount = IntentEscrow | AuthorizationEscrow;
export type IntentEscrow = ReturnType<typeof intentIn>;
export type AuthorizationEscrow = ReturnType<typeof authorizationIn>;

/** Decodes a state account of a known version, else null. Does not check its owner. */
export function decodeEscrow(address: Address, programId: Address, data: Uint8Array): EscrowAccount | null {
  const layout = data[8] === 1 || data[8] === 2 ? LAYOUTS[data[8]] : null;
  if (data.length !== layout?.bytes || !MAGIC.every((byte, index) => data[index] === byte)) return null;
  const state = STATES[data[9] ?? 0];
  if (state === undefined) return null;
  const read = readerOf(data);
  const base = { address, programId, state, ...baseIn(read) };
  return layout.kind === 'intent' ? intentIn(base, data, read) : authorizationIn(base, data, read);
}

type Reader = ReturnType<typeof readerOf>;

function readerOf(data: Uint8Array) {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const decoder = getAddressDecoder();
  return {
    flag: (offset: number): boolean => data[offset] === 1,
    u64: (offset: number): bigint => view.getBigUint64(offset, true),
    i64: (offset: number): bigint => view.getBigInt64(offset, true),
    addressAt: (offset: number): Address => decoder.decode(data, offset),
  };
}

const baseIn = ({ flag, u64, i64, addressAt }: Reader) => ({
  /** A refund ended it and found less than the amount: it was never paid, and may be closed at once. */
  neverFunded: flag(11),
  authority: addressAt(48),
  mint: addressAt(80),
  /** Owner of the token account that a capture pays: `payTo` of an authorization. */
  treasury: addressAt(112),
  /** Owner of the token account that a refund or a sweep pays: the payer of an authorization. */
  refundOwner: addressAt(144),
  /** Gets the rents back. */
  rentPayer: addressAt(176),
  vault: addressAt(208),
  /** Atomic units: what a capture takes, or the most that captures may take. */
  amount: u64(240),
  /** Seconds since the epoch; from then on anyone may refund. The capture deadline of an authorization. */
  refundAfter: i64(248),
  /** Seconds; 0 while open. */
  endedAt: i64(264),
});

interface Base extends ReturnType<typeof baseIn> {
  readonly address: Address;
  readonly programId: Address;
  readonly state: NonNullable<(typeof STATES)[number]>;
}

function intentIn(base: Base, data: Uint8Array, { flag, u64, i64 }: Reader) {
  const isPart = flag(12);
  return {
    ...base,
    kind: 'intent' as const,
    /** sha256(intent_id): a seed of `address`. */
    intentHash: data.slice(16, 48),
    /** Atomic units that the treasury got; a capture in part writes it over the time of opening. */
    captured: isPart ? u64(256) : base.state === 'captured' ? base.amount : 0n,
    /** Seconds; null after a capture in part. */
    openedAt: isPart ? null : i64(256),
  };
}

function authorizationIn(base: Base, data: Uint8Array, { u64, i64, addressAt }: Reader) {
  return {
    ...base,
    kind: 'authorization' as const,
    /** sha256 of payer, mint and terms: a seed of `address`. */
    salt: data.slice(16, 48),
    openedAt: i64(256),
    receiverAuthorizer: addressAt(272),
    captured: u64(304),
    refunded: u64(312),
    /** Seconds: refunds of what was captured end here. */
    refundDeadline: i64(320),
  };
}

/** Atomic units that the vault keeps for a capture; a sweep moves what is above. */
const keptBy = (escrow: EscrowAccount): bigint => {
  if (escrow.state !== 'open') return 0n;
  return escrow.kind === 'intent' ? escrow.amount : escrow.amount - escrow.captured;
};

export type AccountReader = Pick<Cluster, 'accounts'>;

/** Decodes an account's escrow; null if none of `programIds` owns it, because anybody can copy the bytes. */
export function escrowIn(account: ChainAccount | null | undefined, programIds: readonly Address[]) {
  if (!account || !programIds.includes(account.owner)) return null;
  return decodeEscrow(account.address, account.owner, account.data);
}

/** Reads an escrow from the cluster; null when there is none at `address`. @throws Problem `cluster_failed` */
export async function readEscrow(cluster: AccountReader, address: Address, programIds: readonly Address[]) {
  const [account] = await cluster.accounts([address]);
  return escrowIn(account, programIds);
}

export type ObservedEscrow = Awaited<ReturnType<typeof observeEscrow>>;

/** Reads an escrow, its vault and its refund account. Needed for each attempt: anybody may send to the vault. */
export async function observeEscrow(
  cluster: AccountReader,
  at: { readonly escrow: Address; readonly mint: Address; readonly refundOwner: Address; readonly programId: Address },
) {
  const [state, vault, refund] = await cluster.accounts([
    at.escrow,
    await associatedTokenAddress(at.escrow, at.mint),
    await associatedTokenAddress(at.refundOwner, at.mint),
  ]);
  const escrow = escrowIn(state, [at.programId]);
  const held = tokenIn(vault)?.amount ?? 0n;
  const keeps = escrow ? keptBy(escrow) : 0n;
  const token = tokenIn(refund);
  const usable = token?.owner === at.refundOwner && token.state === 'initialized';
  // An address that only holds lamports has no token account yet, and the associated token program can make one.
  const missing = !refund || refund.data.length === 0;
  return {
    escrow,
    /** True if a token account is at the vault's address; after the end anybody may have created it again. */
    hasVault: vault?.owner === TOKEN_PROGRAM,
    /** Atomic units in the vault; 0 when it does not exist. */
    held,
    /** The amount that a sweep would move: the excess while open, everything after the end. */
    excess: held > keeps ? held - keeps : 0n,
    /** The associated token account of the refund owner. `unusable`: given away, or frozen. */
    refundAccount: usable ? ('usable' as const) : missing ? ('missing' as const) : ('unusable' as const),
  };
}
