import type { HttpHeaders } from '../kernel/http.ts';
import type { ProblemCode } from '../kernel/problems.ts';
import type { Secrets } from '../kernel/secrets.ts';
import type { Cluster, Signer } from '../solana/index.ts';
import type { Accepted, Place } from './auth-capture-terms.ts';
import type { SentTransaction } from './inspection.ts';
import type { Settlement } from './journal.ts';
import type { OperatorKeys } from './operator-keys.ts';
import type { Quote } from './quotes.ts';
import type { AuthorizationAsked } from './terms.ts';

/** A quote, with what a payment of it names beside its terms. */
export interface Demand {
  readonly quote: Quote;
  readonly network: string;
  readonly feePayer: string;
}

export interface Refusal {
  readonly code: ProblemCode & `payment_${string}`;
  readonly reason: string;
}

/** A challenge, before a protocol puts it into its own words. */
export interface Offer extends Demand {
  readonly url: string;
  readonly description: string;
  readonly refusal: Refusal;
  readonly discovery?: object | undefined;
  /** The authorization that may pay instead, with the fee payer of such payments; null: none can. */
  authorization(): Promise<{ readonly asked: AuthorizationAsked; readonly feePayer: string } | null>;
}

export interface Challenge {
  readonly headers: HttpHeaders;
  readonly body?: object;
}

/** The terms of an authorization as a payment names them, and the place that they have on chain. */
export interface SentAuthorization {
  readonly accepted: Accepted;
  readonly place: Place;
}

/** A payment that could be read. Nothing of its transaction has been verified. */
export interface SentPayment extends SentTransaction {
  readonly protocol: Protocol;
  /** The header that brought it. */
  readonly header: string;
  /** The quote that it names. It never reaches the chain: only a client that repeats it gets an answer again. */
  readonly quoteId: string | null;
  /** The client's own name of the payment, where it gives one. */
  readonly paymentId: string | null;
  /** The authorization that it opens, where it is no transfer. */
  readonly authorization: SentAuthorization | null;
  /** True when the terms that it repeats are those of the demand. */
  agreesTo(demand: Demand, url: string): boolean;
}

/** What protocols need of a paywall. */
export interface ProtocolPorts {
  readonly secrets: Secrets;
  readonly cluster: Cluster;
  readonly feePayer: Signer;
  readonly feePayers?: OperatorKeys | undefined;
}

/** An answer to a payment, before its receipt. */
export interface Answered {
  readonly row: Settlement;
  readonly sent: SentPayment;
  readonly status: number;
  /** The address that it was asked at. */
  readonly url: string;
}

/** A way to say a price in headers, and to be paid by one. */
export interface Protocol {
  readonly name: 'x402' | 'mpp';
  isIn(headers: HttpHeaders): boolean;
  /** @returns why it is no payment, as text @throws Problem `invalid_payment_signature` */
  read(headers: HttpHeaders, ports: ProtocolPorts): Promise<SentPayment | string>;
  /** Headers of a 402, and its body where the protocol has one. */
  challenge(offer: Offer, headers: HttpHeaders, ports: ProtocolPorts): Promise<Challenge>;
  /** Headers of an answer to a payment that its row knows as settled; none before. */
  receipt(answered: Answered, ports: ProtocolPorts): HttpHeaders;
}
