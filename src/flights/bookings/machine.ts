import { type Insertable, type RawBuilder, type SqlBool, sql } from 'kysely';
import { callOff } from '../../airlines/browser/index.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import { isProblem } from '../../kernel/problems.ts';
import { inTurn, regained, together } from '../../store/base/index.ts';
import { LeaseLost, leaseTime, openQueue, type Queue } from '../../store/index.ts';
import {
  type BookingRow,
  type BookingState,
  type BookingTable,
  changeIntent,
  type FlightsDatabase,
  type FlightsOptions,
  type FlightsPorts,
  type IntentRow,
  page,
  type Store,
  type Tx,
  type UpkeepTask,
} from '../base/index.ts';
import type { Escrows } from './escrows.ts';
import type { createMails, Written } from './mails.ts';

/**
 * Moves a booking: the request that pays for it, the step runner, an operator, the sweep of unbooked intents, or the
 * reconciliation of a restored database.
 */
type Mover = 'payment' | 'runner' | 'operator' | 'sweep' | 'reconcile';

type Moves = Readonly<Partial<Record<BookingState, readonly Mover[]>>>;

/** `work`: has a step (steps.ts). `unordered`: reserves airline balance. `to`: next states, and their movers. */
interface Standing {
  readonly work: boolean;
  readonly unordered?: true;
  readonly to: Moves;
}

/** The moves of a booking. Only `moveBooking` writes a state, and only along these. */
export const BOOKING_STATES = {
  // Written before the payment is settled, so that a crash right after settlement loses nothing.
  settling: {
    work: true,
    unordered: true,
    to: { queued: ['payment', 'runner'], refunding: ['runner'], stuck: ['runner'] },
  },
  queued: { work: true, unordered: true, to: { ordering: ['runner'], refunding: ['runner'], stuck: ['runner'] } },
  ordering: {
    work: true,
    unordered: true,
    to: { ticketing: ['runner'], capturing: ['runner'], refunding: ['runner'], stuck: ['runner'] },
  },
  ticketing: {
    work: true,
    // `ticketing` again: the airline is asked again later.
    to: { ticketing: ['runner'], capturing: ['runner'], refunding: ['runner'], stuck: ['runner'] },
  },
  // A ticket exists, so this never leads to a refund.
  capturing: { work: true, to: { booked: ['runner'], stuck: ['runner'] } },
  booked: { work: false, to: {} },
  // Back to `ticketing` if the airline confirms an order late, even after a person decided that there is no ticket.
  refunding: { work: true, to: { refunded: ['runner'], ticketing: ['runner'], stuck: ['runner'] } },
  refunded: { work: false, to: {} },
  // Waits for a person: an operator can continue it in any state with work.
  stuck: { work: false, to: {} },
} as const satisfies Readonly<Record<BookingState, Standing>>;

const BEGINNINGS: Moves = {
  settling: ['payment'],
  // Not a customer's booking: it only gives the escrow back.
  refunding: ['sweep'],
  // Missing in a restored database, but known to the airline or the chain.
  ordering: ['reconcile'],
  capturing: ['reconcile'],
};

export type WorkState = {
  [State in BookingState]: (typeof BOOKING_STATES)[State]['work'] extends true ? State : never;
}[BookingState];

export const isWork = (state: BookingState): state is WorkState => BOOKING_STATES[state].work;

/** States of paid bookings whose order is not made yet. */
export const UNORDERED = (Object.keys(BOOKING_STATES) as BookingState[]).filter(
  (state) => (BOOKING_STATES[state] as Standing).unordered === true,
);

/** States that the chain or the airline may show a booking to be in. */
const FOUND: readonly BookingState[] = ['ordering', 'capturing', 'refunding'];
const isOpenEnded = (state: BookingState): boolean => state !== 'booked' && state !== 'refunded';
/** States of bookings that have not ended. */
export const NOT_ENDED = (Object.keys(BOOKING_STATES) as BookingState[]).filter(isOpenEnded);

export function mayMove(from: BookingState, to: BookingState, by: Mover): boolean {
  if (by === 'reconcile') return isOpenEnded(from) && FOUND.includes(to);
  if (from === 'stuck') return by === 'operator' && isWork(to);
  const { to: moves }: Standing = BOOKING_STATES[from];
  return moves[to]?.includes(by) ?? false;
}

/** Replaces the payment key in bookings that no customer paid for. */
export const NO_PAYMENT = 'none';

export interface Move<To extends BookingState = BookingState> {
  readonly to: To;
  readonly change?:
    | Partial<Pick<BookingRow, 'provider_order_id' | 'refund_reason' | 'requested_at_ms' | 'due_at_ms' | 'last_error'>>
    | undefined;
}

