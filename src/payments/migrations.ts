/** What makes the tables of payments, step by step. */
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

  // SQLite keeps bytes in a column of any type; this one has PostgreSQL's word for them.
  answersApart: [
    `create table paid_answers (
        payment_key text not null, fence bigint not null, body_sealed bytea not null, kept_at_ms bigint not null,
        primary key (payment_key, fence))`,
    'create index paid_answers_kept on paid_answers (kept_at_ms)',
    'alter table settlements add column answer_fence bigint',
  ],
  /** Which payment was settled last is asked at every start. */
  newestSettled: [`create index settlements_settled on settlements (updated_at_ms) where state = 'settled'`],
} as const;
