import type { Migration } from '../applied-steps.ts';
import { complianceMigration } from './compliance-migration.ts';
import { outboundMigration } from './outbound-migration.ts';

/** The partner service's tables (src/store/tables/partner-tables.ts says what is in them). */
export const partnerMigrations: readonly Migration[] = [
  {
    name: '020_partner_service',
    statements: [
      `create table partners (
        partner_id text primary key, environment text not null, name text not null, type text not null,
        platform_url text not null, icon text not null, terms_url text not null, privacy_policy_url text not null,
        offering text not null, webhook_secret_sealed text not null, enabled bigint not null,
        created_at_ms bigint not null, updated_at_ms bigint not null)`,

      `create table partner_keys (
        key_id text primary key, partner_id text not null, environment text not null, name text not null,
        key_hmac text not null unique, created_at_ms bigint not null, last_used_at_ms bigint,
        expires_at_ms bigint, revoked_at_ms bigint, replaced_by text)`,
      'create index partner_keys_partner on partner_keys (partner_id)',

      `create table customers (
        customer_id text primary key, environment text not null, country text not null,
        created_at_ms bigint not null)`,
      `create table customer_partners (
        customer_id text not null, partner_id text not null, created_at_ms bigint not null,
        primary key (customer_id, partner_id))`,
      `create table customer_tokens (
        token_hmac text primary key, customer_id text not null, environment text not null,
        expires_at_ms bigint not null, created_at_ms bigint not null)`,
      'create index customer_tokens_expiry on customer_tokens (expires_at_ms)',

      `create table partner_orders (
        order_id text primary key, environment text not null, partner_id text not null, customer_id text not null,
        external_id text, creation text not null, status text, transaction_type text not null,
        country_code text not null, source_currency text not null, source_amount text not null,
        destination_currency text not null, destination_amount text, network text not null,
        payment_method text not null, deposit_instructions_sealed text, customer_payment_details_data_id text,
        customer_wallet_data_id text, source_transaction_id text, destination_transaction_id text,
        reason_sealed text, customer_facing_reason_sealed text, return_details_sealed text,
        redirect_url_sealed text, funds_seen bigint not null default 0,
        payment_processed bigint not null default 0, version bigint not null default 1,
        creation_key text unique, request_digest text, creation_sealed text, due_at_ms bigint,
        lease_until_ms bigint not null default 0, fence bigint not null default 0,
        attempts bigint not null default 0, last_error text,
        created_at_ms bigint not null, updated_at_ms bigint not null)`,
      'create index partner_orders_newest on partner_orders (partner_id, creation, created_at_ms, order_id)',
      `create index partner_orders_status on partner_orders
        (partner_id, creation, status, created_at_ms, order_id)`,
      'create index partner_orders_customer on partner_orders (customer_id)',
      'create index partner_orders_due on partner_orders (due_at_ms) where due_at_ms is not null',

      `create table partner_order_changes (
        order_id text not null, version bigint not null, from_status text, to_status text not null,
        fields text not null, actor text not null, request_id text not null, at_ms bigint not null,
        primary key (order_id, version))`,

      `create table partner_answers (
        handle text primary key, request_digest text not null, status bigint not null,
        answer_sealed text not null, expires_at_ms bigint not null)`,
      'create index partner_answers_expiry on partner_answers (expires_at_ms)',

      `create table partner_outbound (
        outbound_id text primary key, partner_id text not null, order_id text not null, kind text not null,
        attempt bigint not null, outcome text not null, status bigint, duration_ms bigint not null,
        raw_response_sealed text, at_ms bigint not null)`,
      'create index partner_outbound_order on partner_outbound (order_id)',
      'create index partner_outbound_partner on partner_outbound (partner_id, at_ms)',

      `create table partner_breakers (
        partner_id text primary key, failures bigint not null, open_until_ms bigint not null,
        updated_at_ms bigint not null)`,
    ],
  },
  complianceMigration,
  outboundMigration,
  {
    // For the retention: finds rows that still hold personal data.
    name: '023_partner_retention',
    statements: [
      `create index partner_orders_sealed on partner_orders (updated_at_ms)
        where (creation_sealed is not null or redirect_url_sealed is not null
          or deposit_instructions_sealed is not null or reason_sealed is not null
          or customer_facing_reason_sealed is not null or return_details_sealed is not null)`,
      `create index partner_outbound_sealed on partner_outbound (at_ms)
        where (request_sealed is not null or raw_response_sealed is not null)`,
    ],
  },
];
