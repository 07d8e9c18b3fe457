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

/** A quote, with the network and the fee payer that its payment has to name. */
export interface Demand {
  readonly quote: Quote;
  readonly network: string;
  readonly feePayer: string;
}

export interface Refusal {
  readonly code: ProblemCode & `payment_${string}`;
  readonly reason: string;
}

/** A challenge, before a protocol encodes it. */
export interface Offer extends Demand {
  readonly url: string;
  readonly description: string;
  readonly refusal: Refusal;
  readonly discovery?: object | undefined;
  /** The authorization that may pay instead, and its fee payer; null if none can. */
  authorization(): Promise<{ readonly asked: AuthorizationAsked; readonly feePayer: string } | null>;
}

export interface Challenge {
  readonly headers: HttpHeaders;
  readonly body?: object;
}

/** The terms of an authorization as a payment names them, and their addresses on chain. */
export interface SentAuthorization {
  readonly accepted: Accepted;
  readonly place: Place;
}

/** A parsed payment. Nothing in its transaction has been verified. */
export interface SentPayment extends SentTransaction {
  readonly protocol: Protocol;
  /** The value of the payment's header. */
  readonly header: string;
  /** The id of the quote. It never reaches the chain: only a client that sends it again gets the answer again. */
  readonly quoteId: string | null;
  /** The client's own id for the payment, if it gave one. */
  readonly paymentId: string | null;
  /** The authorization that the payment opens; null for a transfer. */
  readonly authorization: SentAuthorization | null;
  /** True if the terms that the client sent back are those of the demand. */
  agreesTo(demand: Demand, url: string): boolean;
}

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
  readonly url: string;
}

/** A protocol that asks for a payment, and receives it, in HTTP headers. */
export interface Protocol {
  readonly name: 'x402' | 'mpp';
  isIn(headers: HttpHeaders): boolean;
  /** @returns the reason as text if it is not a payment @throws Problem `invalid_payment_signature` */
  read(headers: HttpHeaders, ports: ProtocolPorts): Promise<SentPayment | string>;
  /** Builds the headers of a 402, and its body if the protocol has one. */
  challenge(offer: Offer, headers: HttpHeaders, ports: ProtocolPorts): Promise<Challenge>;
  /** Builds the headers of the answer to a payment; none before it is settled. */
  receipt(answered: Answered, ports: ProtocolPorts): HttpHeaders;
}
