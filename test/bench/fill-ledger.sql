-- Fills an embedded cluster's ledger: :rows transactions that name the account :account, before those that come now.
with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
insert into transactions (seq, signature, slot, block_time, err, wire, meta, memo)
select (select max(seq) from transactions) + i, 'sig_fill' || i, (select max(slot) from transactions), :now / 1000, null,
  zeroblob(300), '{}', '' from n;

insert into transaction_accounts (address, seq)
select ':account', seq from transactions where signature like 'sig_fill%';
