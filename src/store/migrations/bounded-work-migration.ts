import type { Migration } from '../applied-steps.ts';

/**
 * Every question that the worker and the sweeps ask has an index over the rows that it is about, and over no others:
 * what is done costs nothing, however much of it there is. A partial index counts only where a query says the same
 * words (`Queue.open` in queue.ts); test/store/plans-*.test.ts hold every statement against it.
 */
export const boundedWorkMigration: Migration = {
  name: '030_bounded_work',
  statements: [
    'create index quotes_expiry on quotes (expires_at_ms)',

    'drop index settlements_state',
    'drop index settlements_updated',
    `create index settlements_open on settlements (updated_at_ms)
      where state in ('claimed', 'performed', 'settling')`,
    `create index settlements_finished on settlements (updated_at_ms)
      where state in ('answered', 'failed')`,

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

    'drop index effects_state',
    `create index effects_sent on effects (updated_at_ms) where state = 'sent' and signature is not null`,
    `create index effects_stuck on effects (updated_at_ms) where state = 'stuck' and signature is not null`,
    `create index effects_open on effects (created_at_ms) where state in ('planned', 'sent', 'stuck')`,

    'drop index outbox_due',
    `create index outbox_pages on outbox (next_at_ms) where kind = 'page' and state in ('queued', 'sending')`,
    `create index outbox_mails on outbox (next_at_ms) where kind = 'email' and state in ('queued', 'sending')`,

    'drop index upkeep_due',
    'create index upkeep_task on upkeep (task, due_at_ms)',
    // A refund that an operator granted ends a journey before its last arrival. From now on that is written with it.
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
};
