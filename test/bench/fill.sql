-- Fills a service's database with the traces of much use: :rows of everything that grows. SQLite and PostgreSQL alike.
-- :now is the moment (epoch ms) that it happened before, :days how many days back it goes. Most of it is done; with 20
-- days some is old enough to go. Some is blocked.
with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into quotes (quote_id, resource, request_digest, amount, asset, pay_to, memo, expires_at_ms, created_at_ms)
select 'quo_fill' || i, 'POST /air/search', 'digest', 100000, 'mint', 'treasury', 'pay_fill' || i,
  :now - 86400000 * (i % :days) + 60000, :now - 86400000 * (i % :days) - 60000 from n;

with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into settlements (payment_key, quote_id, request_digest, state, payer, amount, pay_to, signature,
  answer_status, answer_sealed, lease_until_ms, fence, created_at_ms, updated_at_ms)
select 'key_fill' || i, 'quo_fill' || i, 'digest', case i % 7 when 0 then 'failed' else 'answered' end, 'payer', 100000,
  'treasury', (select max(signature) from settlements where payment_key not like 'key_fill%'), 200, 'sealed', 0, 1, :now - 86400000 * (i % :days), :now - 86400000 * (i % :days) from n;

with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into intents (intent_id, status, offer_id, offer, passenger_count, funding_wallet, refund_wallet, referrer,
  referrer_wallet, affiliate_amount, credit_due_at_ms, credited_at_ms, support_code_hmac, escrow_address, vault_address,
  mint, amount, program_id, refund_after_ms, fee_amount, opened_at_ms, abandoned, booking_requested_at_ms,
  captured_at_ms, refunded_at_ms, refund_reason, payment_key, expires_at_ms, created_at_ms, updated_at_ms)
select 'int_fill' || i, case i % 3 when 0 then 'refunded' when 1 then 'booked' else 'active' end, 'off_fill' || i,
  '{"slices":[],"total_currency":"USD"}', 1, 'wallet', 'wallet', case when i % 2 = 0 then 'FILLFILL00' end, 'wallet',
  1000, case when i % 4 = 0 and i % 3 = 1 then :now + 2592000000 end, null, 'hmac', 'esc_fill' || i, 'vau_fill' || i,
  'mint', 151200000, 'program', :now, 1512000, :now - 86400000, 0, case i % 3 when 2 then null else :now - 86400000 end,
  case i % 3 when 1 then :now - 86400000 end, case i % 3 when 0 then :now - 86400000 end,
  case i % 3 when 0 then 'intent_expired' end, 'kin_fill' || i, :now - 86400000, :now - 90000000, :now - 86400000
from n;

with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into bookings (intent_id, state, payment_key, passengers_sealed, requested_at_ms, due_at_ms, lease_until_ms,
  fence, attempts, updated_at_ms)
select 'int_fill' || i, case i % 3 when 0 then 'refunded' when 1 then 'booked' else 'stuck' end, 'key_fill' || i,
  'sealed', :now - 86400000, :now - 86400000, 0, 1, 0, :now - 86400000 from n;

with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into orders (order_id, intent_id, provider_order_id, document, created_at_ms, updated_at_ms)
select 'ord_fill' || i, 'int_fill' || i, 'air_fill' || i, '{}', :now - 86400000, :now - 86400000 from n;

with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into effects (effect_id, kind, subject, state, live_key, attempt, created_at_ms, updated_at_ms)
select 'eff_00fill' || i, 'capture', 'int_fill' || i, 'done', 'capture:int_fill' || i, 1, :now - 86400000,
  :now - 86400000 from n;

with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into outbox (message_id, kind, dedup_key, intent_id, payload_sealed, state, attempts, next_at_ms,
  lease_until_ms, fence, created_at_ms, updated_at_ms)
select 'msg_fill' || i, case i % 2 when 0 then 'page' else 'email' end, 'fill:' || i, 'int_fill' || i, '', 'sent', 1,
  :now - 86400000, 0, 1, :now - 86400000, :now - 86400000 from n;

with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into refund_requests (request_id, intent_id, payment_key, state, reason_sealed, journey_date, requested_at_ms,
  due_at_ms, lease_until_ms, fence, attempts, updated_at_ms)
select 'ref_fill' || i, 'int_fill' || i, 'krr_fill' || i, case i % 2 when 0 then 'rejected' else 'refunded' end,
  'sealed', '2026-12-20', :now - 86400000 - i, :now - 86400000, 0, 1, 0, :now - 86400000 from n;

with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into upkeep (intent_id, task, due_at_ms, attempts, created_at_ms)
select 'int_fill' || i, 'purge', :now + 2592000000, 0, :now - 86400000 from n;

with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into search_completions (id, at_ms) select 'fill' || i, :now - 86400000 * (i % :days) - 120000 from n;

with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into wrong_codes (id, subject, at_ms) select 'fill' || i, 'intent:int_fill' || i, :now - 86400000 * (i % :days) from n;

with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into affiliate_payouts (payout_id, code, wallet, amount, state, attempts, due_at_ms, created_at_ms, paid_at_ms)
select 'pay_fill' || i, 'FILLFILL00', 'wallet', 1, 'paid', 1, :now - 86400000, :now - 86400000, :now from n;

with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into partner_orders (order_id, environment, partner_id, customer_id, creation, status, transaction_type,
  country_code, source_currency, source_amount, destination_currency, network, payment_method, created_at_ms,
  updated_at_ms)
select 'rmp_fill' || i, 'demo', 'par_sandbox_bank', 'cus_fill' || (i % 100), 'created',
  case i % 4 when 0 then 'AWAITING_FUNDS' else 'PAYMENT_PROCESSED' end, 'ONRAMP', 'DEU', 'EUR', '100', 'SOLANA_USDC',
  'SOLANA', 'SEPA', :now - i, :now - i from n;

insert into partner_order_counts (partner_id, environment, status, orders)
select partner_id, environment, status, count(*) from partner_orders where order_id like 'rmp_fill%'
group by partner_id, environment, status
on conflict (partner_id, environment, status) do update set orders = partner_order_counts.orders + excluded.orders;

with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into attestation_runs (attestation_id, customer_id, type, input_key, "rank", state, due_at_ms, lease_until_ms,
  attempts, started_at_ms)
select 'att_fill' || i, 'cus_fill' || (i % 100), 'AML_CHECK', 'dat', i, 'passed', :now, 0, 1, :now from n;
