-- Fills the tool's own journal: :rows payments and intents of the wallet :wallet, all of them done before :now. What is
-- sealed cannot be opened: nothing opens what it does not show.
with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into payments (payment_id, live_key, state, base_url, host, resource, wallet, payload_sealed, body_sealed,
  headers_sealed, answer_sealed, amount, asset, pay_to, network, "transaction", last_valid_block_height, error_code,
  created_at_ms, updated_at_ms)
select 'pay_fill' || i, null, 'answered', 'http://farelock.local', 'farelock.local', 'POST /air/search', ':wallet',
  hex(zeroblob(300)), hex(zeroblob(60)), hex(zeroblob(30)), null, 100000, 'mint', 'treasury', 'network', 'txn_fill' || i,
  1, null, :now - 172800000 - i * 1000, :now - 172800000 - i * 1000 from n;

with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into intents (intent_id, base_url, support_code_sealed, summary, terms_sealed, escrow_address, created_at_ms)
select 'int_fill' || i, 'http://farelock.local', hex(zeroblob(40)),
  '{"offer_id":"off_fill' || i || '","amount":"151.20","status":"booked","order_id":"ord_fill' || i
  || '","route":"LIS-BER","departure_date":"2026-12-20","expires_at":"2026-11-01T00:00:00Z"}',
  null, '', :now - 172800000 - i * 1000 from n;
