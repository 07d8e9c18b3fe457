import type { Address } from '@solana/kit';
import type { Signer } from '../solana/index.ts';

export interface SeenKeys {
  /** Every address that the duty ever had. */
  readonly all: readonly Address[];
  /** Those that are not retired, with those that the database does not know: it may have been put back. */
  readonly live: readonly Address[];
  /** The current one, and older ones that are still alive. */
  readonly signing: readonly Address[];
}

/** The keys of one duty: one that signs what is new, and, while they rotate, others beside it. */
export interface OperatorKeys {
  /** Rows from before a rotation name no key, and mean the first one. */
  readonly first: Address;
  /** As this process saw them last. */
  seen(): SeenKeys;
  /** As the database has them now. */
  look(): Promise<SeenKeys>;
  /** True where the key is here, and not retired as this process saw it last. */
  has(address: Address): boolean;
  /** @throws Problem `operator_key_unusable` */
  signer(address: Address): Signer;
}

/** A key that never rotated. */
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
  /** Opens new escrows, and pays for every act. */
  readonly authority: Signer;
  /** Absent: it never rotated. */
  readonly authorities?: OperatorKeys | undefined;
}

export const authoritiesOf = ({ authority, authorities }: Authorities): OperatorKeys =>
  authorities ?? oneKey(authority);
