/** Selects the `signature` of the newest settled payment, to be read without opening the service. */
export const NEWEST_SETTLED = `select signature from (
  select * from (select signature, updated_at_ms from settlements
    where state in ('answered', 'failed') and state = 'answered' and signature is not null and updated_at_ms > 0
    order by updated_at_ms desc limit 1) as answered
  union all select * from (select signature, updated_at_ms from settlements
    where state = 'settled' and signature is not null and updated_at_ms > 0
    order by updated_at_ms desc limit 1) as unanswered) as newest
  order by updated_at_ms desc limit 1`;
