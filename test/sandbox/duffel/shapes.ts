import type { OrderBehaviourName } from '../../../src/sandbox/duffel/behaviours.ts';

/** Answers of the Duffel API and of its sandbox, as far as tests look at them. What an answer lacks reads as undefined. */

interface Carrier {
  readonly name: string;
  readonly iata_code: string | null;
}

interface Condition {
  readonly allowed: boolean;
  readonly penalty_amount: string | null;
  readonly penalty_currency: string | null;
}

export interface Segment {
  readonly id: string;
  readonly origin: { readonly iata_code: string };
  readonly origin_terminal: string | null;
  readonly departing_at: string;
  readonly duration: string | null;
  readonly aircraft: object | null;
  readonly stops?: readonly object[];
  readonly marketing_carrier: Carrier;
  readonly marketing_carrier_flight_number: string;
  readonly operating_carrier: Carrier;
  readonly passengers: readonly [
    { readonly cabin_class: string; readonly fare_basis_code: string | null; readonly baggages: readonly object[] },
  ];
}

interface Priced {
  readonly id: string;
  readonly total_amount: string;
  readonly total_currency: string;
  readonly owner: Carrier;
  readonly slices: readonly [{ readonly segments: readonly [Segment, ...Segment[]] }];
  readonly passengers: readonly [{ readonly id: string; readonly given_name: string }, { readonly id: string }];
  readonly conditions: {
    readonly refund_before_departure: Condition | null;
    readonly change_before_departure: Condition | null;
  };
}

export interface Offer extends Priced {
  readonly base_amount: string;
  readonly tax_amount: string | null;
  readonly total_emissions_kg: string | null;
  readonly passenger_identity_documents_required: boolean;
  readonly supported_passenger_identity_document_types: readonly string[];
  readonly payment_requirements: { readonly requires_instant_payment: boolean };
  /** null in lists. */
  readonly available_services: readonly [{ readonly id: string; readonly segment_ids: readonly string[] }];
}

export interface Order extends Priced {
  readonly offer_id: string;
  readonly booking_reference: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly documents: readonly object[];
  readonly services: readonly [{ readonly total_amount: string }];
  readonly payment_status: { readonly paid_at: string | null };
  readonly cancelled_at: string | null;
  readonly airline_initiated_changes: readonly object[];
}

export interface Cancellation {
  readonly id: string;
  readonly refund_amount: string | null;
  readonly refund_currency: string | null;
  readonly refund_to: string;
  readonly confirmed_at: string | null;
}

export interface Change {
  readonly id: string;
  readonly available_actions: readonly string[];
  readonly action_taken: string | null;
}

export interface WebhookEvent {
  readonly id: string;
  readonly type: string;
  readonly idempotency_key: string;
  readonly data: { readonly object: object };
}

export interface Webhook {
  readonly id: string;
  readonly secret?: string;
}

interface Refusal {
  readonly type: string;
  readonly code: string;
  readonly source: { readonly pointer: string };
}

/** What the sandbox says was really ordered. */
export interface Books {
  orders: {
    readonly order_id: string;
    readonly offer_id: string;
    readonly reference: string;
    readonly total_amount: string;
    readonly is_listed: boolean;
    readonly cancelled_at: string | null;
    readonly refund: { readonly amount: string | null; readonly currency: string; readonly to: string } | null;
  }[];
  attempts: {
    readonly offer_id: string;
    readonly reference: string;
    readonly behaviour: OrderBehaviourName | null;
    readonly status: number;
    readonly code: string | null;
  }[];
  readonly balance: string | null;
}

/** Whatever one call answers with: who asks knows which of them it is. */
export type Thing = Offer & Order & Cancellation & Change & WebhookEvent & Webhook & { readonly offers: Offers };

/** Offers where some are expected. */
export type Offers = [Offer, Offer, ...Offer[]];

/** An answer: `data` where it is one, `errors` where it is a refusal. */
export interface Body<T> {
  readonly data: T;
  readonly errors: readonly [Refusal, ...Refusal[]];
  readonly meta: { readonly after: string | null; readonly request_id: string; readonly status: number };
}
