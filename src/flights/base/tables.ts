import type { Generated, Kysely, Selectable, Transaction } from 'kysely';
import type { BrowserTables } from '../../airlines/browser/index.ts';
import type { DuffelTables } from '../../airlines/duffel/index.ts';
import type { EffectsTables } from '../../effects/index.ts';
import type { NotifyTables } from '../../notify/index.ts';
import type { PaymentsTables } from '../../payments/index.ts';
import type { MetaTables } from '../../store/index.ts';
import type { BookingState } from './booking-states.ts';

/** One row per search that was answered; surge pricing counts the last 60 seconds. */
interface SearchCompletionTable {
  id: string;
  at_ms: number;
}

/** A search that the slower tier is still quoting for; kept 30 minutes. */
interface SearchTable {
  search_id: string;
  /** The parsed request, JSON. */
  request: string;
  started_at_ms: number;
  expires_at_ms: number;
}

type FareMenuStatus = 'pending' | 'ready' | 'failed';

/** The latest look at the fares of one `lowcost:` offer. */
export interface FareMenuTable {
  offer_id: string;
  status: FareMenuStatus;
  /** Every fare that was ever seen, with the number it keeps (JSON); `on_sale` says which the latest look found. */
  fares: string;
  /** Start of the look that `status` is about. */
  opened_at_ms: number;
  checked_at_ms: number | null;
  expires_at_ms: number;
}

type IntentStatus = 'active' | 'booked' | 'refunded';

interface IntentTable {
  intent_id: string;
  status: IntentStatus;
  offer_id: string;
  /** The offer as it was locked (wire form, JSON). */
  offer: string;
  passenger_count: number;
  /** `saleKey` of the live offer that was locked. */
  sale_key: string | null;
  funding_wallet: string;
  refund_wallet: string;
  /** Affiliate code, when it was resolved; its wallet and its share (atomic units) are frozen with it. */
  referrer: string | null;
  referrer_wallet: string | null;
  affiliate_amount: number | null;
  /** The last arrival, while the affiliate's share is still to be credited. */
  credit_due_at_ms: number | null;
  credited_at_ms: number | null;
  support_code_hmac: string;
  escrow_address: string;
  vault_address: string;
  mint: string;
  amount: number;
  program_id: string;
  refund_after_ms: number;
  fee_amount: number;
  observed_amount: number | null;
  /** Not null once the escrow exists on chain and the creation was paid. Until then the intent is not shown. */
  opened_at_ms: number | null;
  /** 1 once the creation fee could not be settled: the intent never existed for its customer. */
  abandoned: Generated<number>;
  order_id: string | null;
  booking_requested_at_ms: number | null;
  ticketed_at_ms: number | null;
  captured_at_ms: number | null;
  capture_tx_hash: string | null;
  refund_reason: string | null;
  refunded_at_ms: number | null;
  refund_tx_hash: string | null;
  /** The payment that its creation waits for or was paid with; unique. */
  payment_key: string | null;
  /** `active:<funding_wallet>:<offer_id>` while it blocks its pair, else null; unique. */
  active_key: string | null;
  /**
   * `payer:<wallet>` while its creation is under way, one for each wallet; `closing:<intent_id>` while an unpaid one is
   * closed; else null. Unique: what is not null ties up the operator's rent for nothing (intents/creations.ts).
   */
  creating_key: string | null;
  expires_at_ms: number;
  created_at_ms: number;
  updated_at_ms: number;
}

/** One row per wrong try and bucket that it counts in (attempts.ts); old rows are of no use. */
interface WrongCodeTable {
  id: string;
  subject: string;
  at_ms: number;
}

