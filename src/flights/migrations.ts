export const flightsMigrations = {
  searchCompletions: [
    'create table search_completions (id text primary key, at_ms bigint not null)',
    'create index search_completions_at on search_completions (at_ms)',
  ],

  intentsAndBookings: [
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
  ],

  intentPayments: [
    'alter table intents add column payment_key text',
    'create unique index intents_payment on intents (payment_key)',
    'create index intents_live on intents (expires_at_ms) where active_key is not null',
    'create table wrong_codes (id text primary key, subject text not null, at_ms bigint not null)',
    'create index wrong_codes_subject on wrong_codes (subject, at_ms)',
  ],

  upkeep: [
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

  lowcost: [
    `create table searches (
        search_id text primary key, request text not null, started_at_ms bigint not null,
        expires_at_ms bigint not null)`,
    'create index searches_expiry on searches (expires_at_ms)',
    `create table fare_menus (
        offer_id text primary key, status text not null, fares text not null, opened_at_ms bigint not null,
        checked_at_ms bigint, expires_at_ms bigint not null)`,
  ],

  refundRequests: [
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

  affiliates: [
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

  sponsoredPreviews: [
    'create table sponsored_signatures (signature text primary key, expires_at_ms bigint not null)',
    'create index sponsored_signatures_expiry on sponsored_signatures (expires_at_ms)',
  ],

  stuck: ['alter table bookings add column stuck_in text', 'alter table affiliate_payouts add column last_error text'],

  creations: [
    'alter table intents add column creating_key text',
    'create unique index intents_creating on intents (creating_key) where creating_key is not null',
  ],

  openBookings: [
    'drop index bookings_open',
    `create index bookings_open on bookings (due_at_ms) where state not in ('booked', 'refunded', 'stuck')`,
  ],

  boundedBookings: [
    'drop index bookings_due',
    `create index bookings_open on bookings (due_at_ms)
      where state in ('settling', 'queued', 'ordering', 'ticketing', 'capturing', 'refunding')`,
    `create index bookings_stuck on bookings (updated_at_ms) where state = 'stuck'`,
    'create index bookings_payment on bookings (payment_key)',

    'drop index intents_status',
    'create index intents_opening on intents (created_at_ms) where active_key is not null and opened_at_ms is null',
    'drop index intents_referrer',
    `create index intents_referrer on intents (referrer, status, captured_at_ms, credited_at_ms, affiliate_amount)
      where referrer is not null`,
  ],

  boundedUpkeep: [
    'drop index upkeep_due',
    'create index upkeep_task on upkeep (task, due_at_ms)',
    // A refund that an operator granted ends the journey early. Later refunds bring the purge forward themselves.
    `update upkeep set due_at_ms = 0 where task = 'purge' and intent_id in (
      select intent_id from intents where status = 'refunded' and refund_reason = 'refund_request_approved')`,

    'drop index refund_requests_intent',
    'create index refund_requests_intent on refund_requests (intent_id, requested_at_ms)',
    'drop index refund_requests_state',
    `create index refund_requests_open on refund_requests (due_at_ms) where state in ('settling', 'approved')`,
    `create index refund_requests_undecided_age on refund_requests (requested_at_ms, request_id)
      where state in ('received', 'approved', 'stuck')`,
    `create index refund_requests_undecided_journey on refund_requests (journey_date, request_id)
      where state in ('received', 'approved', 'stuck')`,
    `create index refund_requests_decided_age on refund_requests (state, requested_at_ms, request_id)
      where state in ('refunded', 'rejected')`,
    `create index refund_requests_decided_journey on refund_requests (state, journey_date, request_id)
      where state in ('refunded', 'rejected')`,

    'alter table affiliate_payouts add column lease_until_ms bigint not null default 0',
    'alter table affiliate_payouts add column fence bigint not null default 0',
    'drop index affiliate_payouts_due',
    `create index affiliate_payouts_open on affiliate_payouts (due_at_ms) where state = 'open'`,
    `create index affiliate_payouts_age on affiliate_payouts (created_at_ms) where state = 'open'`,
    'drop index affiliate_payouts_code',
    'create index affiliate_payouts_code on affiliate_payouts (code, state, amount)',
  ],

  intentsByAge: ['create index intents_created on intents (created_at_ms, amount)'],

  locks: ['create index intents_locks on intents (funding_wallet, expires_at_ms) where active_key is not null'],

  /** Indexes for the sort orders of the lists of refund requests and unfinished work, per filter. */
  lists: [
    // Granted requests are few. An index beginning with `state` would also be chosen for the many undecided ones.
    `create index refund_requests_granted_age on refund_requests (requested_at_ms, request_id)
      where state in ('approved', 'stuck')`,
    `create index refund_requests_granted_journey on refund_requests (journey_date, request_id)
      where state in ('approved', 'stuck')`,
    'drop index operator_audit_subject',
    'create index operator_audit_subject on operator_audit (subject, audit_id)',
    `create index affiliate_payouts_failing on affiliate_payouts (created_at_ms)
      where state = 'open' and attempts >= 5`,
  ],

  realAirlines: [
    // The airline's refund quote, as last shown to the operator (JSON).
    'alter table refund_requests add column airline_quote text',
    'alter table orders add column changed_at_ms bigint',
  ],

  saleKeys: [
    'alter table intents add column sale_key text',
    'create index intents_sale on intents (sale_key) where sale_key is not null',
  ],

  agreements: [
    // Approvals of earlier releases lack it. Their quote is uncertain, so an operator agrees again.
    'alter table refund_requests add column agreed text',
    'alter table orders add column cancelled_by text',
    `update orders set cancelled_by = 'airline'
      where changed_at_ms is not null and document like '%"status":"cancelled"%' and not exists (
        select 1 from effects where effects.live_key = 'airline_cancel:' || orders.intent_id)`,
  ],

  bags: ['alter table intents add column bags text'],

  seats: ['alter table intents add column seats text'],

  authorities: ['alter table intents add column authority text'],

  passengerRefunds: ['alter table refund_requests add column passengers text'],

  authorizations: [`alter table intents add column escrow_kind text not null default 'opened'`],
} as const;
