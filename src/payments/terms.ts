import type { HttpRequest, HttpResponse } from '../kernel/http.ts';

/** What a paid call costs, and how its steps are ordered (CONTRACT, section 2). */
export interface PaymentTerms {
  /** Atomic units of `asset`; found out for a challenge alone where that takes a look. */
  readonly amount: bigint | (() => Promise<bigint>);
  /** Owner of the token account that is paid: the treasury, or an escrow's PDA. */
  readonly payTo: string;
  readonly asset: string;
  readonly description: string;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /**
   * For `settle: 'after'` alone, where nothing is charged. `not_yet`: the work is not done, and the same payment may
   * ask again for as long as its quote lives. `never`: it came to nothing, and the payment ends with this answer.
   */
  readonly charged?: 'not_yet' | 'never' | undefined;
}

/** Who paid, as the transaction says: known to `perform` before (`verified`) or after (`settled`) settlement. */
export interface Payment {
  /** The payer's signature of the transaction: one payment, one key. */
  readonly key: string;
  readonly payer: string;
  readonly amount: bigint;
}

/** Whom a check is made for: nobody known, or the payer of a payment that was verified. */
export interface Asker {
  readonly payer: string | null;
}

/**
 * A paid call. `resource` is the method and path (`POST /air/search`); `request` is everything that decides the
 * answer (parsed body, headers that matter): a payment is bound to its digest.
 */
export interface PaidCall {
  readonly resource: string;
  readonly url: string;
  readonly request: unknown;
  /**
   * Refusals that cost nothing, and the price. Runs for unpaid requests too; not again once a payment settled. What is
   * dear to find out may be left to the check that is made for a payer.
   */
  check(asker: Asker): Promise<PaymentTerms>;
  /**
   * Runs after verification and before settlement: what must be on record before money moves. Like `perform`, it
   * runs again for the same payment when the process that ran it died.
   */
  prepare?(payment: Payment): Promise<void>;
  /** `after`: perform -> settle. `before`: settle -> perform; perform may then run again for the same payment. */
  readonly settle: 'after' | 'before';
  perform(payment: Payment): Promise<Answer>;
  /**
   * Undoes `prepare` and `perform`, also half done, of a payment that will never be charged: they failed before
   * settlement, or settlement failed for certain. May run several times for one payment.
   */
  undo?(payment: Payment): Promise<void>;
}

/** Answers a request to a paid path: 402 with a challenge, a refusal, or the paid answer, once (payments/paywall.ts). */
export interface Paywall {
  charge(request: HttpRequest, call: PaidCall): Promise<HttpResponse>;
  /**
   * What became of a payment, asked by recovery: settles the outcome of one that was being settled when its process
   * died (rebroadcasts the same bytes while they can land).
   */
  outcome(paymentKey: string): Promise<'settled' | 'failed' | 'unknown'>;
}
