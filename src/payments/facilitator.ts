import type { Settlement } from './journal.ts';
import type { SentPayment } from './payload.ts';
import type { Requirements } from './quotes.ts';

export type Verdict =
  | { readonly valid: true; readonly payer: string; readonly lastValidBlockHeight: number }
  | { readonly valid: false; readonly reason: string };

/** What the journal keeps before anything is sent. */
interface SealedPayment {
  /** What will be sent, and sent again after a crash, as text. */
  readonly transaction: string;
  /** null where a remote facilitator signs: its signature is not known beforehand. */
  readonly signature: string | null;
}

/** `failed` and `settled` are for certain. */
export type Outcome =
  | { readonly kind: 'settled'; readonly transaction: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'unknown' };

export interface Facilitator {
  /** @throws Problem `cluster_failed`, `payment_pending` when it can't be told now: the payment is neither good nor bad. */
  verify(sent: SentPayment, requirements: Requirements): Promise<Verdict>;
  /** Adds our signature. Touches nothing outside. */
  seal(sent: SentPayment, requirements: Requirements): SealedPayment;
  /** Sends a payment that is in the journal, for the first time. */
  send(row: Settlement): Promise<Outcome>;
  /** What became of a payment that may have been sent; sends the same bytes again while they can still land. */
  resolve(row: Settlement): Promise<Outcome>;
}
