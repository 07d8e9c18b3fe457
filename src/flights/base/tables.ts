import type { ColumnType, Generated, Kysely, Selectable, Transaction } from 'kysely';
import type { BrowserTables } from '../../airlines/browser/index.ts';
import type { EffectsTables } from '../../effects/index.ts';
import type { NotifyTables } from '../../notify/index.ts';
import type { PaymentsTables } from '../../payments/index.ts';
import type { MetaTables } from '../../store/index.ts';

/** One row per answered search; surge pricing counts the last 60 seconds. */
interface SearchCompletionTable {
  id: string;
  at_ms: number;
}

/** A search that the slower tier is still quoting for; kept 30 minutes. */
interface SearchTable {
  search_id: string;
  request: string;
  started_at_ms: number;
  expires_at_ms: number;
}

/** The latest fare menu of one `lowcost:` offer. */
export interface FareMenuTable {
  offer_id: string;
  status: 'pending' | 'ready' | 'failed';
  /** Every fare ever seen, with its permanent number (JSON); `onSale` marks those on the latest menu. */
  fares: string;
  /** Start of the opening that `status` is about. */
  opened_at_ms: number;
  checked_at_ms: number | null;
  expires_at_ms: number;
}

/** An escrow that we opened for the intent, or one that its payer authorized (docs/escrow.md). */
export type EscrowKindName = 'opened' | 'authorized';

export interface IntentTable {
  intent_id: string;
  status: 'active' | 'booked' | 'refunded';
  offer_id: string;
  /** The offer as it was locked (wire form, JSON). */
  offer: string;
  passenger_count: number;
  /** Bags that are part of `amount` and of the locked offer's total (LockedBags, JSON), or null. */
  bags: ColumnType<string | null, string | null | undefined, string | null>;
  /** Chosen seats, also part of both (LockedSeats, JSON), or null. */
  seats: ColumnType<string | null, string | null | undefined, string | null>;
  /** `saleKey` of the live offer that was locked. */
  sale_key: string | null;
  funding_wallet: string;
  refund_wallet: string;
  /** The resolved affiliate code; its wallet and share (atomic units) are frozen with it. */
  referrer: string | null;
  referrer_wallet: string | null;
  affiliate_amount: number | null;
  /** The last arrival, while the affiliate's share is still to be credited. */
  credit_due_at_ms: number | null;
  credited_at_ms: number | null;
  support_code_hmac: string;
  /** The escrow that holds its money, or will. It becomes `authorized` if the payer pays by an authorization. */
  escrow_kind: Generated<EscrowKindName>;
  escrow_address: string;
  vault_address: string;
  mint: string;
  amount: number;
  program_id: string;
  /** The authority that may capture and refund its escrow. Null, in rows of earlier versions, means the first one. */
  authority: ColumnType<string | null, string | null | undefined, string | null>;
  refund_after_ms: number;
  fee_amount: number;
  observed_amount: number | null;
  /** Set once the escrow exists on chain and the creation is paid: only then is the intent shown. */
  opened_at_ms: number | null;
  /** 1 if the creation was never paid: the intent never existed for its customer. */
  abandoned: Generated<number>;
  order_id: string | null;
  booking_requested_at_ms: number | null;
  ticketed_at_ms: number | null;
  captured_at_ms: number | null;
  capture_tx_hash: string | null;
  refund_reason: string | null;
  refunded_at_ms: number | null;
  refund_tx_hash: string | null;
  /** Key of the payment for its creation, pending or made; unique. */
  payment_key: string | null;
  /** `active:<funding_wallet>:<offer_id>` while it blocks its pair, else null; unique. */
  active_key: string | null;
  /** `payer:<wallet>` during a creation, `closing:<intent_id>` while an unpaid one ends. Unique, to limit rents. */
  creating_key: string | null;
  expires_at_ms: number;
  created_at_ms: number;
  updated_at_ms: number;
}

/** One row per wrong try or free call, and bucket that it counts in (attempts.ts). */
interface WrongCodeTable {
  id: string;
  subject: string;
  at_ms: number;
}

/** States of a booking: what may follow each is in bookings/machine.ts. */
export type BookingState =
  | 'settling'
  | 'queued'
  | 'ordering'
  | 'ticketing'
  | 'capturing'
  | 'booked'
  | 'refunding'
  | 'refunded'
  | 'stuck';

export interface BookingTable {
  intent_id: string;
  state: BookingState;
  payment_key: string;
  /** JSON array of passengers, sealed. */
  passengers_sealed: string;
  provider_order_id: string | null;
  refund_reason: string | null;
  stuck_in: BookingState | null;
  requested_at_ms: number;
  due_at_ms: number;
  lease_until_ms: number;
  /** Raised with every lease; the worker names it in each write, so that a stale worker changes nothing. */
  fence: Generated<number>;
  attempts: Generated<number>;
  last_error: string | null;
  updated_at_ms: number;
}

export interface OrderTable {
  order_id: string;
  intent_id: string;
  provider_order_id: string;
  /** The order as the wire shows it, JSON, without names. */
  document: string;
  /** When the airline last changed it after the sale. */
  changed_at_ms: number | null;
  /** `airline` if the airline cancelled the order without our request. */
  cancelled_by: 'airline' | null;
  created_at_ms: number;
  updated_at_ms: number;
}

