import type { IntentToRemember, RememberedIntent } from '../base/index.ts';
import type { PaymentState } from './store-schema.ts';
import type { TravellerFields, TravellersStore } from './travellers.ts';

export type { PaymentState } from './store-schema.ts';

/** Identifies a request: the same identity, the same payment. */
export interface RequestIdentity {
  readonly baseUrl: string;
  readonly resource: string;
  readonly body: unknown;
  /** Headers that decide the answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly wallet: string;
}

export interface NewPayment {
  readonly identity: RequestIdentity;
  /** The PAYMENT-SIGNATURE header. */
  readonly payload: string;
  readonly amount: bigint;
  readonly asset: string;
  readonly payTo: string;
  readonly network: string;
  readonly lastValidBlockHeight: bigint;
  /** It can't land before this slot; null where that was not kept. */
  readonly signedAtSlot: bigint | null;
  /** The spending limit for a time window; absent: none. Checked in the transaction that writes the payment. */
  readonly budget?: SpendingBudget | undefined;
}

/** Everything that was signed in the last `windowMs`, this payment included, stays within `limit` (atomic). */
export interface SpendingBudget {
  readonly limit: bigint;
  readonly windowMs: number;
}

export interface OpenPayment {
  readonly id: string;
  readonly payload: string;
  readonly amount: bigint;
  readonly asset: string;
  readonly network: string;
  readonly lastValidBlockHeight: bigint;
  /** It can't land before this slot; null where that was not kept. */
  readonly signedAtSlot: bigint | null;
  readonly createdAtMs: number;
  /** The service has answered, and nobody has seen it yet; absent while there is no answer. */
  readonly answer?: KeptAnswer | undefined;
}

/** The answer that a payment bought. */
export interface KeptAnswer {
  readonly body: unknown;
  /** The settling transaction, as the service reported it. */
  readonly transaction: string | null;
  /** false: it is kept as it came, and never paid for again. */
  readonly isReadable: boolean;
}

/** A payment of the journal with what was signed for it. */
export interface SignedPayment {
  readonly record: PaymentRecord;
  readonly payment: OpenPayment;
  /** It has no answer yet. */
  readonly isOpen: boolean;
  /** The request that it pays. `headers` is null in a payment that an older version has written. */
  readonly request: {
    readonly baseUrl: string;
    readonly resource: string;
    readonly body: unknown;
    readonly headers: Readonly<Record<string, string>> | null;
  };
}

/** A payment as `farelock payments` shows it. */
export interface PaymentRecord {
  readonly payment_id: string;
  readonly state: PaymentState;
  /** Not answered yet: the same command, or `payments resume`, sends it again. */
  readonly open: boolean;
  /** Answered and not shown yet: the same command, or `payments resume`, shows it without paying. */
  readonly answer_kept: boolean;
  readonly host: string;
  readonly resource: string;
  readonly wallet: string;
  /** Decimal USDC. */
  readonly amount: string;
  readonly asset: string;
  readonly pay_to: string;
  readonly network: string;
  readonly transaction: string | null;
  readonly error_code: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** An intent without what is sealed of it. */
export type NotedIntent = Pick<RememberedIntent, 'intentId' | 'baseUrl' | 'summary' | 'createdAt'>;

export interface NotedQuery {
  readonly baseUrl: string;
  readonly limit: number;
  readonly open?: boolean;
  readonly sinceMs?: number;
}

/** The payer's journal: a payment is on the disk before it leaves. */
export interface PaymentJournal {
  /** The payment of this request that was neither given up, nor answered and shown. */
  open(identity: RequestIdentity): Promise<OpenPayment | undefined>;
  /**
   * null when another process has just opened one for the same request: that one is to be sent.
   * @throws Problem `daily_limit_reached`: nothing is written then, so nothing may be sent.
   */
  write(payment: NewPayment): Promise<OpenPayment | null>;
  /** Atomic units that the wallet has signed on the network in the last `windowMs`, whatever became of them. */
  spent(wallet: string, network: string, windowMs: number): Promise<bigint>;
  /**
   * Called before a payment is sent again. Another process may have signed it a moment ago and still wait for the disk:
   * this waits for the same disk.
   */
  resent(id: string): Promise<void>;
  note(id: string, state: 'sent' | 'refused', errorCode: string | null): Promise<void>;
  /** The answer has come: it is kept until it was shown, and an intent that it created is remembered with it. */
  answered(id: string, answer: NewAnswer): Promise<void>;
  /** Ends payments whose answers have reached the person; one that can't be read stays as it is. */
  shown(ids: readonly string[]): Promise<void>;
  close(id: string, state: 'refused' | 'abandoned', errorCode: string | null): Promise<void>;
}

export interface NewAnswer extends KeptAnswer {
  readonly intent: IntentToRemember | null;
  /** false: nothing of it is worth keeping, or nobody waits for it. */
  readonly isKept: boolean;
}

export interface PaymentsStore extends PaymentJournal {
  /** Newest first. */
  payments(limit?: number): Promise<PaymentRecord[]>;
  /** Those to an address, newest first. */
  paymentsTo(address: string): Promise<PaymentRecord[]>;
  /** The one that a transaction of the cluster settled. */
  paymentOf(transaction: string): Promise<PaymentRecord | undefined>;
  payment(id: string): Promise<PaymentRecord | undefined>;
  /** A payment with the bytes that were signed for it. */
  signedPayment(id: string): Promise<SignedPayment | undefined>;
}

export interface ClientStore extends PaymentsStore {
  /** Keeps the support code of an intent, sealed. Remembering again changes nothing. */
  remember(intent: IntentToRemember): Promise<void>;
  describe(intentId: string, summary: unknown): Promise<void>;
  /** Keeps the lead passenger's family name, sealed: a refund request needs it. */
  rememberLead(intentId: string, familyName: string): Promise<void>;
  leadOf(intentId: string): Promise<string | null>;
  /**
   * Keeps what a person has typed of the passengers, sealed, until the lock ends; an empty list forgets it. Of an intent
   * that was made elsewhere nothing is kept.
   */
  keepTyped(intentId: string, typed: readonly TravellerFields[], untilMs: number): Promise<void>;
  typed(intentId: string): Promise<TravellerFields[]>;
  /** The newest of a service, as lists show them; `open`: those that were neither booked nor refunded when last seen. */
  noted(query: NotedQuery): Promise<NotedIntent[]>;
  /** The newest that has one of these. */
  notedOf(what: {
    readonly by: 'order' | 'offer' | 'escrow';
    readonly is: readonly string[];
  }): Promise<NotedIntent | undefined>;
  /** The intents that pay-outs on chain were made for, by their memos. */
  notedPaidOut(memos: readonly string[]): Promise<ReadonlyMap<string, NotedIntent>>;
  intent(intentId: string): Promise<RememberedIntent | undefined>;
  /** Saved travellers. */
  travellers(): Promise<TravellersStore>;
  shut(): Promise<void>;
}
