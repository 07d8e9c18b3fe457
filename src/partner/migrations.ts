export const partnerMigrations = {
  create: [
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

  compliance: [
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

  outbound: [
    'alter table partner_outbound add column reason text',
    'alter table partner_outbound add column request_sealed text',
    'alter table partner_breakers add column probe_until_ms bigint not null default 0',
    'alter table partner_breakers add column calls bigint not null default 0',
    'alter table partner_breakers add column answered bigint not null default 0',
  ],

  /** Indexes by which the retention finds rows that still hold personal data. */
  retention: [
    `create index partner_orders_sealed on partner_orders (updated_at_ms)
        where (creation_sealed is not null or redirect_url_sealed is not null
          or deposit_instructions_sealed is not null or reason_sealed is not null
          or customer_facing_reason_sealed is not null or return_details_sealed is not null)`,
    `create index partner_outbound_sealed on partner_outbound (at_ms)
        where (request_sealed is not null or raw_response_sealed is not null)`,
  ],

  boundedWork: [
    'drop index attestation_runs_due',
    `create index attestation_runs_open on attestation_runs (due_at_ms) where state = 'running'`,
    `create index attestation_runs_shown on attestation_runs (started_at_ms, attestation_id)
      where state in ('running', 'rejected')`,

    'drop index partner_orders_newest',
    `create index partner_orders_newest on partner_orders
      (partner_id, environment, creation, created_at_ms, order_id)`,
    'drop index partner_orders_status',
    `create index partner_orders_status on partner_orders
      (partner_id, environment, creation, status, created_at_ms, order_id)`,
    'create index partner_orders_external on partner_orders (partner_id, external_id)',
    'drop index partner_orders_customer',
    'create index partner_orders_customer on partner_orders (customer_id, creation, status)',

    'create index wanted_orders_age on wanted_orders (wanted_at_ms)',
  ],

  /** Keeps the number of a partner's orders in each status, so that a list need not count them. */
  lists: [
    `create table partner_order_counts (
        partner_id text not null, environment text not null, status text not null, orders bigint not null,
        primary key (partner_id, environment, status))`,
    `insert into partner_order_counts (partner_id, environment, status, orders)
        select partner_id, environment, status, count(*) from partner_orders
        where creation = 'created' and status is not null group by partner_id, environment, status`,
    'create index attestation_runs_started on attestation_runs (started_at_ms)',
  ],

  rotation: [
    'alter table partners add column webhook_secret_before_sealed text',
    'alter table partners add column webhook_secret_before_until_ms bigint',
    'alter table customers add column blocked_at_ms bigint',
  ],

  /**
   * How an order was begun. For existing orders that no platform has taken: the kind of the first request, or the
   * partner's current type if none was sent.
   */
  doubts: [
    `alter table partner_orders add column begun_as text not null default 'INTEGRATION'`,
    `update partner_orders set begun_as = 'REDIRECT' where creation = 'redirected'`,
    `update partner_orders set begun_as = 'REDIRECT' where creation in ('creating', 'failed') and coalesce(
        (select kind from partner_outbound where partner_outbound.order_id = partner_orders.order_id
          order by at_ms limit 1),
        (select type from partners where partners.partner_id = partner_orders.partner_id))
        in ('redirect-order', 'REDIRECT')`,
    'alter table partner_order_changes add column previous_sealed text',
    `create index partner_orders_in_error on partner_orders (updated_at_ms)
        where status = 'ERROR' and last_error is not null`,
  ],

  /**
   * The platform's address when an order was begun; orders that are being created get the partner's current address.
   * Also an operator's reason for deciding an attestation.
   */
  platforms: [
    'alter table partner_orders add column platform_url text',
    `update partner_orders set platform_url =
        (select platform_url from partners where partners.partner_id = partner_orders.partner_id)
        where creation = 'creating'`,
    'alter table attestation_runs add column reason_sealed text',
  ],
} as const;
