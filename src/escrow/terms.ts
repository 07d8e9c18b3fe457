import type { Address } from '@solana/kit';

export type EscrowState = 'open' | 'captured' | 'refunded';

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
