import type { Generated } from 'kysely';

/** A gateway's signature that was used, until nobody could take it for fresh. */
export interface SponsoredSignatureTable {
  /** Base58. */
  signature: string;
  expires_at_ms: number;
}

/** One code a wallet. */
export interface AffiliateTable {
  code: string;
  wallet: string;
  created_at_ms: number;
  /** When a journey was credited last: written first by whoever reads the balance, which makes the others wait. */
  credited_at_ms: number | null;
}

/** Money on its way to an affiliate, or paid; the effect of the same id moves it. */
export interface AffiliatePayoutTable {
  payout_id: string;
  code: string;
  wallet: string;
  amount: number;
  state: 'open' | 'paid';
  attempts: number;
  /** Why the last attempt paid nothing. */
  last_error: string | null;
  due_at_ms: number;
  lease_until_ms: Generated<number>;
  /** Raised with every lease; a pay-out names it right before it signs. */
  fence: Generated<number>;
  signature: string | null;
  created_at_ms: number;
  paid_at_ms: number | null;
}
