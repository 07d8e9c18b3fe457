import { type Address, getAddressDecoder } from '@solana/kit';
import type { ChainAccount, Cluster } from '../solana/cluster.ts';
import type { EscrowAccount, EscrowState } from './terms.ts';

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
