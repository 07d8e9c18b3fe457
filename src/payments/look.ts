/** The door for looks that change nothing: asked of a database without opening the service. */

/**
 * The newest payment that was settled and answered: `signature`, or no row. Asked at every start: the first condition is
 * that of the index settlements_finished, which is read from its end.
 */
export const NEWEST_SETTLED = `select signature from settlements
  where state in ('answered', 'failed') and updated_at_ms > 0 and state = 'answered' and signature is not null
  order by updated_at_ms desc limit 1`;
