import type { Address } from '@solana/kit';
import type { Signer } from '../solana/index.ts';

export interface SeenKeys {
  /** Every address that the duty has ever had. */
  readonly all: readonly Address[];
  /** All but the retired ones. Includes keys that the database does not know, as after the restore of a backup. */
  readonly live: readonly Address[];
  /** The current address, and older ones that are not retired. */
  readonly signing: readonly Address[];
}

/** The keys of one duty: the current one signs what is new; during a rotation there are others beside it. */
export interface OperatorKeys {
  /** The first key: rows from before any rotation name no key and mean this one. */
  readonly first: Address;
  /** The keys as this process last read them. */
  seen(): SeenKeys;
  /** Reads the keys from the database. */
  look(): Promise<SeenKeys>;
  /** True if the key is in this home and was not retired when last read. */
  has(address: Address): boolean;
  /** @throws Problem `operator_key_unusable` */
  signer(address: Address): Signer;
}

/** Wraps a key that has never rotated. */
export function oneKey(key: Signer): OperatorKeys {
  const seen = { all: [key.address], live: [key.address], signing: [key.address] };
  return {
    first: key.address,
    seen: () => seen,
    look: async () => seen,
    has: (address) => address === key.address,
    signer: () => key,
  };
}

interface Authorities {
  /** Opens new escrows, and pays for every operation on one. */
  readonly authority: Signer;
  /** Absent if the key has never rotated. */
  readonly authorities?: OperatorKeys | undefined;
}

export const authoritiesOf = ({ authority, authorities }: Authorities): OperatorKeys =>
  authorities ?? oneKey(authority);
