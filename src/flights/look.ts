import { type Glanced, glance, MOST_GLANCED } from '../store/glance.ts';

/** Read-only looks at the service's tables for completion and `doctor`, without opening the service. */

/** The `id` of a restored database in the list of work that waits for a person. */
export const UNRECONCILED = 'reconcile';

/** Work that waits for a person: `id`, what it is, and why. */
export const STUCK = `select intent_id as id, 'booking' as a, last_error as b from bookings where state = 'stuck'
  union all select request_id, 'refund request', last_error from refund_requests where state = 'stuck'
  union all select '${UNRECONCILED}', 'database', value from meta where key = 'database_behind'`;

/** Queries for the `id`s of rows that must not exist. */
export const BOOKS: readonly { readonly id: string; readonly query: string }[] = [
  {
    id: 'captured_and_refunded',
    query: `select subject as id from effects where kind in ('capture', 'refund') and state = 'done'
      group by subject having count(distinct kind) > 1`,
  },
  {
    id: 'paid_out_twice',
    query: `select subject as id from effects where kind = 'payout' and state = 'done'
      group by subject having count(*) > 1`,
  },
  {
    id: 'booking_without_intent',
    query: `select intent_id as id from bookings
      where not exists (select 1 from intents where intents.intent_id = bookings.intent_id)`,
  },
  {
    id: 'booked_without_order',
    query: `select intent_id as id from intents where status = 'booked'
      and not exists (select 1 from orders where orders.intent_id = intents.intent_id)`,
  },
];

/** Conditions that repeat those of their partial indexes. */
const SHOWN = [
  `state in ('received', 'approved', 'stuck') and state = 'received'`,
  `state in ('approved', 'stuck')`,
  `state in ('refunded', 'rejected') and state = 'refunded'`,
  `state in ('refunded', 'rejected') and state = 'rejected'`,
];

const newestIn = (which: string, place: number): string =>
  `select * from (select request_id as id, intent_id as a, state as b, requested_at_ms as at_ms from refund_requests
    where ${which} and requested_at_ms > 0 order by requested_at_ms desc limit ${MOST_GLANCED}) as newest_${place}`;

/** Refund requests, those that wait for an operator first. */
export const glanceAtRefundRequests = (home: string): Glanced[] =>
  glance(
    home,
    // Reads the newest of each state by its index, then sorts them together.
    `select id, a, b from (${SHOWN.map(newestIn).join(' union all ')}) as newest
      order by case when b = 'received' then 0 else 1 end, at_ms desc`,
  );

export const glanceAtStuck = (home: string): Glanced[] =>
  glance(
    home,
    `select id, a, b from (
      select * from (select intent_id as id, 'booking' as a, last_error as b from bookings
        where state = 'stuck' and updated_at_ms > 0 order by updated_at_ms limit ${MOST_GLANCED}) as bookings
      union all select * from (select request_id, 'refund request', last_error from refund_requests
        where state in ('approved', 'stuck') and state = 'stuck' and requested_at_ms > 0
        order by requested_at_ms limit ${MOST_GLANCED}) as requests) as waiting order by id`,
  );

export const glanceAtAffiliates = (home: string): Glanced[] =>
  glance(home, 'select code as id, wallet as a from affiliates where created_at_ms > 0 order by created_at_ms desc');

export const glanceAtOperatorKeys = (home: string): Glanced[] =>
  glance(home, 'select key_id as id, name as a from api_keys where revoked_at_ms is null order by created_at_ms desc');