type NewBooking = Pick<
  Insertable<BookingTable>,
  'intent_id' | 'state' | 'payment_key' | 'passengers_sealed' | 'refund_reason' | 'due_at_ms'
>;

/** Writes a booking. Returns undefined if its intent already has one: they share the key. */
export async function beginBooking(
  on: Store | Tx,
  by: Mover,
  row: NewBooking,
  nowMs: number,
): Promise<BookingRow | undefined> {
  if (!BEGINNINGS[row.state]?.includes(by)) throw new Error(`no booking begins as ${row.state} by ${by}`);
  // Need not wait for the disk: the payment or effect that follows does, before it is carried out.
  return regained(on)
    .insertInto('bookings')
    .values({ ...row, requested_at_ms: nowMs, lease_until_ms: 0, updated_at_ms: nowMs })
    .onConflict((conflict) => conflict.column('intent_id').doNothing())
    .returningAll()
    .executeTakeFirst();
}

/**
 * Moves a booking on and returns its lease, or keeps it (`heldUntil`). A runner moves it under its fence. Others move
 * the state that they saw, and raise the fence to stop a runner at work. A payment is guarded by its key and the state.
 * A refund decides that nothing was bought, so it calls browsers off. @throws LeaseLost, with nothing written
 */
export async function moveBooking(
  tx: Tx,
  booking: BookingRow,
  { by, to, change, heldUntil }: Move & { readonly by: Mover; readonly heldUntil?: RawBuilder<number> | undefined },
  nowMs: number,
): Promise<void> {
  if (!mayMove(booking.state, to, by)) throw new Error(`no booking goes from ${booking.state} to ${to} by ${by}`);
  const written = await tx
    .updateTable('bookings')
    .set((column) => ({
      state: to,
      stuck_in: to === 'stuck' ? booking.state : null,
      due_at_ms: nowMs,
      attempts: 0,
      last_error: null,
      ...change,
      lease_until_ms: heldUntil ?? 0,
      ...(by === 'runner' ? {} : { fence: column('fence', '+', 1) }),
      updated_at_ms: nowMs,
    }))
    .where('intent_id', '=', booking.intent_id)
    .where('payment_key', '=', booking.payment_key)
    .where('state', '=', booking.state)
    .$if(by !== 'payment', (query) => query.where('fence', '=', booking.fence))
    .executeTakeFirst();
  if (written.numUpdatedRows === 0n) throw movedByOthers(booking);
  if (to === 'refunding') await callOff(tx, booking.intent_id, nowMs);
}

export const movedByOthers = ({ intent_id }: Pick<BookingRow, 'intent_id'>) =>
  new LeaseLost(`booking ${intent_id} was moved by others`);

export const hasten = (tx: Tx, intentIds: readonly string[], nowMs: number) =>
  tx
    .updateTable('bookings')
    .set({ due_at_ms: nowMs })
    .where('intent_id', 'in', intentIds)
    .where(OPEN_BOOKINGS)
    .where('due_at_ms', '>', nowMs)
    .execute();

/** Deletes a booking whose payment has certainly failed. Returns false if it has moved on or is gone. */
export async function dropBooking(tx: Tx, { intent_id, payment_key }: Pick<BookingRow, 'intent_id' | 'payment_key'>) {
  const dropped = await tx
    .deleteFrom('bookings')
    .where('intent_id', '=', intent_id)
    .where('payment_key', '=', payment_key)
    .where('state', '=', 'settling')
    .executeTakeFirst();
  return dropped.numDeletedRows > 0n;
}

/** Renewed during a step. After it, another worker takes over from one that died. */
export const LEASE_MS = 10_000;
/** Longer than any one step takes: an airline may need two minutes for an order. */
export const STEP_MS = 5 * 60_000;
/** The longest that a step is postponed, even if an airline asks for more. */
export const FARTHEST_MS = 10 * 60_000;

const withoutWork = (Object.keys(BOOKING_STATES) as BookingState[]).filter((state) => !isWork(state));

/** Bookings with work. Repeats the condition of the index, which names the other states, so that it covers new ones. */
export const OPEN_BOOKINGS = sql.raw<SqlBool>(`state not in (${withoutWork.map((state) => `'${state}'`).join(', ')})`);

export const BOOKINGS: Queue<FlightsDatabase, 'bookings'> = {
  table: 'bookings',
  key: 'intent_id',
  due: 'due_at_ms',
  open: OPEN_BOOKINGS,
  leaseMs: LEASE_MS,
  mostMs: STEP_MS,
  farthestMs: FARTHEST_MS,
  counts: 'failures',
  // A failure may pass by itself, so it is retried without end. An operator is paged once.
  retry: { firstMs: 250, factor: 2, mostMs: 60_000, jitter: 'none', tellAfter: 24, giveUp: { after: 'never' } },
};

