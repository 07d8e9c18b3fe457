import { type Glanced, glance } from '../store/glance.ts';

/**
 * The door for looks that change nothing, for completion and `doctor`: what the service's tables say, asked without
 * opening the service.
 */

/** Work that waits for a person: `id`, what it is, and why. */
export const STUCK = `select intent_id as id, 'booking' as a, last_error as b from bookings where state = 'stuck'
  union all select request_id, 'refund request', last_error from refund_requests where state = 'stuck'`;

/** Refund requests, those that wait for an operator first. */
export const glanceAtRefundRequests = (home: string): Glanced[] =>
  glance(
    home,
    `select request_id as id, intent_id as a, state as b from refund_requests where state <> 'settling'
      order by case when state = 'received' then 0 else 1 end, requested_at_ms desc`,
  );

/** Work that waits for a person. */
export const glanceAtStuck = (home: string): Glanced[] =>
  glance(home, `select id, a, b from (${STUCK}) as waiting order by id`);

export const glanceAtAffiliates = (home: string): Glanced[] =>
  glance(home, 'select code as id, wallet as a from affiliates order by created_at_ms desc');

/** Operators' keys that still work. */
export const glanceAtOperatorKeys = (home: string): Glanced[] =>
  glance(
    home,
    'select key_id as id, name as a from api_keys where revoked_at_ms is null order by created_at_ms desc',
  );
