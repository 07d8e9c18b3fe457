import { instant } from '../kernel/clock.ts';
import { PAYOUT_TRIES } from './affiliate-credit.ts';
import type { FlightsPorts } from './ports.ts';
import { type RefundCases, summaryOf } from './refund-cases.ts';
import type { Stuck } from './wire.ts';

/** An effect that has been open for this long is one that a person looks at. */
const LONG_OPEN_MS = 10 * 60_000;
const MOST_LISTED = 200;

/** What waits for a person: bookings and refunds that are stuck, effects and pay-outs that are open for long. */
export async function listStuck(
  { store, clock }: Pick<FlightsPorts, 'store' | 'clock'>,
  cases: RefundCases,
): Promise<Stuck> {
  const bookings = await store
    .selectFrom('bookings')
    .select(['intent_id', 'last_error', 'attempts', 'updated_at_ms'])
    .where('state', '=', 'stuck')
    .orderBy('updated_at_ms')
    .limit(MOST_LISTED)
    .execute();
  const effects = await store
    .selectFrom('effects')
    .selectAll()
    .where((either) =>
      either.or([
        either('state', '=', 'stuck'),
        either.and([
          either('state', 'in', ['planned', 'sent']),
          either('created_at_ms', '<=', clock.now() - LONG_OPEN_MS),
        ]),
      ]),
    )
    .orderBy('created_at_ms')
    .limit(MOST_LISTED)
    .execute();
  const requests = await store
    .selectFrom('refund_requests')
    .select('request_id')
    .where('state', '=', 'stuck')
    .limit(MOST_LISTED)
    .execute();
  const opened = await Promise.all(requests.map((row) => cases.open(row.request_id)));
  const payouts = await store
    .selectFrom('affiliate_payouts')
    .selectAll()
    .where('state', '=', 'open')
    .where('attempts', '>=', PAYOUT_TRIES)
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
    refund_requests: opened.map(summaryOf),
    affiliate_payouts: payouts.map(({ payout_id, wallet, amount, last_error, attempts, created_at_ms }) => ({
      payout_id,
      wallet,
      amount,
      last_error,
      attempts,
      created_at: instant(created_at_ms),
    })),
  };
}
