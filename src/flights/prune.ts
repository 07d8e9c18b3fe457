import type { FlightsPorts } from './ports.ts';

const DAY_MS = 86_400_000;
const KEEP_SETTLEMENTS_MS = 7 * DAY_MS;

/**
 * Removes what nobody can ask for any more: dead quotes, counted searches, wrong codes, and finished payments whose
 * answer (it can hold a support code) was kept for a week. A payment that somebody still has to ask about stays: one
 * of a booking that is not over, of an intent whose creation is open, of a refund request that is being settled.
 */
export async function prune({ store, clock }: Pick<FlightsPorts, 'store' | 'clock'>): Promise<void> {
  const nowMs = clock.now();
  await store
    .deleteFrom('search_completions')
    .where('at_ms', '<=', nowMs - DAY_MS)
    .execute();
  await store
    .deleteFrom('wrong_codes')
    .where('at_ms', '<=', nowMs - 2 * DAY_MS)
    .execute();
  await store
    .deleteFrom('settlements')
    .where('updated_at_ms', '<=', nowMs - KEEP_SETTLEMENTS_MS)
    .where('state', 'in', ['answered', 'failed'])
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('bookings')
            .select('bookings.intent_id')
            .whereRef('bookings.payment_key', '=', 'settlements.payment_key')
            .where('bookings.state', 'not in', ['booked', 'refunded']),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('intents')
            .select('intents.intent_id')
            .whereRef('intents.payment_key', '=', 'settlements.payment_key')
            .where('intents.opened_at_ms', 'is', null)
            .where('intents.abandoned', '=', 0),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('refund_requests')
            .select('refund_requests.request_id')
            .whereRef('refund_requests.payment_key', '=', 'settlements.payment_key')
            .where('refund_requests.state', '=', 'settling'),
        ),
      ),
    )
    .execute();
  await store
    .deleteFrom('quotes')
    .where('expires_at_ms', '<=', nowMs - DAY_MS)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('settlements')
            .select('settlements.quote_id')
            .whereRef('settlements.quote_id', '=', 'quotes.quote_id'),
        ),
      ),
    )
    .execute();
}
