import { type SqlBool, sql } from 'kysely';
import { DAY_MS } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { inTurn, regained } from '../../store/base/index.ts';
import { retiredMark } from '../../store/index.ts';
import type { BookingRow, FlightsPorts, IntentRow, Store, Tx } from '../base/index.ts';
import { changeIntent, type DATABASE_BEHIND } from '../base/index.ts';
import { beginBooking, dropBooking, NO_PAYMENT } from './machine.ts';

/**
 * Creations, locks, and the end of an intent without a booking (CONTRACT, section 2). Opening an escrow ties up the
 * operator's rent before payment, so each payer may have one creation, and all payers a few. Unique keys enforce this.
 */

export const creatingKey = {
  payer: (wallet: string): string => `payer:${wallet}`,
  closing: (intentId: string): string => `closing:${intentId}`,
};

export const activeKey = (wallet: string, offerId: string): string => `active:${wallet}:${offerId}`;

/** True once the creation is paid, so that the customer knows the intent. */
export const isShown = (row: Pick<IntentRow, 'opened_at_ms' | 'abandoned'>): boolean =>
  row.opened_at_ms !== null && row.abandoned === 0;

/** A place for a record that is written before its payment, and which another record may hold. */
interface Place<By> {
  insertUnlessHeld(): Promise<By | null>;
  /** Drops a holder if its payment has certainly failed. Returns false if it is, or may still be, paid. */
  dropUnpaid(holder: By): Promise<boolean>;
  refusal(holder: By): Promise<Error> | Error;
}

/**
 * Writes a record before money moves: a crash after settlement loses nothing, and a second payment is never settled.
 * @param mostDrops how many unpaid holders to drop: one for each place that the record needs
 */
export async function holdOrDrop<By>(place: Place<By>, mostDrops = 1): Promise<void> {
  for (let drops = 0; ; drops++) {
    const holder = await place.insertUnlessHeld();
    if (holder === null) return;
    if (drops >= mostDrops || !(await place.dropUnpaid(holder))) throw await place.refusal(holder);
  }
}

/** An obstacle to a creation: another intent, or too many creations under way. */
export type Taken =
  | { readonly by: 'pair' | 'payer'; readonly holder: Holder }
  | { readonly by: 'others'; readonly holder?: undefined };

const HOLDER = ['intent_id', 'payment_key', 'creating_key', 'opened_at_ms', 'abandoned', 'expires_at_ms'] as const;

/** An intent that is in the way of another. */
export type Holder = Pick<IntentRow, (typeof HOLDER)[number]>;

const RETIRED_RETRY_S = 60;

/** Writes an intent unless one is in its way. @throws `too_many_locks`, `booking_disabled`, `operator_key_unusable` */
export const insertUnlessTaken = (ports: FlightsPorts, row: IntentRow): Promise<Taken | null> => {
  const { store, clock, options } = ports;
  return inTurn(store, ['creations'], async (tx) => {
    const { holder, underWay, locks } = await inTheWay(tx, ports, row.funding_wallet, row.active_key);
    if (holder && (!isShown(holder) || holder.expires_at_ms > clock.now())) return { by: 'pair', holder };
    const own = underWay.find((one) => one.creating_key === row.creating_key);
    if (own) return { by: 'payer', holder: own };
    if (underWay.length >= options.mostUnpaidCreations) return { by: 'others' };
    checkLocks(ports, locks);
    await checkDay(tx, ports, BigInt(row.amount), row.active_key);
    if (holder) await retire(tx, holder, 'intent_expired', clock.now());
    // Need not wait for the disk: the writes of its escrow's effect and of its payment do, before either is sent.
    const columns = Object.keys(row) as (keyof IntentRow)[];
    const isRetired = sql`select 1 from meta where key = ${retiredMark(row.authority ?? '')}`;
    const written = await regained(tx)
      .insertInto('intents')
      .columns(columns)
      .expression(sql`select ${sql.join(columns.map((column) => row[column]))} where not exists (${isRetired})`)
      .executeTakeFirst();
    if (written.numInsertedOrUpdatedRows === 0n) {
      throw problem('operator_key_unusable', {
        message: 'The key under which this process opens escrows is retired.',
        fix: 'Operators: restart this process.',
        retryAfter: RETIRED_RETRY_S,
      });
    }
    return null;
  });
};

type LimitPorts = Pick<FlightsPorts, 'clock' | 'options'>;

/** Repeats the condition of `intents_locks`. Paid or ended locks have a booking; an unfinished creation is no lock. */
const isUnpaid = sql<SqlBool>`active_key is not null and opened_at_ms is not null and not exists
  (select 1 from bookings where bookings.intent_id = intents.intent_id)`;

