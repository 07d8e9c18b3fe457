import { type SqlBool, sql } from 'kysely';
import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { isProblem } from '../../kernel/problems.ts';
import { OPEN_BOOKINGS } from '../booking/booking-queue.ts';
import type { FlightsPorts } from '../ports.ts';

/** The seller's balance with the airline, where it does not cover what is open. */
export interface ShortBalance {
  readonly provider: string;
  /** Micro-dollars. null: the airline does not say, and has refused an order for want of it, which waits for a refill. */
  readonly holds: bigint | null;
  /** Micro-dollars: the tickets that are not ordered yet, and a new one. */
  readonly needs: bigint;
}

type BalancePorts = Pick<FlightsPorts, 'store' | 'provider' | 'clock' | 'log' | 'outbox'>;

const KEPT_MS = 60_000;
/** Nobody waits longer for it: one that does not answer keeps nobody from a booking. */
const PATIENCE_MS = 5_000;
const MARK = 'operator_funds_low:airline';
/** In the mark, of a balance that nobody can read: below any that can be. */
const UNREAD = -1n;

/**
 * Watches what tickets are paid from at the airline. It is short when it holds less than the intents that are not
 * ordered yet come to; where the airline does not tell its balance, as long as an order that it did not cover waits. An
 * operator is paged once, and again only after it was filled up.
 */
export function createAirlineBalance(ports: BalancePorts) {
  const { provider, clock, log } = ports;
  let last: { readonly atMs: number; readonly held: Promise<bigint | null> } | null = null;

  /** null: the airline does not say, or not in dollars. */
  async function read(): Promise<bigint | null> {
    const inTime = new AbortController();
    try {
      const slow = clock.sleep(PATIENCE_MS, inTime.signal).then(() => null);
      const balance = await Promise.race([provider?.balance?.() ?? null, slow]);
      if (balance?.currency === 'USD') return parseUsdc(balance.amountDecimal);
      log('warn', 'airline_balance_unread', { currency: balance?.currency ?? null });
    } catch (error) {
      log('warn', 'airline_balance_unread', { error_code: isProblem(error) ? error.code : 'unknown' });
    } finally {
      inTime.abort();
    }
    return null;
  }

  function held(): Promise<bigint | null> {
    const nowMs = clock.now();
    if (!last || Math.abs(nowMs - last.atMs) >= KEPT_MS) last = { atMs: nowMs, held: read() };
    return last.held;
  }

  return {
    /**
     * @param more the ticket of an intent that is to be made, micro-dollars
     * @param isPaid somebody pays for it: what only asks pages nobody
     */
    async short(more = 0n, isPaid = false): Promise<ShortBalance | null> {
      if (!provider) return null;
      const holds = provider.balance ? await held() : null;
      if (holds === null && !(await isRefused(ports))) {
        await forget(ports, 0n);
        return null;
      }
      const open = await openAmount(ports);
      const short = { provider: provider.name, holds, needs: open + more };
      if (holds === null || holds < open || (isPaid && holds < short.needs)) await tell(ports, short);
      else await forget(ports, holds);
      return holds === null || holds < short.needs ? short : null;
    },
  };
}

const IS_ITS_OWN = sql<SqlBool>`offer_id not like 'lowcost:%'`;

/** What the tickets cost that are locked or paid for, and not ordered. */
async function openAmount({ store }: BalancePorts): Promise<bigint> {
  const locked = await store
    .selectFrom('intents')
    .select((column) => column.fn.sum('amount').as('amount'))
    .where('active_key', 'is not', null)
    .where(IS_ITS_OWN)
    .where(sql<SqlBool>`not exists (select 1 from bookings where bookings.intent_id = intents.intent_id)`)
    .executeTakeFirst();
  const paid = await store
    .selectFrom('bookings')
    .innerJoin('intents', 'intents.intent_id', 'bookings.intent_id')
    .select((column) => column.fn.sum('intents.amount').as('amount'))
    .where(OPEN_BOOKINGS)
    .where('state', 'in', ['settling', 'queued', 'ordering'])
    .where(IS_ITS_OWN)
    .executeTakeFirst();
  return BigInt(locked?.amount ?? 0) + BigInt(paid?.amount ?? 0);
}

/** True while a booking that is paid for waits for a refill. */
async function isRefused({ store }: BalancePorts): Promise<boolean> {
  const waiting = await store
    .selectFrom('bookings')
    .select((column) => column.fn.countAll().as('count'))
    .where(OPEN_BOOKINGS)
    .where('state', '=', 'ordering')
    .where('last_error', '=', 'operator_funds_low')
    .executeTakeFirst();
  return Number(waiting?.count) > 0;
}

/** Whoever writes the mark pages. It holds the balance of that moment. */
async function tell({ store, outbox, clock, log }: BalancePorts, short: ShortBalance): Promise<void> {
  const fields = shownBalance(short);
  const isFirst = await store.transaction().execute(async (tx) => {
    const written = await tx
      .insertInto('meta')
      .values({ key: MARK, value: String(short.holds ?? UNREAD) })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .executeTakeFirst();
    if (!written.numInsertedOrUpdatedRows) return false;
    await outbox.enqueue(tx, {
      kind: 'page',
      dedupKey: `page:${MARK}:${clock.now()}`,
      intentId: null,
      event: 'operator_funds_low',
      text: `The balance with ${fields.provider} is ${fields.holds === null ? 'less than an order that it refused' : `${fields.holds} USD`}, and open tickets need ${fields.needs}: no new intents are created until it is topped up. What is paid for waits until its deadline.`,
      fields,
    });
    return true;
  });
  if (isFirst) log('error', 'operator_funds_low', fields);
}

/** Only a balance that has grown makes room for the next page: a dear offer that nobody asks for any more does not. */
async function forget({ store, log }: BalancePorts, holds: bigint): Promise<void> {
  const mark = await store.selectFrom('meta').select('value').where('key', '=', MARK).executeTakeFirst();
  if (!mark || BigInt(mark.value) >= holds) return;
  await store.deleteFrom('meta').where('key', '=', MARK).where('value', '=', mark.value).execute();
  log('info', 'operator_funds_restored', { wallets: 'airline' });
}

/** As people and `/ready` read it. */
export const shownBalance = ({ provider, holds, needs }: ShortBalance) => ({
  provider,
  holds: holds === null ? null : formatUsdc(holds),
  needs: formatUsdc(needs),
  currency: 'USD',
});