/** `settling`: not paid yet. `received`: undecided. `approved`: being cancelled and paid. `stuck`: needs a person. */
export type RefundRequestState = 'settling' | 'received' | 'approved' | 'refunded' | 'rejected' | 'stuck';

/** Customers' refund requests. At most one open request per intent: `open_key` is unique. */
export interface RefundRequestTable {
  request_id: string;
  intent_id: string;
  /** Some of the travellers, or the last ones, with their shares of the price (Part, JSON); null for all. */
  passengers: ColumnType<string | null, string | null | undefined, string | null>;
  /** The intent id while the request is open or granted, and after a refund that ended the intent; else null. */
  open_key: string | null;
  payment_key: string;
  state: RefundRequestState;
  /** The customer's words, sealed; empty once purged. */
  reason_sealed: string;
  contact_sealed: string | null;
  /** Day of the first departure, YYYY-MM-DD. */
  journey_date: string;
  requested_at_ms: number;
  claimed_by: string | null;
  claimed_by_name: string | null;
  claimed_at_ms: number | null;
  decided_by_name: string | null;
  decided_at_ms: number | null;
  /** The operator's reason, sealed. */
  decision_sealed: string | null;
  /** Fixed by the approval, atomic units. */
  payout_amount: number | null;
  penalty_amount: number | null;
  payout_tx_hash: string | null;
  /** The airline's cancellation quote that an operator saw last (AirlineQuote, JSON). */
  airline_quote: string | null;
  /** The airline's quote and cancellation at the approval (Agreement, JSON). Only a decision writes it. */
  agreed: string | null;
  due_at_ms: number;
  lease_until_ms: number;
  fence: Generated<number>;
  attempts: Generated<number>;
  last_error: string | null;
  updated_at_ms: number;
}

interface RefundNoteTable {
  note_id: string;
  request_id: string;
  operator_name: string;
  text_sealed: string;
  at_ms: number;
}

/** A gateway's used signature (base58), kept until it has expired everywhere. */
interface SponsoredSignatureTable {
  signature: string;
  expires_at_ms: number;
}

/** One code per wallet. */
interface AffiliateTable {
  code: string;
  wallet: string;
  created_at_ms: number;
  /** When a journey was last credited. Written before the balance is read, to lock it. */
  credited_at_ms: number | null;
}

/** A pay-out to an affiliate, paid by the effect with its id as subject. */
export interface AffiliatePayoutTable {
  payout_id: string;
  code: string;
  wallet: string;
  amount: number;
  state: 'open' | 'paid';
  attempts: number;
  last_error: string | null;
  due_at_ms: number;
  lease_until_ms: Generated<number>;
  /** Raised with every lease; checked before a pay-out is sent. */
  fence: Generated<number>;
  signature: string | null;
  created_at_ms: number;
  paid_at_ms: number | null;
}

/** Work left for an intent after its booking ended. A row is deleted once its task is done. */
export type UpkeepTask =
  | 'late_money'
  | 'late_ticket'
  | 'close_escrow'
  | 'purge'
  | 'order_watch'
  | 'capture'
  | 'unused_escrow';

interface UpkeepTable {
  intent_id: string;
  task: UpkeepTask;
  due_at_ms: number;
  attempts: Generated<number>;
  created_at_ms: number;
}

/** The tables of the flight service and of the rooms below it; never a partner's. */
export interface FlightsDatabase
  extends DeskTables,
    BrowserTables,
    PaymentsTables,
    EffectsTables,
    NotifyTables,
    MetaTables {
  search_completions: SearchCompletionTable;
  searches: SearchTable;
  fare_menus: FareMenuTable;
  sponsored_signatures: SponsoredSignatureTable;
  intents: IntentTable;
  wrong_codes: WrongCodeTable;
  bookings: BookingTable;
  orders: OrderTable;
  refund_requests: RefundRequestTable;
  refund_notes: RefundNoteTable;
  affiliates: AffiliateTable;
  affiliate_payouts: AffiliatePayoutTable;
  upkeep: UpkeepTable;
}

export type Store = Kysely<FlightsDatabase>;
export type Tx = Transaction<FlightsDatabase>;

export type IntentRow = Selectable<IntentTable>;
export type BookingRow = Selectable<BookingTable>;
export type RefundRequestRow = Selectable<RefundRequestTable>;

/** Bearer keys, stored as keyed hashes. */
export interface ApiKeyTable {
  key_id: string;
  kind: 'operator';
  name: string;
  key_hmac: string;
  created_at_ms: number;
  last_used_at_ms: number | null;
  revoked_at_ms: number | null;
}

/** Operators' acts: written in the transaction of the act, and never changed. */
interface OperatorAuditTable {
  audit_id: string;
  at_ms: number;
  key_id: string;
  operator_name: string;
  action: string;
  /** A refund request, a key, a switch. */
  subject: string;
  /** X-Request-Id of the call. */
  request_id: string;
  /** JSON; ids and amounts, nothing personal. */
  detail: string;
}

/** The operators' keys and acts, for both services. */
export interface DeskTables {
  api_keys: ApiKeyTable;
  operator_audit: OperatorAuditTable;
}
