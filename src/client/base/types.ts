import type * as flights from '../../wire/flights/index.ts';
import type { HttpAnswer } from './transport.ts';

/** The payment for an answer (CONTRACT, section 15). `amount` is a decimal string in USDC. */
export interface PaymentReceipt {
  readonly amount: string;
  /** The mint's address. */
  readonly asset: string;
  readonly transaction: string;
  readonly network: string;
}

export interface Paid<T> {
  readonly value: T;
  readonly payment: PaymentReceipt | null;
}

/** An order as far as it is known: other deployments send less. The service never sends the status `unknown`. */
export type KnownOrder = Omit<
  flights.Order,
  'status' | 'passenger_count' | 'total_amount_decimal' | 'total_currency'
> & {
  readonly status: string;
  readonly passenger_count: number | null;
  readonly total_amount_decimal: string | null;
  readonly total_currency: string | null;
};

type Phase = 'asking' | 'paying' | 'waiting';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called as a paid call goes through its phases, for a spinner. */
  readonly onPhase?: ((phase: Phase) => void) | undefined;
}

/**
 * The flight service, typed. Problems: those the service answers with (`code` kept, `detail` kept), the payer's own
 * (`challenge_refused`, `payment_above_cap`, `insufficient_funds`, `escrow_mismatch`, …), and the transport's
 * (`network_unreachable`, `timed_out`, `unexpected_answer`).
 */
export interface FlightsClient {
  health(options?: CallOptions): Promise<flights.Health>;
  search(request: flights.SearchRequestInput, options?: CallOptions): Promise<Paid<flights.SearchResponse>>;
  /** The offers that landed after `cursor`. Free. */
  searchUpdates(request: flights.SearchUpdatesRequest, options?: CallOptions): Promise<flights.SearchUpdatesResponse>;
  /**
   * Polls a pending fare menu, as often as the service says, until it is there or the client's timeout has passed; it is
   * then given as it is, pending and not paid.
   */
  offerDetails(offerId: string, options?: CallOptions): Promise<Paid<flights.OfferDetailsResponse>>;
  createIntent(request: flights.CreateIntentRequest, options?: CallOptions): Promise<Paid<flights.CreatedIntent>>;
  /** With the support code, the words of an operator that rejected a refund too. */
  intent(
    intentId: string,
    options?: CallOptions & { readonly supportCode?: string | undefined },
  ): Promise<flights.Intent>;
  /**
   * Checks the escrow on chain, and against what was agreed to here, before it pays it (DESIGN, section 5).
   * `refundWallet`: the one that the person has named for this booking.
   */
  book(
    intent: flights.Intent,
    passengers: readonly flights.Passenger[],
    options?: CallOptions & { readonly refundWallet?: string | undefined },
  ): Promise<Paid<flights.BookResponse>>;
  order(orderId: string, supportCode: string, options?: CallOptions): Promise<Paid<KnownOrder>>;
  requestRefund(
    request: flights.RefundRequest,
    identity: { readonly supportCode: string; readonly familyName: string },
    options?: CallOptions,
  ): Promise<Paid<flights.RefundRequestResponse>>;
  /** The affiliate code of a wallet: a new one, or the one that it has. Free. */
  createAffiliate(wallet: string, options?: CallOptions): Promise<flights.Affiliate>;
  affiliate(code: string, options?: CallOptions): Promise<flights.AffiliateCredit>;
}

/** Rules for reading and keeping an answer. */
export interface AnswerRules {
  /** True while the service is still working: such an answer is not charged, and the payment waits for the real one. */
  readonly isPending?: (answer: HttpAnswer) => boolean;
  /** True where the call failed for free: the payment ends without a receipt. */
  readonly isFree?: (answer: HttpAnswer) => boolean;
  /** Reads an answer as its caller will; throws where it can't be read. */
  readonly read: (body: unknown) => unknown;
  /** Returns the intent that must be saved before the answer is shown. */
  readonly remember?: (body: unknown) => IntentToRemember | null;
  /** false: the answer is free to fetch again, and is not kept. */
  readonly keepsAnswer?: boolean;
}

/** The terms that this home agreed to when it created an intent: its request, and the escrow in the answer. */
export interface IntentTerms {
  readonly offerId: string | null;
  /** The requested wallet, whatever the service has made of it. */
  readonly refundOwner: string | null;
  /** Of the answer; null where it could not be read. */
  readonly escrow: {
    readonly address: string;
    readonly mint: string;
    readonly amount: number;
    /** Absent: an older version has remembered it, or the answer named none. */
    readonly program?: string;
  } | null;
}

export interface RememberedIntent {
  readonly intentId: string;
  readonly baseUrl: string;
  readonly supportCode: string;
  /** The locked fare, for lists; null until it is described. */
  readonly summary: unknown;
  /** null: an older version has remembered it. */
  readonly terms: IntentTerms | null;
  readonly createdAt: string;
}

export type IntentToRemember = Pick<RememberedIntent, 'intentId' | 'baseUrl' | 'supportCode' | 'terms'>;
