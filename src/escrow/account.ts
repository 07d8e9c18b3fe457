import { type Address, getAddressDecoder } from '@solana/kit';
import { associatedTokenAddress, type ChainAccount, type Cluster, TOKEN_PROGRAM, tokenIn } from '../solana/index.ts';

/** Version 1 of the layout (docs/escrow.md, State account). */
const ESCROW_ACCOUNT_SIZE = 272;
const MAGIC = new TextEncoder().encode('FARELOCK');
const VERSION = 1;
const STATES = [undefined, 'open', 'captured', 'refunded'] as const;

export type EscrowAccount = NonNullable<ReturnType<typeof decodeEscrow>>;

/** Reads the bytes of a state account; null where they are not one of a known version. Says nothing of their owner. */
export function decodeEscrow(address: Address, programId: Address, data: Uint8Array) {
  if (data.length !== ESCROW_ACCOUNT_SIZE || data[8] !== VERSION) return null;
  if (!MAGIC.every((byte, index) => data[index] === byte)) return null;
  const state = STATES[data[9] ?? 0];
  if (state === undefined) return null;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const decoder = getAddressDecoder();
  const addressAt = (offset: number): Address => decoder.decode(data, offset);
  return {
    address,
    programId,
    state,
    /** A refund ended it and found less than the amount: it was never paid, and is closed at once. */
    neverFunded: data[11] === 1,
    /** sha256(intent_id): a seed of `address`. */
    intentHash: data.slice(16, 48),
    authority: addressAt(48),
    mint: addressAt(80),
    /** Owner of the token account that a capture pays. */
    treasury: addressAt(112),
    /** Owner of the token account that a refund or a sweep pays. */
    refundOwner: addressAt(144),
    /** Gets the rents back. */
    rentPayer: addressAt(176),
    vault: addressAt(208),
    /** Atomic units. */
    amount: view.getBigUint64(240, true),
    /** Seconds since the epoch; from then on anyone may refund. */
    refundAfter: view.getBigInt64(248, true),
    openedAt: view.getBigInt64(256, true),
    /** Seconds; 0 while open. */
    endedAt: view.getBigInt64(264, true),
  };
}

export type AccountReader = Pick<Cluster, 'accounts'>;

/** The escrow in an account; null where its owner is not one of `programIds`, because anybody can copy the bytes. */
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

/** Reads an escrow, its vault and its refund account. Read again for each attempt: anybody may send to the vault. */
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
  const keeps: bigint = escrow?.state === 'open' ? escrow.amount : 0n;
  const token = tokenIn(refund);
  const usable = token?.owner === at.refundOwner && token.state === 'initialized';
  // An address that only holds lamports has no token account yet, and the associated token program can make one.
  const missing = !refund || refund.data.length === 0;
  return {
    escrow,
    /** There is a token account at the vault's address; after the end anybody may have created it again. */
    hasVault: vault?.owner === TOKEN_PROGRAM,
    /** Atomic units in the vault; 0 when it does not exist. */
    held,
    /** The amount that a sweep would move: the excess while open, everything after the end. */
    excess: held > keeps ? held - keeps : 0n,
    /** The associated token account of the refund owner. `unusable`: given away, or frozen. */
    refundAccount: usable ? ('usable' as const) : missing ? ('missing' as const) : ('unusable' as const),
  };
}
