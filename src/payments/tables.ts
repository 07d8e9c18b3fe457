import type { Generated, Kysely } from 'kysely';

/** A challenge that was given out: its request, its price and its expiry. */
export interface QuoteTable {
  quote_id: string;
  /** Method and path: `POST /air/search`. */
  resource: string;
  /** HMAC of the paid call's resource and request, in canonical JSON. */
  request_digest: string;
  amount: number;
  asset: string;
  pay_to: string;
  memo: string;
  expires_at_ms: number;
  created_at_ms: number;
}

/** The settlement journal, keyed by the payer's signature: it keeps answer and bytes, so a paid call happens once. */
export interface SettlementTable {
  payment_key: string;
  /** The client's own id (x402's `payment-identifier`), unique among a payer's payments that have not failed. */
  payment_id: string | null;
  quote_id: string;
  request_digest: string;
  state: 'claimed' | 'performed' | 'settling' | 'settled' | 'answered' | 'failed';
  payer: string;
  amount: number;
  pay_to: string;
  /** The fully signed transaction, base64: written before it is sent. */
  transaction: string | null;
  signature: string | null;
  last_valid_block_height: number | null;
  answer_status: number | null;
  /** The sealed answer, in rows from before the table `paid_answers`. */
  answer_sealed: string | null;
  /** The fence of the holder whose answer counts, in `paid_answers`. */
  answer_fence: number | null;
  settle_response: string | null;
  error_code: string | null;
  lease_until_ms: number;
  fence: Generated<number>;
  created_at_ms: number;
  updated_at_ms: number;
}

/** Answers of paid calls, one for each holder, so that an overtaken holder overwrites nothing. */
interface PaidAnswerTable {
  payment_key: string;
  fence: number;
  /** The body, compressed (brotli), then sealed in bytes: it can hold a support code. */
  body_sealed: Uint8Array;
  kept_at_ms: number;
}

export interface PaymentsTables {
  quotes: QuoteTable;
  paid_answers: PaidAnswerTable;
  settlements: SettlementTable;
}

export type Store = Kysely<PaymentsTables>;

export const paymentsMigrations = {
  create: [
    `create table quotes (
        quote_id text primary key, resource text not null, request_digest text not null, amount bigint not null,
        asset text not null, pay_to text not null, memo text not null unique,
        expires_at_ms bigint not null, created_at_ms bigint not null)`,

    `create table settlements (
        payment_key text primary key, quote_id text not null unique, request_digest text not null,
        state text not null, payer text not null, amount bigint not null, pay_to text not null,
        "transaction" text, signature text, last_valid_block_height bigint,
        answer_status bigint, answer_sealed text, settle_response text, error_code text,
        lease_until_ms bigint not null, fence bigint not null default 0,
        created_at_ms bigint not null, updated_at_ms bigint not null)`,
    'create index settlements_state on settlements (state)',
  ],

  settlementsByAge: ['create index settlements_updated on settlements (updated_at_ms)'],

  boundedWork: [
    'create index quotes_expiry on quotes (expires_at_ms)',

    'drop index settlements_state',
    'drop index settlements_updated',
    `create index settlements_open on settlements (updated_at_ms)
      where state in ('claimed', 'performed', 'settling')`,
    `create index settlements_finished on settlements (updated_at_ms)
      where state in ('answered', 'failed')`,
  ],

  // `bytea` is PostgreSQL's type; SQLite keeps bytes in a column of any type.
  answersApart: [
    `create table paid_answers (
        payment_key text not null, fence bigint not null, body_sealed bytea not null, kept_at_ms bigint not null,
        primary key (payment_key, fence))`,
    'create index paid_answers_kept on paid_answers (kept_at_ms)',
    'alter table settlements add column answer_fence bigint',
  ],
  /** Every start asks for the payment that was settled last. */
  newestSettled: [`create index settlements_settled on settlements (updated_at_ms) where state = 'settled'`],
  paymentIds: [
    'alter table settlements add column payment_id text',
    `create unique index settlements_payment_id on settlements (payer, payment_id)
      where payment_id is not null and state <> 'failed'`,
  ],
} as const;
