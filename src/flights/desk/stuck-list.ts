import { type SqlBool, sql } from 'kysely';
import { instant } from '../../kernel/clock.ts';
import type { Stuck } from '../../wire/flights/index.ts';
import type { FlightsPorts } from '../ports.ts';
import { PAYOUT_TRIES } from '../refunds/affiliate-credit.ts';
import { IS_GRANTED, SUMMARISED, summariesOf } from '../refunds/cases.ts';

/** An effect that has been open for this long is one that a person looks at. */
const LONG_OPEN_MS = 10 * 60_000;
const MOST_LISTED = 200;

/** Work that waits for a person: bookings and refunds that are stuck, effects and pay-outs that are open for long. */
export async function listStuck({
  store,
  clock,
  partnerOrdersInError,
}: Pick<FlightsPorts, 'store' | 'clock' | 'partnerOrdersInError'>): Promise<Stuck> {
  const bookings = await store
    .selectFrom('bookings')
    .select(['intent_id', 'last_error', 'attempts', 'updated_at_ms'])
    .where(sql<SqlBool>`state = 'stuck'`)
    .where('updated_at_ms', '>', 0)
    .orderBy('updated_at_ms')
    .limit(MOST_LISTED)
    .execute();
  const effects = await store
    .selectFrom('effects')
    .selectAll()
    .where(sql<SqlBool>`state in ('planned', 'sent', 'stuck')`)
    .where((either) =>
      either.or([either('state', '=', 'stuck'), either('created_at_ms', '<=', clock.now() - LONG_OPEN_MS)]),
    )
    .where('created_at_ms', '>', 0)
    .orderBy('created_at_ms')
    .limit(MOST_LISTED)
    .execute();
  const requests = await store
    .selectFrom('refund_requests')
    .select(SUMMARISED)
    .where(IS_GRANTED)
    .where('state', '=', 'stuck')
    .where('requested_at_ms', '>', 0)
    .orderBy('requested_at_ms')
    .limit(MOST_LISTED)
    .execute();
  const payouts = await store
    .selectFrom('affiliate_payouts')
    .selectAll()
    // In the words of the index over them.
    .where(sql<SqlBool>`state = 'open' and attempts >= ${sql.lit(PAYOUT_TRIES)}`)
    .where('created_at_ms', '>', 0)
    .orderBy('created_at_ms')
    .limit(MOST_LISTED)
    .execute();
  return {
    bookings: bookings.map(({ updated_at_ms, ...row }) => ({ ...row, updated_at: instant(updated_at_ms) })),
    effects: effects.map((row) => ({
      effect_id: row.effect_id,
      kind: row.kind,
      subject: row.subject,
      state: row.state,
      error: row.error,
      signature: row.signature,
      created_at: instant(row.created_at_ms),
      updated_at: instant(row.updated_at_ms),
    })),
    refund_requests: await summariesOf(store, requests),
    affiliate_payouts: payouts.map(({ payout_id, wallet, amount, last_error, attempts, created_at_ms }) => ({
      payout_id,
      wallet,
      amount,
      last_error,
      attempts,
      created_at: instant(created_at_ms),
    })),
    partner_orders: [...((await partnerOrdersInError?.()) ?? [])],
  };
}
