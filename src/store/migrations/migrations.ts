import type { Migration } from '../applied-steps.ts';
import { boundedWorkMigration } from './bounded-work-migration.ts';
import { partnerMigrations } from './partner-migrations.ts';

/** The service database, step by step. */
export const serviceMigrations: readonly Migration[] = [
  {
    name: '001_flight_service',
    statements: [
      'create table meta (key text primary key, value text not null)',

      'create table search_completions (id text primary key, at_ms bigint not null)',
      'create index search_completions_at on search_completions (at_ms)',

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

      `create table intents (
        intent_id text primary key, status text not null, offer_id text not null, offer text not null,
        passenger_count bigint not null, funding_wallet text not null, refund_wallet text not null, referrer text,
        support_code_hmac text not null, escrow_address text not null unique, vault_address text not null,
        mint text not null, amount bigint not null, program_id text not null, refund_after_ms bigint not null,
        fee_amount bigint not null, observed_amount bigint, opened_at_ms bigint,
        abandoned bigint not null default 0, order_id text, booking_requested_at_ms bigint,
        ticketed_at_ms bigint, captured_at_ms bigint, capture_tx_hash text, refund_reason text,
        refunded_at_ms bigint, refund_tx_hash text, active_key text unique,
        expires_at_ms bigint not null, created_at_ms bigint not null, updated_at_ms bigint not null)`,
      'create index intents_status on intents (status, expires_at_ms)',

      `create table bookings (
        intent_id text primary key, state text not null, payment_key text not null,
        passengers_sealed text not null, provider_order_id text, refund_reason text,
        requested_at_ms bigint not null, due_at_ms bigint not null, lease_until_ms bigint not null,
        fence bigint not null default 0, attempts bigint not null default 0, last_error text,
        updated_at_ms bigint not null)`,
      'create index bookings_due on bookings (state, due_at_ms)',

      `create table orders (
        order_id text primary key, intent_id text not null unique, provider_order_id text not null,
        document text not null, created_at_ms bigint not null, updated_at_ms bigint not null)`,

      `create table effects (
        effect_id text primary key, kind text not null, subject text not null, state text not null,
        live_key text unique, attempt bigint not null, "transaction" text, signature text,
        last_valid_block_height bigint, reference text, result text, error text,
        created_at_ms bigint not null, updated_at_ms bigint not null)`,
      'create index effects_subject on effects (subject, kind)',
      'create index effects_state on effects (state)',
    ],
  },
  {
    name: '002_intent_payments',
    statements: [
      'alter table intents add column payment_key text',
      'create unique index intents_payment on intents (payment_key)',
      'create index intents_live on intents (expires_at_ms) where active_key is not null',
      'create table wrong_codes (id text primary key, subject text not null, at_ms bigint not null)',
      'create index wrong_codes_subject on wrong_codes (subject, at_ms)',
    ],
  },
  {
    name: '012_refund_requests',
    statements: [
      `create table refund_requests (
        request_id text primary key, intent_id text not null, open_key text unique,
        payment_key text not null unique, state text not null, reason_sealed text not null, contact_sealed text,
        journey_date text not null, requested_at_ms bigint not null,
        claimed_by text, claimed_by_name text, claimed_at_ms bigint,
        decided_by_name text, decided_at_ms bigint, decision_sealed text,
        payout_amount bigint, penalty_amount bigint, payout_tx_hash text,
        due_at_ms bigint not null, lease_until_ms bigint not null, fence bigint not null default 0,
        attempts bigint not null default 0, last_error text, updated_at_ms bigint not null)`,
      'create index refund_requests_intent on refund_requests (intent_id)',
      'create index refund_requests_state on refund_requests (state, due_at_ms)',
      `create table refund_notes (
        note_id text primary key, request_id text not null, operator_name text not null,
        text_sealed text not null, at_ms bigint not null)`,
      'create index refund_notes_request on refund_notes (request_id, at_ms)',
      `create table api_keys (
        key_id text primary key, kind text not null, name text not null, key_hmac text not null unique,
        created_at_ms bigint not null, last_used_at_ms bigint, revoked_at_ms bigint)`,
      `create table operator_audit (
        audit_id text primary key, at_ms bigint not null, key_id text not null, operator_name text not null,
        action text not null, subject text not null, request_id text not null, detail text not null)`,
      'create index operator_audit_subject on operator_audit (subject, at_ms)',
      'create index operator_audit_at on operator_audit (at_ms)',
      'create index wrong_codes_at on wrong_codes (at_ms)',
    ],
  },
  {
    name: '010_notify',
    statements: [
      `create table outbox (
        message_id text primary key, kind text not null, dedup_key text not null unique, intent_id text,
        payload_sealed text not null, state text not null, attempts bigint not null, next_at_ms bigint not null,
        lease_until_ms bigint not null, fence bigint not null default 0, last_error text,
        created_at_ms bigint not null, updated_at_ms bigint not null)`,
      'create index outbox_due on outbox (state, next_at_ms)',
      'create index outbox_intent on outbox (intent_id)',
      'create index settlements_updated on settlements (updated_at_ms)',

      `create table upkeep (
        intent_id text not null, task text not null, due_at_ms bigint not null, attempts bigint not null default 0,
        created_at_ms bigint not null, primary key (intent_id, task))`,
      'create index upkeep_due on upkeep (due_at_ms)',
      `insert into upkeep (intent_id, task, due_at_ms, created_at_ms)
        select intent_id, 'late_money', updated_at_ms, updated_at_ms from bookings
        where state in ('booked', 'refunded')`,
      `insert into upkeep (intent_id, task, due_at_ms, created_at_ms)
        select intent_id, 'close_escrow', updated_at_ms, updated_at_ms from bookings
        where state in ('booked', 'refunded')`,
      `insert into upkeep (intent_id, task, due_at_ms, created_at_ms)
        select intent_id, 'purge', updated_at_ms, updated_at_ms from bookings
        where state in ('booked', 'refunded') and passengers_sealed <> ''`,
    ],
  },
  {
    name: '011_lowcost',
    statements: [
      `create table searches (
        search_id text primary key, request text not null, started_at_ms bigint not null,
        expires_at_ms bigint not null)`,
      'create index searches_expiry on searches (expires_at_ms)',
      `create table fare_menus (
        offer_id text primary key, status text not null, fares text not null, opened_at_ms bigint not null,
        checked_at_ms bigint, expires_at_ms bigint not null)`,
    ],
  },
  {
    name: '013_affiliates',
    statements: [
      `create table affiliates (
        code text primary key, wallet text not null unique, created_at_ms bigint not null, credited_at_ms bigint)`,
      'create index affiliates_created on affiliates (created_at_ms)',
      'alter table intents add column referrer_wallet text',
      'alter table intents add column affiliate_amount bigint',
      'alter table intents add column credit_due_at_ms bigint',
      'alter table intents add column credited_at_ms bigint',
      'create index intents_credit on intents (credit_due_at_ms) where credit_due_at_ms is not null',
      'create index intents_referrer on intents (referrer) where referrer is not null',
      `create table affiliate_payouts (
        payout_id text primary key, code text not null, wallet text not null, amount bigint not null,
        state text not null, attempts bigint not null, due_at_ms bigint not null, signature text,
        created_at_ms bigint not null, paid_at_ms bigint)`,
      'create index affiliate_payouts_due on affiliate_payouts (state, due_at_ms)',
      'create index affiliate_payouts_code on affiliate_payouts (code)',
    ],
  },
  {
    name: '014_sponsored_previews',
    statements: [
      'create table sponsored_signatures (signature text primary key, expires_at_ms bigint not null)',
      'create index sponsored_signatures_expiry on sponsored_signatures (expires_at_ms)',
    ],
  },
  {
    name: '015_stuck',
    statements: [
      'alter table bookings add column stuck_in text',
      'alter table affiliate_payouts add column last_error text',
    ],
  },
  {
    name: '016_creations',
    statements: [
      'alter table intents add column creating_key text',
      'create unique index intents_creating on intents (creating_key) where creating_key is not null',
    ],
  },
  ...partnerMigrations,
  boundedWorkMigration,
];
