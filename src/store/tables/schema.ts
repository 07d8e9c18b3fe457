import type { Generated } from 'kysely';
import type { AffiliatePayoutTable, AffiliateTable, SponsoredSignatureTable } from './affiliate-tables.ts';
import type { ApiKeyTable, OperatorAuditTable, RefundNoteTable, RefundRequestTable } from './desk-tables.ts';
import type { FareMenuTable, SearchTable } from './lowcost-tables.ts';
import type { OutboxTable, UpkeepTable } from './notify-tables.ts';
import type { PartnerTables } from './partner-tables.ts';

export type { ApiKeyTable, RefundRequestState, RefundRequestTable } from './desk-tables.ts';
export type { OutboxState, OutboxTable, UpkeepTable, UpkeepTask } from './notify-tables.ts';

/**
 * The service's tables. Portable between SQLite and PostgreSQL: integers (atomic USDC, milliseconds where a
 * number is compared, 0/1 for flags), UTC text for instants on the wire, JSON as text. Columns that end in
 * `_sealed` hold text encrypted by `kernel/secrets`; `_hmac` holds a keyed hash.
 */
export interface ServiceTables extends PartnerTables {
  meta: MetaTable;
  search_completions: SearchCompletionTable;
  quotes: QuoteTable;
  settlements: SettlementTable;
  intents: IntentTable;
  bookings: BookingTable;
  orders: OrderTable;
  effects: EffectTable;
  wrong_codes: WrongCodeTable;
  affiliates: AffiliateTable;
  affiliate_payouts: AffiliatePayoutTable;
  sponsored_signatures: SponsoredSignatureTable;
  searches: SearchTable;
  fare_menus: FareMenuTable;
  outbox: OutboxTable;
  upkeep: UpkeepTable;
  refund_requests: RefundRequestTable;
  refund_notes: RefundNoteTable;
  api_keys: ApiKeyTable;
  operator_audit: OperatorAuditTable;
}

/** One row per wrong try and bucket that it counts in (flights/attempts.ts); old rows are of no use. */
interface WrongCodeTable {
  id: string;
  subject: string;
  at_ms: number;
}

interface MetaTable {
  key: string;
  value: string;
}

/** One row per search that was answered; surge pricing counts the last 60 seconds. */
interface SearchCompletionTable {
  id: string;
  at_ms: number;
}

/** A challenge that was given out: what it is for, what it costs, until when it may be paid. */
interface QuoteTable {
  quote_id: string;
  /** `POST /air/search`: the method and path that may be bought with it. */
  resource: string;
  /** SHA-256 of the canonical request (body and the headers that matter). */
  request_digest: string;
  amount: number;
  asset: string;
  pay_to: string;
  memo: string;
  expires_at_ms: number;
  created_at_ms: number;
}

type SettlementState = 'claimed' | 'performed' | 'settling' | 'settled' | 'answered' | 'failed';

/**
 * The settlement journal: one row per payment that passed verification, keyed by the payer's signature. It makes
 * a paid call happen once: the answer is kept until the quote is long dead, and so are the signed bytes.
 */
export interface SettlementTable {
  payment_key: string;
  quote_id: string;
  request_digest: string;
  state: SettlementState;
  payer: string;
  amount: number;
  pay_to: string;
  /** The fully signed transaction, base64: written before it is sent. */
  transaction: string | null;
  signature: string | null;
  last_valid_block_height: number | null;
  answer_status: number | null;
  /** The answer, sealed: it can hold a support code. */
  answer_sealed: string | null;
  settle_response: string | null;
  error_code: string | null;
  lease_until_ms: number;
  fence: Generated<number>;
  created_at_ms: number;
  updated_at_ms: number;
}

type IntentStatus = 'active' | 'booked' | 'refunded';

export interface IntentTable {
  intent_id: string;
  status: IntentStatus;
  offer_id: string;
  /** The offer as it was locked (wire form, JSON). */
  offer: string;
  passenger_count: number;
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
   * closed; else null. Unique: what is not null ties up the operator's rent for nothing (flights/intents/creations.ts).
   */
  creating_key: string | null;
  expires_at_ms: number;
  created_at_ms: number;
  updated_at_ms: number;
}

/**
 * `settling`: written before the payment is settled, so that a crash right after settlement loses nothing.
 * `funded` and later belong to the worker: recheck -> ordering -> ticketing -> capturing -> booked,
 * or refunding -> refunded. `stuck` waits for a person.
 */
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
  created_at_ms: number;
  updated_at_ms: number;
}

export type EffectKind =
  | 'open_escrow'
  | 'capture'
  | 'refund'
  | 'sweep'
  | 'close_escrow'
  | 'airline_order'
  | 'airline_cancel'
  | 'payout';
type EffectState = 'planned' | 'sent' | 'done' | 'failed' | 'stuck';

/**
 * Something done to the outside world, written before it is done (DESIGN, section 6). At most one live attempt
 * per (kind, subject): `live_key` is unique and becomes null when the attempt has failed for certain.
 */
export interface EffectTable {
  effect_id: string;
  kind: EffectKind;
  /** Its subject, usually an intent id. */
  subject: string;
  state: EffectState;
  live_key: string | null;
  attempt: number;
  /** Chain effects: the signed transaction (base64), its signature, and the height after which it cannot land. */
  transaction: string | null;
  signature: string | null;
  last_valid_block_height: number | null;
  /** Airline effects: our reference at the airline. */
  reference: string | null;
  result: string | null;
  error: string | null;
  created_at_ms: number;
  updated_at_ms: number;
}
