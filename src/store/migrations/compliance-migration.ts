import type { Migration } from '../applied-steps.ts';

export const complianceMigration: Migration = {
  name: '021_compliance',
  statements: [
    `create table partner_requirements (
      requirement_id text primary key, customer_id text not null, partner_id text not null,
      data_type text, attestation_type text, max_age_days bigint, ask_key text not null unique,
      created_at_ms bigint not null)`,
    'create index partner_requirements_customer on partner_requirements (customer_id)',

    `create table customer_data (
      data_id text primary key, customer_id text not null, type text not null, network text,
      value_hmac text not null, "rank" bigint not null, submitted_at_ms bigint not null,
      last_used_at_ms bigint not null, unique (customer_id, type, value_hmac))`,
    'create index customer_data_last_used on customer_data (last_used_at_ms)',
    `create table customer_data_fields (
      data_id text not null, field text not null, value_sealed text not null, primary key (data_id, field))`,

    `create table attestation_runs (
      attestation_id text primary key, customer_id text not null, type text not null, input_key text not null,
      "rank" bigint not null, state text not null, live_key text unique, due_at_ms bigint not null,
      lease_until_ms bigint not null, fence bigint not null default 0, attempts bigint not null,
      started_at_ms bigint not null, finished_at_ms bigint, decided_by text)`,
    'create index attestation_runs_customer on attestation_runs (customer_id)',
    'create index attestation_runs_due on attestation_runs (state, due_at_ms)',

    `create table terms_acceptances (
      acceptance_id text primary key, customer_id text not null, version text not null, terms_url text not null,
      privacy_policy_url text not null, accepted_at_ms bigint not null)`,
    'create index terms_acceptances_customer on terms_acceptances (customer_id)',

    `create table wanted_orders (
      customer_id text not null, ramp_type text not null, partner_id text not null, country text, usd text,
      network text, wanted_at_ms bigint not null, primary key (customer_id, ramp_type))`,
  ],
};
