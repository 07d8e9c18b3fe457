import type { Address } from '@solana/kit';
import type { AuthorizationTerms } from '../escrow/index.ts';
import type { HttpRequest, HttpResponse } from '../kernel/http.ts';

/** The price of a paid call (CONTRACT, section 2). */
export interface PaymentTerms {
  /** Atomic units of `asset`; a function if it has to be looked up, which only a challenge needs. */
  readonly amount: bigint | (() => Promise<bigint>);
  /** Owner of the token account that is paid: the treasury, or an escrow's PDA. */
  readonly payTo: string;
  readonly asset: string;
  readonly description: string;
  /** The authorization that may pay instead (x402's `auth-capture`), null if none; called only on request. */
  readonly authorization?: (() => Promise<AuthorizationAsked | null>) | undefined;
}

export interface AuthorizationAsked extends AuthorizationTerms {
  readonly programId: Address;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** Not charged (`settle: 'after'` only). `not_yet`: the payment may ask again. `never`: it ends with this answer. */
  readonly charged?: 'not_yet' | 'never' | undefined;
}

/** A payment as a call sees it: verified, and settled too if the call settles `before` it performs. */
export interface Payment {
  /** The payer's signature of the transaction: one payment, one key. */
  readonly key: string;
  readonly payer: string;
  readonly amount: bigint;
}

export interface Asker {
  readonly payer: string | null;
}

/** A paid call of `resource` (method, path). Payments are bound to `request`, which alone decides the answer. */
export interface PaidCall {
  readonly resource: string;
  readonly url: string;
  readonly request: unknown;
  /** Describes the call for indexes of paid services (x402's `bazaar`). */
  discovery?(): Promise<object>;
  /** Returns the price, or refuses at no charge. Unpaid requests have no payer yet: costly checks may wait for one. */
  check(asker: Asker): Promise<PaymentTerms>;
  /** Records what must precede the charge, after verification. Runs again if its process died. */
  prepare?(payment: Payment): Promise<void>;
  /** `after`: perform -> settle. `before`: settle -> perform; perform may then run again for the same payment. */
  readonly settle: 'after' | 'before';
  perform(payment: Payment): Promise<Answer>;
  /** Undoes `prepare` and `perform`, even half done, if the payment will never be charged. May run several times. */
  undo?(payment: Payment): Promise<void>;
}

/** Answers a request to a paid path with a challenge (402), a refusal, or the paid answer (payments/paywall.ts). */
export interface Paywall {
  charge(request: HttpRequest, call: PaidCall): Promise<HttpResponse>;
  /** Finds the outcome of a payment, for recovery; resends bytes of an interrupted settlement that can still land. */
  outcome(paymentKey: string): Promise<'settled' | 'failed' | 'unknown'>;
}