export interface BookingTable {
  intent_id: string;
  state: BookingState;
  payment_key: string;
  /** JSON array of passengers, sealed. */
  passengers_sealed: string;
  provider_order_id: string | null;
  refund_reason: string | null;
  /** The state in which a booking that is `stuck` got stuck. */
  stuck_in: BookingState | null;
  requested_at_ms: number;
  /** When the worker has something to do next. */
  due_at_ms: number;
  lease_until_ms: number;
  /** Raised with every lease; each write of the worker names it, so that a stale worker changes nothing. */
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
  /** When the airline changed it last, after it was sold. */
  changed_at_ms: number | null;
  /** `airline`: it cancelled the order without a request of ours; null: it did not, as far as is known. */
  cancelled_by: 'airline' | null;
  created_at_ms: number;
  updated_at_ms: number;
}

/**
 * `settling`: written before its payment is settled. `received`: waits for an operator. `approved`: the airline is
 * told and the money paid out, by the worker when need be; then `refunded`. `stuck` waits for a person.
 */
export type RefundRequestState = 'settling' | 'received' | 'approved' | 'refunded' | 'rejected' | 'stuck';

/** Customers' refund requests. At most one open request per intent: `open_key` is unique. */
interface RefundRequestTable {
  request_id: string;
  intent_id: string;
  /** The intent while the request is open or was granted, else null. */
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
  /** Why, in the operator's words, sealed. */
  decision_sealed: string | null;
  /** Fixed by the approval, atomic units. */
  payout_amount: number | null;
  penalty_amount: number | null;
  payout_tx_hash: string | null;
  /** The airline's quote for the cancellation, as an operator was shown it last (AirlineQuote, JSON). */
  airline_quote: string | null;
  /** What the airline had said when it was approved (Agreement, JSON). Only a decision writes it. */
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

/** A gateway's signature that was used, until nobody could take it for fresh. */
interface SponsoredSignatureTable {
  /** Base58. */
  signature: string;
  expires_at_ms: number;
}

/** One code a wallet. */
interface AffiliateTable {
  code: string;
  wallet: string;
  created_at_ms: number;
  /** When a journey was credited last: written first by whoever reads the balance, which makes the others wait. */
  credited_at_ms: number | null;
}

/** Money on its way to an affiliate, or paid; the effect of the same id moves it. */
export interface AffiliatePayoutTable {
  payout_id: string;
  code: string;
  wallet: string;
  amount: number;
  state: 'open' | 'paid';
  attempts: number;
  /** Why the last attempt paid nothing. */
  last_error: string | null;
  due_at_ms: number;
  lease_until_ms: Generated<number>;
  /** Raised with every lease; a pay-out names it right before it signs. */
  fence: Generated<number>;
  signature: string | null;
  created_at_ms: number;
  paid_at_ms: number | null;
}

/**
 * Work left for an intent after its booking ended: look for money that came late, close its escrow, purge
 * its personal data. A row goes once it is done.
 */
export type UpkeepTask = 'late_money' | 'late_ticket' | 'close_escrow' | 'purge' | 'order_watch';

interface UpkeepTable {
  intent_id: string;
  task: UpkeepTask;
  due_at_ms: number;
  attempts: Generated<number>;
  created_at_ms: number;
}

interface FlightsTables {
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

/** The tables that the flight service reads and writes: its own, and those of the rooms below it; never a partner's. */
export interface FlightsDatabase
  extends FlightsTables,
    DeskTables,
    BrowserTables,
    DuffelTables,
    PaymentsTables,
    EffectsTables,
    NotifyTables,
    MetaTables {}

export type Store = Kysely<FlightsDatabase>;
export type Tx = Transaction<FlightsDatabase>;

/** Rows as they are read. */
export type IntentRow = Selectable<IntentTable>;

export type BookingRow = Selectable<BookingTable>;
export type RefundRequestRow = Selectable<RefundRequestTable>;

/** Bearer keys, kept as a keyed hash. */
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
  /** Its subject: a refund request, a key, a switch. */
  subject: string;
  /** X-Request-Id of the call. */
  request_id: string;
  /** JSON; ids and amounts, nothing personal. */
  detail: string;
}

/** The operators' keys, and what they did: on both services. */
export interface DeskTables {
  api_keys: ApiKeyTable;
  operator_audit: OperatorAuditTable;
}
