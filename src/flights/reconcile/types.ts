import type { Address, Signature } from '@solana/kit';

/** An act of ours on the chain whose row the database lacks. */
export type ChainAct = { readonly signature: Signature; readonly atMs: number } & (
  | { readonly kind: EscrowActKind; readonly escrow: Address; readonly takes?: bigint | undefined }
  | { readonly kind: 'payout'; readonly memo: string; readonly account: Address; readonly amount: bigint }
);
export type EscrowActKind = 'open_escrow' | 'capture' | 'refund' | 'sweep' | 'close_escrow';
/** An authorization that an intent's payer opened, and the escrow that we opened for the same intent. */
export interface SeenAuthorization {
  readonly escrow: Address;
  readonly opened: Address;
}

export type EscrowAct = Extract<ChainAct, { kind: EscrowActKind }>;
export type PayoutAct = Extract<ChainAct, { kind: 'payout' }>;

/** A customer's payment that landed and has no row. */
export interface LandedPayment {
  readonly signature: Signature;
  /** The payer's signature (base58), which is the key of a payment. */
  readonly key: string;
  readonly payer: Address;
  readonly memo: string;
  readonly amount: bigint;
  readonly atMs: number;
}

export type FindingKind =
  | 'escrow_acts'
  | 'captured'
  | 'refunded'
  | 'booking_forgotten'
  | 'order_forgotten'
  | 'order_adopted'
  | 'order_unknown'
  | 'escrow_unknown'
  | 'refund_paid'
  | 'affiliate_paid'
  | 'payout_unknown'
  | 'payment_unknown';

/** `carried_on`: the service goes on from there. `noted`: only recorded. `person`: a person decides. */
export type Outcome = 'carried_on' | 'noted' | 'person';

export interface Finding {
  readonly kind: FindingKind;
  /** An intent, an escrow, an order, a pay-out or a payment. */
  readonly subject: string;
  readonly state: string | null;
  /** Atomic units. */
  readonly amount: bigint | null;
  readonly transaction: string | null;
  readonly outcome: Outcome;
  /** Tells a person what to do. */
  readonly todo: string | null;
}

export interface Reconciling {
  /** Only looks, and changes nothing. */
  readonly isDryRun: boolean;
  /** Looks back to this time (epoch ms), instead of the one that the database suggests. */
  readonly sinceMs?: number | undefined;
}

export interface Reconciled {
  readonly sinceMs: number;
  readonly findings: readonly Finding[];
}
