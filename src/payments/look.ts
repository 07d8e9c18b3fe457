/** The door for looks that change nothing: asked of a database without opening the service. */

/** The newest payment that was settled: `signature`, or no row. */
export const NEWEST_SETTLED = `select signature from settlements
  where state in ('settled', 'answered') and signature is not null order by updated_at_ms desc limit 1`;
