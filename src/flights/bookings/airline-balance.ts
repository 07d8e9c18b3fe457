import { type SqlBool, sql } from 'kysely';
import { asInteger, formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { isProblem } from '../../kernel/problems.ts';
import type { FlightsPorts } from '../base/index.ts';
import { OPEN_BOOKINGS } from './machine.ts';

/** The seller's balance with the airline, where it does not cover what is open. */
export interface ShortBalance {
  readonly provider: string;
  /** Micro-dollars. null: the airline does not say, and has refused an order for want of it, which waits for a refill. */
  readonly holds: bigint | null;
  /** Micro-dollars: the tickets that are not ordered yet, and the one that is asked about. */
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
 * Watches what tickets are paid from at the airline. A ticket is refused when the balance does not cover it beside those
 * that are paid for and not ordered; where the airline does not tell its balance, when it costs as much as an order that
 * waits for a refill. Whatever the balance can't pay for waits alone: cheaper tickets are sold. A lock that nobody has paid
 * for takes nothing of the balance; an operator is paged once as soon as locks and orders together need more than there
 * is, and again only after it was filled up.
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
     * @param ticket micro-dollars
     * @param how `isPaid`: somebody pays for it, for what only asks pages nobody; `except`: the intent whose ticket it is
     */
    async short(
      ticket: bigint,
      { isPaid = false, except = '' }: { readonly isPaid?: boolean; readonly except?: string } = {},
    ): Promise<ShortBalance | null> {
      if (!provider) return null;
      const holds = provider.balance ? await held() : null;
      const ordered = await toBeOrdered(ports, holds, except);
      if (holds === null) {
        if (ordered.refused === null) {
          await forget(ports, 0n);
          return null;
        }
        await tell(ports, { provider: provider.name, holds, needs: ordered.all });
        const needs = ordered.all + ticket;
        return ticket < ordered.refused ? null : { provider: provider.name, holds, needs };
      }
      const open = ordered.all + (await lockedAmount(ports));
      const short = { provider: provider.name, holds, needs: ordered.payable + ticket };
      if (holds < open) await tell(ports, { ...short, needs: open });
      else if (isPaid && holds < short.needs) await tell(ports, short);
      else await forget(ports, holds);
      return holds < short.needs ? short : null;
    },
  };
}

const IS_ITS_OWN = sql<SqlBool>`offer_id not like 'lowcost:%'`;

/** What the tickets cost that are locked and not paid for. */
async function lockedAmount({ store }: BalancePorts): Promise<bigint> {
  const locked = await store
    .selectFrom('intents')
    .select((column) => column.fn.sum('amount').as('amount'))
    .where('active_key', 'is not', null)
    .where(IS_ITS_OWN)
    .where(sql<SqlBool>`not exists (select 1 from bookings where bookings.intent_id = intents.intent_id)`)
    .executeTakeFirst();
  return BigInt(locked?.amount ?? 0);
}

/** What the tickets cost that are paid for and not ordered, but for those of one intent. */
async function toBeOrdered({ store }: BalancePorts, holds: bigint | null, except: string) {
  const row = await store
    .selectFrom('bookings')
    .innerJoin('intents', 'intents.intent_id', 'bookings.intent_id')
    .select([
      sql<string | null>`sum(intents.amount)`.as('all_of_them'),
      sql<string | null>`sum(case when intents.amount <= ${asInteger(holds ?? 0n)} then intents.amount end)`.as(
        'payable',
      ),
      // An order that the airline would not make for want of money.
      sql<string | null>`min(case when state = 'ordering' and last_error = 'operator_funds_low'
        then intents.amount end)`.as('refused'),
    ])
    .where(OPEN_BOOKINGS)
    .where('state', 'in', ['settling', 'queued', 'ordering'])
    .where(IS_ITS_OWN)
    .where('bookings.intent_id', '<>', except)
    .executeTakeFirst();
  return {
    all: BigInt(row?.all_of_them ?? 0),
    payable: BigInt(row?.payable ?? 0),
    refused: row?.refused == null ? null : BigInt(row.refused),
  };
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
      text: `The balance with ${fields.provider} is ${fields.holds === null ? 'less than an order that it refused' : `${fields.holds} USD`}, and open tickets need ${fields.needs}: tickets that it does not cover are refused until it is topped up. What is paid for waits while its offer can be had.`,
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