/** A step with unknown errors is stuck after this many failures, instead of being retried without end. */
export const MOST_FAULTS = 24;

/** The outcome of a step: the next state of the booking, and what its intent shows from then on. */
export interface Next<To extends BookingState = BookingState> extends Move<To> {
  readonly intent?: Partial<Omit<IntentRow, 'intent_id'>> | undefined;
  readonly also?: Written | undefined;
}

/** The outcomes that the table allows for a state. Every state with work may also get stuck. */
export type NextOf<State extends WorkState> = Next<
  (keyof (typeof BOOKING_STATES)[State]['to'] & BookingState) | 'stuck'
>;

export const stuck = (why: string): Next<'stuck'> => ({ to: 'stuck', change: { last_error: why } });

/** Paid bookings come first: closing an unpaid escrow can wait. */
const PAID_FIRST = [sql<SqlBool>`payment_key <> ${NO_PAYMENT}`, sql<SqlBool>`1 = 1`];

export function createClaims(ports: FlightsPorts) {
  const { store, clock, log, outbox } = ports;
  const queue = openQueue(ports, BOOKINGS);
  return {
    workOff: (work: Parameters<typeof queue.take>[1], most: number) => queue.workOff(work, most, PAID_FIRST),

    async runOne(intentId: string, work: Parameters<typeof queue.take>[1]): Promise<boolean> {
      const claim = await queue.claim([sql<SqlBool>`intent_id = ${intentId}`]);
      if (claim) await queue.take(claim, work);
      return claim !== null;
    },

    hold: (claim: BookingRow): Promise<void> => queue.check(claim),

    /** The guards of a booking's effects. */
    guard: (claim: BookingRow) => ({
      fence: () => queue.check(claim),
      held: sql<SqlBool>`exists (select 1 from bookings where intent_id = ${claim.intent_id} and fence = ${claim.fence})`,
    }),

    /** Changes the intent in the middle of a step, under the fence. */
    note: (claim: BookingRow, intent: Next['intent'] & object): Promise<void> =>
      inTurn(store, [`intents:${claim.intent_id}`], async (tx) => {
        await queue.check(claim, tx);
        await changeIntent(tx, claim.intent_id, intent);
      }),

    /**
     * Writes the outcome of a step in one transaction, or nothing if the fence was raised. Updates `claim`.
     * @returns true if the next step is due at once, so the lease is kept
     */
    async advance(claim: BookingRow, { to, change, intent, also }: Next): Promise<boolean> {
      const nowMs = clock.now();
      const { intent_id, state: from, fence } = claim;
      const reason = change?.last_error ?? null;
      const goesOn = isWork(to) && (change?.due_at_ms ?? nowMs) <= nowMs;
      const heldUntil = goesOn ? leaseTime(store, clock)(LEASE_MS) : undefined;
      const tasks = to === 'booked' || to === 'refunded' ? await tasksAfter(ports, intent_id, to) : null;
      // Need not wait for the disk before the last step: a step can be repeated, and the next one waits before it acts.
      const on = isWork(to) ? regained(store) : store;
      const write = async (tx: Tx) => {
        await moveBooking(tx, claim, { by: 'runner', to, change, heldUntil }, nowMs);
        if (intent) await changeIntent(tx, intent_id, { ...intent, updated_at_ms: nowMs });
        await also?.(tx);
        if (tasks) await planTasks(tx, intent_id, nowMs, tasks);
        if (to !== 'stuck') return;
        const text = `Booking of ${intent_id} is stuck in ${from} and needs a decision: ${reason ?? 'unknown'}. See farelock stuck show ${intent_id}.`;
        const fields = { intent_id, state: from, reason };
        await outbox.enqueue(tx, page('booking_stuck', `${intent_id}:${fence}`, { intentId: intent_id, text, fields }));
      };
      await together(on, write, () => movedByOthers(claim));
      if (to === 'stuck') log('error', 'booking_stuck', { intent_id, state: from, why: change?.last_error });
      else log('info', 'booking_advanced', { intent_id, from, to });
      Object.assign(claim, { due_at_ms: nowMs, attempts: 0, last_error: null, ...change, state: to });
      return goesOn;
    },

    /** Postpones a step, longer each time, or for as long as the airline asks. */
    postpone: (claim: BookingRow, error: unknown): Promise<void> =>
      queue.postpone(claim, error, ({ code, failures, tells }) => {
        const { intent_id, state } = claim;
        const text = `Booking of ${intent_id} failed ${failures} times in ${state} and will be tried again: ${code}.`;
        const fields = { intent_id, state, reason: code };
        const slow = page('booking_slow', `${intent_id}:${state}`, { intentId: intent_id, text, fields });
        return {
          change: { last_error: code, updated_at_ms: clock.now() },
          also: tells ? (tx) => outbox.enqueue(tx, slow) : undefined,
          log: () => log('warn', 'booking_postponed', { intent_id, state, attempts: failures, error_code: code }),
        };
      }),
  };
}

