import { type Address, getAddressDecoder } from '@solana/kit';
import type { ChainAccount, Cluster } from '../solana/index.ts';

type EscrowState = 'open' | 'captured' | 'refunded';

/** The terms that Open freezes and a traveller checks before paying (docs/escrow.md). */
interface EscrowTerms {
  readonly programId: Address;
  readonly authority: Address;
  readonly mint: Address;
  /** Atomic units. */
  readonly amount: bigint;
  /** Seconds since the epoch; from then on anyone may refund. */
  readonly refundAfter: bigint;
  /** Owner of the token account that a capture pays. */
  readonly treasury: Address;
  /** Owner of the token account that a refund or a sweep pays. */
  readonly refundOwner: Address;
}

/** The state account, read from the cluster. */
export interface EscrowAccount extends EscrowTerms {
  readonly address: Address;
  /** Associated token account of `address`. */
  readonly vault: Address;
  readonly state: EscrowState;
  /** It ended by a refund that found less than the amount: it was never paid, and is closed at once. */
  readonly neverFunded: boolean;
  /** sha256(intent_id): a seed of `address`. */
  readonly intentHash: Uint8Array;
  /** Gets the rents back. */
  readonly rentPayer: Address;
  readonly openedAt: bigint;
  /** Seconds; 0 while open. */
  readonly endedAt: bigint;
}

/** All that reading an escrow needs of a cluster. */
export type AccountReader = Pick<Cluster, 'accounts'>;

/** Version 1 of the layout (docs/escrow.md, State account). */
const ESCROW_ACCOUNT_SIZE = 272;

const MAGIC = new TextEncoder().encode('FARELOCK');
const VERSION = 1;
const STATES: readonly (EscrowState | undefined)[] = [undefined, 'open', 'captured', 'refunded'];

/** null when the bytes are not a state account of a version that is known here. Says nothing of their owner. */
export function decodeEscrow(address: Address, programId: Address, data: Uint8Array): EscrowAccount | null {
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
    neverFunded: data[11] === 1,
    intentHash: data.slice(16, 48),
    authority: addressAt(48),
    mint: addressAt(80),
    treasury: addressAt(112),
    refundOwner: addressAt(144),
    rentPayer: addressAt(176),
    vault: addressAt(208),
    amount: view.getBigUint64(240, true),
    refundAfter: view.getBigInt64(248, true),
    openedAt: view.getBigInt64(256, true),
    endedAt: view.getBigInt64(264, true),
  };
}

/** The escrow in an account, or null when the account is not one of `programIds`: anybody can copy the bytes. */
export function escrowIn(
  account: ChainAccount | null | undefined,
  programIds: readonly Address[],
): EscrowAccount | null {
  if (!account || !programIds.includes(account.owner)) return null;
  return decodeEscrow(account.address, account.owner, account.data);
}

/**
 * Reads an escrow from the cluster; null when there is none at `address`.
 * @throws Problem `cluster_failed`
 */
export async function readEscrow(
  cluster: AccountReader,
  address: Address,
  programIds: readonly Address[],
): Promise<EscrowAccount | null> {
  const [account] = await cluster.accounts([address]);
  return escrowIn(account, programIds);
}
