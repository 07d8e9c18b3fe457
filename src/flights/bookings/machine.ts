import { type Insertable, type SqlBool, sql } from 'kysely';
import { callOff } from '../../airlines/browser/index.ts';
import { isProblem } from '../../kernel/problems.ts';
import { regained } from '../../store/base/index.ts';
import { LeaseLost, openQueue, type Queue } from '../../store/index.ts';
import {
  BEGINNINGS,
  BOOKING_STATES,
  type BookingRow,
  type BookingState,
  type BookingTable,
  type FlightsDatabase,
  type FlightsPorts,
  type IntentRow,
  isWork,
  type Mover,
  mayMove,
  planUpkeep,
  type Tx,
} from '../base/index.ts';
import type { Escrows } from './escrows.ts';
import type { createMails, Written } from './mails.ts';
import type { createOrderBook } from './order-record.ts';

/** Booking rows that no customer's payment stands behind carry this in place of a payment key. */
export const NO_PAYMENT = 'none';

export const stuck = (why: string): Next => ({ to: 'stuck', change: { last_error: why } });

/** What a move writes beside the state. */
type BookingChange = Partial<
  Pick<BookingRow, 'provider_order_id' | 'refund_reason' | 'requested_at_ms' | 'due_at_ms' | 'last_error'>
>;

export interface Move {
  readonly by: Mover;
  readonly to: BookingState;
  readonly change?: BookingChange | undefined;
}

type NewBooking = Pick<
  Insertable<BookingTable>,
  'intent_id' | 'state' | 'payment_key' | 'passengers_sealed' | 'refund_reason' | 'due_at_ms'
>;