export type Claims = ReturnType<typeof createClaims>;

export interface StepTools {
  readonly ports: FlightsPorts;
  readonly escrows: Escrows;
  readonly claims: Claims;
  readonly mails: ReturnType<typeof createMails>;
}

/** A repeatable step. Refunds only if certainly no ticket exists. Returns null if it wrote the outcome itself. */
export type Step<State extends WorkState, Tools = StepTools> = (
  tools: Tools,
  booking: BookingRow,
  intent: IntentRow,
) => Promise<NextOf<State> | null>;

/** Time reserved before `refund_after` for an airline step to end, and for a capture to land. */
const AIRLINE_STEP_MS = 10 * 60_000;
export const CAPTURE_RESERVE_MS = 30 * 60_000;
/** How often a silent airline is asked before the money goes back (nothing is ordered then). */
export const MOST_TRIES = 12;
/** How often an unknown outcome is asked about before it waits for a person. */
export const MOST_QUESTIONS = 24;
/** Refund reason after an operator decided that there is no ticket. */
export const NOT_TICKETED = 'not_ticketed';

export const refund = (reason: string): Next<'refunding'> => ({ to: 'refunding', change: { refund_reason: reason } });

export function retryOrRefund(booking: BookingRow, error: unknown): Next<'refunding'> {
  const passing = isProblem(error, 'upstream_rate_limited', 'provider_failed');
  if (!passing || booking.attempts < MOST_TRIES) throw error;
  return refund(error.code);
}

type Timed = Pick<StepTools, 'ports'>;

/** True if an airline step could end after the escrow's deadline. */
export const isTooLateToOrder = ({ ports }: Timed, intent: IntentRow): boolean =>
  ports.clock.now() + AIRLINE_STEP_MS > intent.refund_after_ms;

export const isTooLateToWait = ({ ports }: Timed, intent: IntentRow): boolean =>
  ports.clock.now() + CAPTURE_RESERVE_MS > intent.refund_after_ms;

/** The program lets an escrow be closed 30 days after its end, by the chain's clock (docs/escrow.md, Close). */
export const CLOSE_AFTER_MS = 30 * DAY_MS + HOUR_MS;
const FIRST_LOOK_MS = 10 * 60_000;

/** The farthest ahead that a task is planned. Journeys depart within 360 days of the search, and return soon after. */
export const farthestMs = (task: UpkeepTask, { purgeAfterDays }: FlightsOptions): number =>
  ({
    late_money: DAY_MS,
    late_ticket: DAY_MS,
    close_escrow: CLOSE_AFTER_MS,
    order_watch: DAY_MS,
    capture: DAY_MS,
    unused_escrow: CLOSE_AFTER_MS,
    purge: (2 * 365 + purgeAfterDays) * DAY_MS,
  })[task];

/** The sweeper's tasks after a booking ends. After the refund of an order, they look for a late ticket. */
async function tasksAfter({ store, provider }: FlightsPorts, intentId: string, end: 'booked' | 'refunded') {
  const wasAsked = () =>
    store
      .selectFrom('effects')
      .select('effect_id')
      .where('subject', '=', intentId)
      .where('kind', '=', 'airline_order')
      .limit(1)
      .executeTakeFirst();
  return {
    ...(end === 'refunded' && (await wasAsked()) ? { late_ticket: FIRST_LOOK_MS } : {}),
    ...(end === 'booked' && provider?.changesSchedules ? { order_watch: FIRST_LOOK_MS } : {}),
    late_money: FIRST_LOOK_MS,
    close_escrow: CLOSE_AFTER_MS,
    purge: DAY_MS,
  };
}

/** Plans to ask the airline for a ticket after a refund that relied on an operator's word. */
export const watchForTicket = (tx: Tx, intentId: string, nowMs: number) =>
  planTasks(tx, intentId, nowMs, { late_ticket: FIRST_LOOK_MS });

/** Plans tasks this many milliseconds from now. Tasks that are already planned stay as they are. */
export async function planTasks(tx: Tx, intentId: string, nowMs: number, afterMs: Partial<Record<UpkeepTask, number>>) {
  const tasks = Object.entries(afterMs) as [UpkeepTask, number][];
  await tx
    .insertInto('upkeep')
    .values(tasks.map(([task, ms]) => ({ intent_id: intentId, task, due_at_ms: nowMs + ms, created_at_ms: nowMs })))
    .onConflict((conflict) => conflict.columns(['intent_id', 'task']).doNothing())
    .execute();
}