/** Reads in one query what may keep a payer from a pair: its holder, creations under way, the payer's locks. */
export async function inTheWay(on: Store, { clock, options }: LimitPorts, payer: string, pair: string | null) {
  const intents = (place: 'pair' | 'creating' | 'lock') =>
    on.selectFrom('intents').select([...HOLDER, sql.lit(place).as('place')]);
  const rows = await intents('pair')
    .where('active_key', '=', pair)
    .unionAll(
      on
        .selectFrom(
          intents('creating')
            .where('creating_key', 'is not', null)
            .limit(sql.lit(options.mostUnpaidCreations))
            .as('under_way'),
        )
        .selectAll(),
    )
    .unionAll(
      on
        .selectFrom(
          intents('lock')
            .where('funding_wallet', '=', payer)
            .where('expires_at_ms', '>', clock.now())
            .where(isUnpaid)
            .orderBy('expires_at_ms')
            .limit(sql.lit(options.mostLocksPerPayer))
            .as('locks'),
        )
        .selectAll(),
    )
    .execute();
  const at = (place: string): readonly Holder[] => rows.filter((row) => row.place === place);
  return { holder: at('pair')[0], underWay: at('creating'), locks: at('lock') };
}

/**
 * Limits a payer's unpaid fares, which tie up rent, day cap and airline balance. @throws Problem `too_many_locks`
 * @param locks the soonest to expire, up to the limit
 */
export function checkLocks({ clock, options }: LimitPorts, locks: readonly Holder[]): void {
  if (locks.length < options.mostLocksPerPayer) return;
  const firstMs = Math.min(...locks.map((one) => one.expires_at_ms));
  throw problem('too_many_locks', { retryAfter: Math.ceil((firstMs - clock.now()) / 1_000) });
}

/**
 * Limits the sum of what was paid in 24 hours, refunded or not, and of live locks. @throws Problem `booking_disabled`
 * @param own the active key of this request, which may resume its creation: its own lock is not counted
 */
export async function checkDay(on: Store, { clock, options }: LimitPorts, amount: bigint, own: string | null) {
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

/** Gives up a creation that will certainly never be paid. Returns false if it is shown or already given up. */
export const abandon = ({ store, clock }: FlightsPorts, row: Pick<IntentRow, 'intent_id'>): Promise<boolean> =>
  inTurn(store, [`intents:${row.intent_id}`], async (tx) => {
    const fresh = await tx.selectFrom('intents').selectAll().where('intent_id', '=', row.intent_id).executeTakeFirst();
    if (!fresh || fresh.opened_at_ms !== null || fresh.abandoned === 1) return false;
    await retire(tx, fresh, 'creation_unpaid', clock.now());
    return true;
  });

/** Finishes a creation whose request died: shows a paid one, and gives up an unpaid one with its escrow. */
export async function finishCreation(
  ports: FlightsPorts,
  row: Pick<IntentRow, 'intent_id' | 'payment_key'>,
): Promise<'settled' | 'failed' | 'unknown'> {
  const { store, clock } = ports;
  const outcome = await ports.paywall.outcome(row.payment_key ?? '');
  if (outcome === 'failed') await abandon(ports, row);
  if (outcome === 'settled') {
    await store
      .updateTable('intents')
      .set({ opened_at_ms: clock.now(), creating_key: null, updated_at_ms: clock.now() })
      .where('intent_id', '=', row.intent_id)
      .where('opened_at_ms', 'is', null)
      .where('abandoned', '=', 0)
      .execute();
  }
  return outcome;
}

/**
 * Ends an intent without a booking: frees its (wallet, offer) pair, and adds a `refunding` booking that gives the
 * escrow back and keeps late payments out. An existing booking stays: it already decides about the money.
 */
export async function retire(
  tx: Tx,
  { intent_id }: Pick<IntentRow, 'intent_id'>,
  reason: 'intent_expired' | 'creation_unpaid' | typeof DATABASE_BEHIND,
  nowMs: number,
): Promise<void> {
  const closing = { abandoned: 1, creating_key: creatingKey.closing(intent_id) };
  await changeIntent(tx, intent_id, { active_key: null, ...(reason === 'creation_unpaid' ? closing : {}) });
  const state = 'refunding';
  const row = { intent_id, state, payment_key: NO_PAYMENT, passengers_sealed: '' } as const;
  await beginBooking(tx, 'sweep', { ...row, refund_reason: reason, due_at_ms: nowMs }, nowMs);
}

/** Drops a booking whose payment certainly failed. Closes the escrow of an expired or already retired intent, too. */
export async function dropUnpaid(
  { store, clock }: FlightsPorts,
  booking: Pick<BookingRow, 'intent_id' | 'payment_key'>,
): Promise<void> {
  const nowMs = clock.now();
  await inTurn(store, [`intents:${booking.intent_id}`], async (tx) => {
    if (!(await dropBooking(tx, booking))) return;
    const intent = await tx
      .selectFrom('intents')
      .select(['intent_id', 'expires_at_ms', 'status', 'active_key'])
      .where('intent_id', '=', booking.intent_id)
      .executeTakeFirst();
    if (intent?.status !== 'active') return;
    const isRetired = intent.active_key === null;
    if (isRetired || intent.expires_at_ms <= nowMs) await retire(tx, intent, 'intent_expired', nowMs);
  });
}
