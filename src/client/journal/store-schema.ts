import type { Kysely } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import type { PassengerField } from '../../kernel/domain/passengers.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import type { Migration } from '../../store/base/index.ts';

/**
 * `signed`: on disk, perhaps sent. `sent`: unanswered. `refused`: by the service; resendable while `live_key` is set.
 * `answered`: charged; the answer is kept while `live_key` is set. `abandoned`: unanswered and can't land.
 */
export type PaymentState = 'signed' | 'sent' | 'refused' | 'answered' | 'abandoned';

export interface StorePorts {
  readonly db: Kysely<ClientTables>;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface ClientTables {
  payments: ClientPaymentTable;
  intents: RememberedIntentTable;
  travellers: SavedTravellerTable;
  watches: WatchTable;
  watch_looks: WatchLookTable;
  watch_notices: WatchNoticeTable;
}

interface WatchTable {
  watch_id: string;
  base_url: string;
  /** JSON of the request, the threshold, the budget and the notices. */
  terms_sealed: string;
  state: 'running' | 'fell' | 'ended';
  next_at_ms: number;
  created_at_ms: number;
}

export interface WatchLookTable {
  watch_id: string;
  /** From 1. */
  number: number;
  begun_at_ms: number;
  /** While `begun`: until then the look belongs to its process. */
  lease_until_ms: number;
  /** The process id. */
  holder: number;
  /** `lost`: cut off too long ago to be made again; it may have been paid. */
  state: 'begun' | 'done' | 'failed' | 'lost';
  /** Atomic USDC that it may cost, which the budget counts until `paid` is known. */
  most: number;
  paid: number | null;
  /** Atomic US dollars of the cheapest offer; null if there is none. */
  price: number | null;
  offer_id: string | null;
  /** The offer in a few words, or the reason of a failure. */
  says: string;
}

/** The notice of a price fall by one way, written with the look that saw the fall. */
export interface WatchNoticeTable {
  watch_id: string;
  number: number;
  /** `page`, `mail:…`; sealed, as it may be an address. */
  way_sealed: string;
  /** Its position in the watch's `notify`. */
  at: number;
  /** `taken`: being sent, by the process of `holder`. */
  state: 'due' | 'taken' | 'sent' | 'failed';
  tries: number;
  holder: number;
}

export interface ClientPaymentTable {
  payment_id: string;
  /** HMAC of the request's identity, null once shown: one live payment per request. */
  live_key: string | null;
  state: PaymentState;
  base_url: string;
  host: string;
  resource: string;
  wallet: string;
  /** The PAYMENT-SIGNATURE header and the request's body. */
  payload_sealed: string;
  body_sealed: string;
  /** Headers that decide the answer; null in older rows. */
  headers_sealed: string | null;
  /** The compressed answer, until shown. */
  answer_sealed: string | null;
  amount: number;
  asset: string;
  pay_to: string;
  network: string;
  /** The settling transaction, as the service reports it. */
  transaction: string | null;
  /** The last height at which it can land. */
  last_valid_block_height: number;
  /** The earliest slot it can land in; null in older rows. */
  signed_at_slot: number | null;
  error_code: string | null;
  created_at_ms: number;
  updated_at_ms: number;
}

interface RememberedIntentTable {
  intent_id: string;
  base_url: string;
  support_code_sealed: string;
  /** Identifies a refund request. */
  lead_family_name_sealed: string | null;
  /** Short JSON of the locked fare, for lists. */
  summary: string | null;
  /** JSON of the creation's request and answer; null in older rows. */
  terms_sealed: string | null;
  /** JSON of passengers typed but not paid for. */
  typed_sealed: string | null;
  /** From the terms; empty if they have none, null in older rows that were not looked up. */
  escrow_address: string | null;
  /** The lock's end, when typed passengers are forgotten. */
  typed_until_ms: number | null;
  created_at_ms: number;
}

export type SealedField = `${PassengerField}_sealed`;
export type SealedFields = Record<SealedField, string | null>;

export interface SavedTravellerTable extends SealedFields {
  traveller_id: string;
  /** HMAC of the folded name, which hides it. */
  name_key: string;
  name_sealed: string;
  updated_at_ms: number;
}

export const clientMigrations: readonly Migration[] = [
  {
    name: '001_client',
    statements: [
      `create table payments (
        payment_id text primary key, live_key text unique, state text not null, base_url text not null,
        host text not null, resource text not null, wallet text not null, payload_sealed text not null,
        body_sealed text not null, amount bigint not null, asset text not null, pay_to text not null,
        network text not null, "transaction" text, last_valid_block_height bigint not null, error_code text,
        created_at_ms bigint not null, updated_at_ms bigint not null)`,
      'create index payments_created on payments (created_at_ms)',
      `create table intents (
        intent_id text primary key, base_url text not null, support_code_sealed text not null, summary text,
        created_at_ms bigint not null)`,
    ],
  },
  { name: '012_lead_family_name', statements: ['alter table intents add column lead_family_name_sealed text'] },
  {
    name: '013_payment_headers',
    statements: [
      'alter table payments add column headers_sealed text',
      'create index payments_spent on payments (wallet, network, created_at_ms)',
    ],
  },
  {
    name: '020_travellers',
    statements: [
      `create table travellers (
        traveller_id text primary key, name_key text not null unique, name_sealed text not null,
        given_name_sealed text, family_name_sealed text, born_on_sealed text, title_sealed text,
        gender_sealed text, email_sealed text, phone_number_sealed text, nationality_sealed text,
        passport_number_sealed text, passport_expiry_sealed text, updated_at_ms bigint not null)`,
    ],
  },
  { name: '030_intent_terms', statements: ['alter table intents add column terms_sealed text'] },
  { name: '031_kept_answers', statements: ['alter table payments add column answer_sealed text'] },
  { name: '032_meta', statements: ['create table meta (key text primary key, value text not null)'] },
  {
    name: '040_typed_passengers',
    statements: [
      'alter table intents add column typed_sealed text',
      'alter table intents add column typed_until_ms bigint',
    ],
  },
  {
    // Indexes for every list and lookup; those on `summary` use fields of its JSON.
    name: '050_lists',
    statements: [
      'alter table intents add column escrow_address text',
      "update intents set escrow_address = '' where terms_sealed is null",
      'create index intents_created on intents (created_at_ms)',
      'create index intents_of_service on intents (base_url, created_at_ms, intent_id)',
      `create index intents_open on intents (base_url, created_at_ms, intent_id)
        where coalesce(json_extract(summary, '$.status'), '') not in ('booked', 'refunded')`,
      "create index intents_order on intents (json_extract(summary, '$.order_id'), created_at_ms)",
      "create index intents_offer on intents (json_extract(summary, '$.offer_id'), created_at_ms)",
      'create index intents_escrow on intents (escrow_address, created_at_ms)',
      'create index intents_typed on intents (typed_until_ms) where typed_until_ms is not null',
      'drop index payments_created',
      'create index payments_created on payments (created_at_ms, payment_id)',
      'create index payments_to on payments (pay_to, created_at_ms, payment_id)',
      'create index payments_transaction on payments ("transaction") where "transaction" is not null',
      `create index payments_open on payments (created_at_ms)
        where live_key is not null and state <> 'answered'`,
    ],
  },
  { name: '051_signed_at_slot', statements: ['alter table payments add column signed_at_slot bigint'] },
  {
    name: '060_watches',
    statements: [
      `create table watches (
        watch_id text primary key, base_url text not null, terms_sealed text not null, state text not null,
        next_at_ms bigint not null, created_at_ms bigint not null)`,
      `create table watch_looks (
        watch_id text not null, number bigint not null, begun_at_ms bigint not null, lease_until_ms bigint not null,
        holder bigint not null, state text not null, most bigint not null, paid bigint, price bigint, offer_id text,
        says text not null, primary key (watch_id, number))`,
      `create table watch_notices (
        watch_id text not null, number bigint not null, at bigint not null, way_sealed text not null,
        state text not null, tries bigint not null, holder bigint not null, primary key (watch_id, number, at))`,
    ],
  },
];
