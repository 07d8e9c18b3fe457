import { type SqlBool, sql } from 'kysely';
import { OLD_EVIDENCE, OLD_LOOKS, OLD_OFFERS } from '../../airlines/browser/tables.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import { BITE, removeOld } from '../../store/remove.ts';
import { WRONG_CODES } from '../attempts.ts';
import { COUNTED_SEARCHES, KEPT_SEARCHES } from '../offers/pricing.ts';
import type { FlightsPorts } from '../ports.ts';

const KEEP_SETTLEMENTS_MS = 7 * DAY_MS;
/** Quotes are forgotten this long after they expired. */
const KEEP_QUOTES_MS = HOUR_MS;

const QUOTES = { table: 'quotes', key: 'quote_id', at: 'expires_at_ms' } as const;
/** A quote stays as long as a payment of it is under way. */
const IS_BEING_PAID = sql<SqlBool>`exists (select 1 from settlements
  where settlements.quote_id = quotes.quote_id and settlements.state not in ('answered', 'failed'))`;
const ANSWERS = { table: 'paid_answers', key: 'payment_key', at: 'kept_at_ms' } as const;
/** Only what has not ended yet, or is kept for somebody who will ask, is older than a payment's answer may be. */
const IS_ASKED_FOR = sql<SqlBool>`exists (select 1 from settlements
  where settlements.payment_key = paid_answers.payment_key)`;

/**
 * Removes a bite of what nobody can ask for any more: dead quotes, counted searches, wrong codes, what
 * browsers saw on carriers' sites, and finished payments
 * whose answer (it can hold a support code) was kept for a week.
 * @returns whether there is more of it
 */
export async function prune(ports: Pick<FlightsPorts, 'store' | 'clock'>): Promise<boolean> {
  const { store } = ports;
  const nowMs = ports.clock.now();
  const removed = [
    await removeOld(store, COUNTED_SEARCHES, nowMs - DAY_MS),
    await removeOld(store, KEPT_SEARCHES, nowMs),
    await removeOld(store, WRONG_CODES, nowMs - 2 * DAY_MS),
    await removeOld(store, OLD_LOOKS, nowMs),
    await removeOld(store, OLD_OFFERS, nowMs),
    await removeOld(store, OLD_EVIDENCE, nowMs),
    await removeOld(store, QUOTES, nowMs - KEEP_QUOTES_MS, IS_BEING_PAID),
  ];
  const more = await pruneSettlements(ports, nowMs);
  // After the payments that they belong to.
  removed.push(await removeOld(store, ANSWERS, nowMs - KEEP_SETTLEMENTS_MS, IS_ASKED_FOR));
  return more || removed.includes(BITE);
}

/**
 * A payment that somebody still has to ask about stays: one of a booking that is not over, of an intent whose creation
 * is open, of a refund request that is being settled. It is looked at again in a week.
 */
async function pruneSettlements({ store }: Pick<FlightsPorts, 'store'>, nowMs: number): Promise<boolean> {
  const isFinished = sql<SqlBool>`settlements.state in ('answered', 'failed')`;
  const rows = await store
    .selectFrom('settlements')
    .select('payment_key')
    .where(isFinished)
    .where('updated_at_ms', '<=', nowMs - KEEP_SETTLEMENTS_MS)
    .orderBy('updated_at_ms')
    .limit(BITE)
    .execute();
  if (rows.length === 0) return false;
  const keys = rows.map((row) => row.payment_key);
  const gone = await store
    .deleteFrom('settlements')
    .where('payment_key', 'in', keys)
    .where(isFinished)
    .where(sql<SqlBool>`not exists (select 1 from bookings
      where bookings.payment_key = settlements.payment_key and bookings.state not in ('booked', 'refunded'))`)
    .where(sql<SqlBool>`not exists (select 1 from intents
      where intents.payment_key = settlements.payment_key and opened_at_ms is null and abandoned = 0)`)
    .where(sql<SqlBool>`not exists (select 1 from refund_requests
      where refund_requests.payment_key = settlements.payment_key and refund_requests.state = 'settling')`)
    .executeTakeFirst();
  if (Number(gone.numDeletedRows) < keys.length) {
    await store
      .updateTable('settlements')
      .set({ updated_at_ms: nowMs })
      .where('payment_key', 'in', keys)
      .where(isFinished)
      .execute();
  }
  return rows.length === BITE;
}
