import type { Address } from '@solana/kit';
import type { AuthorizationTerms } from '../escrow/index.ts';
import type { HttpRequest, HttpResponse } from '../kernel/http.ts';

/** The price of a paid call (CONTRACT, section 2). */
export interface PaymentTerms {
  /** Atomic units of `asset`; found out for a challenge alone where that takes a look. */
  readonly amount: bigint | (() => Promise<bigint>);
  /** Owner of the token account that is paid: the treasury, or an escrow's PDA. */
  readonly payTo: string;
  readonly asset: string;
  readonly description: string;
  /** The authorization that pays it instead (x402's `auth-capture`); null: none can. Asked for where a client wants it. */
  readonly authorization?: (() => Promise<AuthorizationAsked | null>) | undefined;
}

export interface AuthorizationAsked extends AuthorizationTerms {
  readonly programId: Address;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** For `settle: 'after'`, uncharged. `not_yet`: the payment may ask again. `never`: it ends with this answer. */
  readonly charged?: 'not_yet' | 'never' | undefined;
}

/** A payment by its transaction, known to `perform` before (`verified`) or after (`settled`) settlement. */
export interface Payment {
  /** The payer's signature of the transaction: one payment, one key. */
  readonly key: string;
  readonly payer: string;
  readonly amount: bigint;
}

export interface Asker {
  readonly payer: string | null;
}

/** A paid call of `resource` (method, path). `request` is all that decides the answer: payments are bound to it. */
export interface PaidCall {
  readonly resource: string;
  readonly url: string;
  readonly request: unknown;
  /** How it is asked, for indexes of paid services (`bazaar` of x402). */
  discovery?(): Promise<object>;
  /** The price, or a free refusal; also for unpaid requests. Costly checks may wait for the check made for a payer. */
  check(asker: Asker): Promise<PaymentTerms>;
  /** Records what must precede the money, after verification; runs again when the process that ran it died. */
  prepare?(payment: Payment): Promise<void>;
  /** `after`: perform -> settle. `before`: settle -> perform; perform may then run again for the same payment. */
  readonly settle: 'after' | 'before';
  perform(payment: Payment): Promise<Answer>;
  /** Undoes `prepare` and `perform`, also half done, of a payment that will never be charged. May run several times. */
  undo?(payment: Payment): Promise<void>;
}

/** Answers a request to a paid path: 402 with a challenge, a refusal, or the paid answer, once (payments/paywall.ts). */
export interface Paywall {
  charge(request: HttpRequest, call: PaidCall): Promise<HttpResponse>;
  /** The outcome of a payment, for recovery; rebroadcasts bytes of an interrupted settlement that can land. */
  outcome(paymentKey: string): Promise<'settled' | 'failed' | 'unknown'>;
}
