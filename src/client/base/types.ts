import type * as flights from '../../wire/flights/index.ts';
import type { HttpAnswer } from './transport.ts';

/** The payment for an answer, in decimal USDC (CONTRACT, section 15). */
export interface PaymentReceipt {
  readonly amount: string;
  readonly asset: string;
  readonly transaction: string;
  readonly network: string;
}

export interface Paid<T> {
  readonly value: T;
  readonly payment: PaymentReceipt | null;
}

/** An order with unknown fields, as other deployments send less; only such an order has the status `unknown`. */
export type KnownOrder = Omit<
  flights.Order,
  'status' | 'passenger_count' | 'total_amount_decimal' | 'total_currency'
> & {
  readonly status: string;
  readonly passenger_count: number | null;
  readonly total_amount_decimal: string | null;
  readonly total_currency: string | null;
};

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called at each phase of a paid call, for a spinner. */
  readonly onPhase?: ((phase: 'asking' | 'paying' | 'waiting') => void) | undefined;
}

export interface AnswerRules {
  /** True if the work is unfinished: nothing is charged, and the payment waits for the answer. */
  readonly isPending?: (answer: HttpAnswer) => boolean;
  /** True for a free failure: the payment ends without a receipt. */
  readonly isFree?: (answer: HttpAnswer) => boolean;
  /** Reads an answer as its caller will; throws where it can't. */
  readonly read: (body: unknown) => unknown;
  /** Returns the intent to save before the answer is shown. */
  readonly remember?: (body: unknown) => IntentToRemember | null;
  /** False if the answer is free to fetch again, and so not kept. */
  readonly keepsAnswer?: boolean;
}

/** An intent's terms: this home's request and the answer's escrow. */
export interface IntentTerms {
  readonly offerId: string | null;
  /** The requested wallet, not the service's. */
  readonly refundOwner: string | null;
  /** From the answer; null where unreadable. */
  readonly escrow: {
    readonly address: string;
    readonly mint: string;
    readonly amount: number;
    /** Absent in older rows, or where the answer named none. */
    readonly program?: string;
  } | null;
}

export interface RememberedIntent {
  readonly intentId: string;
  readonly baseUrl: string;
  readonly supportCode: string;
  /** The locked fare for lists; null until described. */
  readonly summary: unknown;
  /** Null in rows of older versions. */
  readonly terms: IntentTerms | null;
  readonly createdAt: string;
}

export type IntentToRemember = Pick<RememberedIntent, 'intentId' | 'baseUrl' | 'supportCode' | 'terms'>;