/** Writes a booking down; false when its intent has one already. */
export async function beginBooking(tx: Tx, by: Mover, row: NewBooking, nowMs: number): Promise<boolean> {
  if (!BEGINNINGS[row.state]?.includes(by)) throw new Error(`no booking begins as ${row.state} by ${by}`);
  // A payment or an effect that follows is on the disk before it is carried out: so is this then.
  const begun = await regained(tx)
    .insertInto('bookings')
    .values({
      ...row,
      provider_order_id: null,
      stuck_in: null,
      requested_at_ms: nowMs,
      lease_until_ms: 0,
      fence: 0,
      attempts: 0,
      last_error: null,
      updated_at_ms: nowMs,
    })
    .onConflict((conflict) => conflict.column('intent_id').doNothing())
    .executeTakeFirst();
  return (begun.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/**
 * Moves a booking on and gives its lease back. The runner moves what it holds, under the fence of its claim. Others hold
 * no lease: they move what is still in the state that they saw, and raise the fence, so that a runner which is at it
 * changes nothing more. A payment's own request may come after any number of claims; its key and the state guard it.
 * A refund decides that nothing was bought: what a browser has begun for the booking is called off with it.
 * @throws LeaseLost when somebody else moved the booking: nothing is written then
 */
export async function moveBooking(tx: Tx, booking: BookingRow, move: Move, nowMs: number): Promise<void> {
  const { by, to } = move;
  if (!mayMove(booking.state, to, by)) throw new Error(`no booking goes from ${booking.state} to ${to} by ${by}`);
  const written = await tx
    .updateTable('bookings')
    .set((column) => ({
      state: to,
      stuck_in: to === 'stuck' ? booking.state : null,
      due_at_ms: nowMs,
      attempts: 0,
      last_error: null,
      ...move.change,
      lease_until_ms: 0,
      ...(by === 'runner' ? {} : { fence: column('fence', '+', 1) }),
      updated_at_ms: nowMs,
    }))
    .where('intent_id', '=', booking.intent_id)
    .where('payment_key', '=', booking.payment_key)
    .where('state', '=', booking.state)
    .$if(by !== 'payment', (query) => query.where('fence', '=', booking.fence))
    .executeTakeFirst();
  if (written.numUpdatedRows === 0n) throw new LeaseLost(`booking ${booking.intent_id} was moved by others`);
  if (to === 'refunding') await callOff(tx, booking.intent_id, nowMs);
}

/** Has the step runner look at bookings now, instead of when their time comes. */
export const hasten = (tx: Tx, intentIds: readonly string[], nowMs: number) =>
  tx
    .updateTable('bookings')
    .set({ due_at_ms: nowMs })
    .where('intent_id', 'in', intentIds)
    .where(OPEN_BOOKINGS)
    .where('due_at_ms', '>', nowMs)
    .execute();

/** Takes a booking back whose payment is certain to have failed; false when it went on, or is gone. */
export async function dropBooking(
  tx: Tx,
  { intent_id, payment_key }: Pick<BookingRow, 'intent_id' | 'payment_key'>,
): Promise<boolean> {
  const dropped = await tx
    .deleteFrom('bookings')
    .where('intent_id', '=', intent_id)
    .where('payment_key', '=', payment_key)
    .where('state', '=', 'settling')
    .executeTakeFirst();
  return dropped.numDeletedRows > 0n;
}

/** Renewed while a step is taken; a worker that died is overtaken after it. */
export const LEASE_MS = 10_000;

/** Longer than any one step takes: an airline may need two minutes for an order, and is asked about it then. */
export const STEP_MS = 5 * 60_000;

/** No step is ever put off for longer, whatever an airline asks for. */
export const FARTHEST_MS = 10 * 60_000;

const withoutWork = (Object.keys(BOOKING_STATES) as BookingState[]).filter((state) => !isWork(state));

/**
 * The bookings in which the step runner has something to do. It names the others: the index over them, which says the same
 * words, need not be made anew for a state with work.
 */
export const OPEN_BOOKINGS = sql.raw<SqlBool>(`state not in (${withoutWork.map((state) => `'${state}'`).join(', ')})`);

const BOOKINGS: Queue<FlightsDatabase, 'bookings'> = {
  table: 'bookings',
  key: 'intent_id',
  due: 'due_at_ms',
  open: OPEN_BOOKINGS,
  leaseMs: LEASE_MS,
  mostMs: STEP_MS,
  farthestMs: FARTHEST_MS,
  counts: 'failures',
  // What fails may pass by itself: it is tried further, and somebody should know.
  retry: { firstMs: 250, factor: 2, mostMs: 60_000, jitter: 'none', tellAfter: 24, giveUp: { after: 'never' } },
};

/** What nobody foresaw would come back for ever, and no one would know. */
export const FAULTS = { giveUp: { after: 'failures', most: 24 } } as const;

/** What a step leaves behind: the next state of the booking, and what the intent shows from then on. */
export interface Next {
  readonly to: BookingState;
  readonly change?: BookingChange | undefined;
  readonly intent?: Partial<Omit<IntentRow, 'intent_id'>> | undefined;
  /** Written in the same transaction: what is told about it. */
  readonly also?: Written | undefined;
}

type ClaimPorts = Pick<FlightsPorts, 'store' | 'clock' | 'log' | 'outbox' | 'provider'>;

/** Whoever paid comes first: an escrow that nobody paid is closed when no capture or refund waits. */
const PAID_FIRST = [sql<SqlBool>`payment_key <> ${NO_PAYMENT}`, sql<SqlBool>`1 = 1`];

/** Who may work on which booking, and what the step runner writes about it (DESIGN, section 6). */
export function createClaims(ports: ClaimPorts) {
  const { store, clock, log } = ports;
  const queue = openQueue(ports, BOOKINGS);
  return {
    queue,

    /** Takes a due booking, or the one that is named when it is due. */
    claim: (intentId?: string): Promise<BookingRow | null> =>
      queue.claim(intentId === undefined ? PAID_FIRST : [sql<SqlBool>`intent_id = ${intentId}`]),

    /** Takes the steps of bookings that are due. */
    runDue: (work: Parameters<typeof queue.runDue>[0], most: number) => queue.runDue(work, most, PAID_FIRST),

    /** @throws LeaseLost when the claim is no longer ours. */
    hold: (claim: BookingRow): Promise<void> => queue.check(claim),

    /** Notes something on the intent in the middle of a step, under the fence. */
    note: (claim: BookingRow, intent: Next['intent'] & object): Promise<void> =>
      store.transaction().execute(async (tx) => {
        await queue.check(claim, tx);
        await tx.updateTable('intents').set(intent).where('intent_id', '=', claim.intent_id).execute();
      }),

    /** Writes the outcome of a step and gives the lease back: all of it, or (the fence was raised) nothing. */
    async advance(claim: BookingRow, next: Next): Promise<void> {
      const nowMs = clock.now();
      const { to, change } = next;
      // A step on the way is found out again: whatever it leads to writes first, and waits for the disk.
      const on = isWork(to) ? regained(store) : store;
      await on.transaction().execute(async (tx) => {
        await moveBooking(tx, claim, { by: 'runner', to, change }, nowMs);
        if (next.intent) {
          await tx
            .updateTable('intents')
            .set({ ...next.intent, updated_at_ms: nowMs })
            .where('intent_id', '=', claim.intent_id)
            .execute();
        }
        await next.also?.(tx);
        if (to === 'booked' || to === 'refunded') {
          await planUpkeep(tx, claim.intent_id, to, nowMs, ports.provider?.changesSchedules);
        }
        if (to === 'stuck') await pageStuck(ports, tx, claim, change?.last_error ?? null);
      });
      const { intent_id, state: from } = claim;
      if (to === 'stuck') log('error', 'booking_stuck', { intent_id, state: from, why: change?.last_error });
      else log('info', 'booking_advanced', { intent_id, from, to });
    },

    /** Puts a step off, longer each time; an airline that says how long to wait is believed. */
    postpone: (claim: BookingRow, error: unknown): Promise<void> =>
      queue.postpone(claim, error, ({ code, failures, tells }) => ({
        change: { last_error: code, updated_at_ms: clock.now() },
        also: tells ? (tx) => pageSlow(ports, tx, claim, failures, code) : undefined,
        log: () =>
          log('warn', 'booking_postponed', {
            intent_id: claim.intent_id,
            state: claim.state,
            attempts: failures,
            error_code: code,
          }),
      })),
  };
}

export type Claims = ReturnType<typeof createClaims>;

const pageStuck = (
  { outbox }: ClaimPorts,
  tx: Tx,
  { intent_id: intentId, fence, state }: BookingRow,
  reason: string | null,
) =>
  outbox.enqueue(tx, {
    kind: 'page',
    dedupKey: `page:booking_stuck:${intentId}:${fence}`,
    intentId,
    event: 'booking_stuck',
    text: `Booking of ${intentId} is stuck in ${state} and needs a decision: ${reason ?? 'unknown'}. See farelock stuck show ${intentId}.`,
    fields: { intent_id: intentId, state, reason },
  });

const pageSlow = (
  { outbox }: ClaimPorts,
  tx: Tx,
  { intent_id: intentId, state }: BookingRow,
  failures: number,
  reason: string,
) =>
  outbox.enqueue(tx, {
    kind: 'page',
    dedupKey: `page:booking_slow:${intentId}:${state}`,
    intentId,
    event: 'booking_slow',
    text: `Booking of ${intentId} failed ${failures} times in ${state} and will be tried again: ${reason}.`,
    fields: { intent_id: intentId, state, reason },
  });

/** The ports of the steps of bookings. */
export interface StepTools {
  readonly ports: FlightsPorts;
  readonly escrows: Escrows;
  readonly claims: Claims;
  readonly orders: ReturnType<typeof createOrderBook>;
  readonly mails: ReturnType<typeof createMails>;
}

/**
 * One step of a booking. Every step can be repeated after a crash at any point. A refund is decided only where it is
 * certain that no ticket exists.
 * @returns where it leads; null: the step did its own writing
 */
export type Step = (tools: StepTools, booking: BookingRow, intent: IntentRow) => Promise<Next | null>;

/** Time kept before `refund_after` for an airline step to end, and for a capture to land. */
const AIRLINE_STEP_MS = 10 * 60_000;

export const CAPTURE_RESERVE_MS = 30 * 60_000;

/** How often an airline that doesn't answer is asked before the money goes back (nothing is ordered then). */
export const MOST_TRIES = 12;

/** How often an unknown outcome is asked about before it waits for a person. */
export const MOST_QUESTIONS = 24;

/** Why the money goes back when an operator heard from the airline that there is no ticket. */
export const NOT_TICKETED = 'not_ticketed';

/** Why an airline refuses an order that the seller's balance does not cover. */
export const BALANCE_LOW = 'provider_balance_low';

export const refund = (reason: string): Next => ({ to: 'refunding', change: { refund_reason: reason } });

export function retryOrRefund(booking: BookingRow, error: unknown): Next {
  const passing = isProblem(error, 'upstream_rate_limited', 'provider_failed');
  if (!passing || booking.attempts < MOST_TRIES) throw error;
  return refund(error.code);
}

type Timed = Pick<StepTools, 'ports'>;

/** True when an airline step, or a capture, could end after the escrow's deadline. */
export const isTooLateToOrder = ({ ports }: Timed, intent: IntentRow): boolean =>
  ports.clock.now() + AIRLINE_STEP_MS > intent.refund_after_ms;

export const isTooLateToWait = ({ ports }: Timed, intent: IntentRow): boolean =>
  ports.clock.now() + CAPTURE_RESERVE_MS > intent.refund_after_ms;
