import { type SqlBool, sql } from 'kysely';
import { DAY_MS } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { FlightsPorts, Store } from '../base/index.ts';
import { NO_PAYMENT } from './machine.ts';

/**
 * What may be locked: a lock costs 0.10 USDC and ties up the operator's rent, his cap of the day and his balance with
 * the airline, so one payer holds a few. Checked before a price is named, and again in the transaction that locks.
 */

type LimitPorts = Pick<FlightsPorts, 'clock' | 'options'>;

/**
 * In the words of the index `intents_locks`. A lock that was paid for, or has ended, has a booking row. A creation under
 * way is no lock yet: there is one of a payer, and the request that resumes it must not be refused for its own sake.
 */
const isUnpaid = sql<SqlBool>`active_key is not null and opened_at_ms is not null and not exists
  (select 1 from bookings where bookings.intent_id = intents.intent_id)`;

/** @throws Problem `too_many_locks`: this payer holds as many fares as one may without paying for any */
export async function checkLocks(on: Store, { clock, options }: LimitPorts, payer: string): Promise<void> {
  const nowMs = clock.now();
  const locks = await on
    .selectFrom('intents')
    .select('expires_at_ms')
    .where('funding_wallet', '=', payer)
    .where('expires_at_ms', '>', nowMs)
    .where(isUnpaid)
    .orderBy('expires_at_ms')
    .limit(options.mostLocksPerPayer)
    .execute();
  const [first] = locks;
  if (!first || locks.length < options.mostLocksPerPayer) return;
  throw problem('too_many_locks', { retryAfter: Math.ceil((first.expires_at_ms - nowMs) / 1_000) });
}

/**
 * Counts what was paid for in 24 hours, paid back or not, and locks that are alive.
 * @param amount of the ticket to be locked, atomic
 * @param own the pair that it is for: a request that goes on with its creation must not be refused for its own sake
 * @throws Problem `booking_disabled`: with this one, the operator would take more than his cap of a day
 */
export async function checkDay(
  on: Store,
  { clock, options }: LimitPorts,
  amount: bigint,
  own: string | null,
): Promise<void> {
  if (options.mostPerDay === null) return;
  const nowMs = clock.now();
  const taken = await on
    .selectFrom('intents')
    .select((column) => column.fn.sum('amount').as('amount'))
    .where('created_at_ms', '>', nowMs - DAY_MS)
    .where(
      sql<SqlBool>`((active_key <> ${own ?? ''} and expires_at_ms > ${nowMs}) or exists
        (select 1 from bookings where bookings.intent_id = intents.intent_id and payment_key <> ${NO_PAYMENT}))`,
    )
    .executeTakeFirst();
  if (BigInt(taken?.amount ?? 0) + amount <= options.mostPerDay) return;
  throw problem('booking_disabled', {
    message: 'The service has locked as much as it takes in 24 hours.',
    retryAfter: 3_600,
  });
}
