import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isProblem } from '../../kernel/problems.ts';
import { leaseIsOver, whileRowIsHeld } from '../../store/leases.ts';
import { nextInQueue, type Queue, queueDueAtMs } from '../../store/queue.ts';
import { NO_PAYMENT } from '../intents/retire.ts';
import type { Written } from '../orders/mails.ts';
import type { FlightsPorts } from '../ports.ts';
import type { BookingRow, IntentRow } from '../rows.ts';
import { planUpkeep } from '../upkeep/upkeep.ts';

/** Renewed while a step is taken; a worker that died is overtaken after it. */
export const LEASE_MS = 10_000;
/** Longer than any one step takes. */
export const STEP_MS = 60_000;
const MOST_BACKOFF_MS = 60_000;
/** No step is ever put off for longer, whatever an airline asks for. */
export const FARTHEST_MS = 10 * 60_000;
/** The bookings in which the worker has something to do; `stuck` waits for a person. */
export const OPEN_BOOKINGS = sql<SqlBool>`state in ('settling', 'queued', 'ordering', 'ticketing', 'capturing', 'refunding')`;
const BOOKINGS: Queue = {
  table: 'bookings',
  key: 'intent_id',
  due: 'due_at_ms',
  open: OPEN_BOOKINGS,
  leaseMs: LEASE_MS,
  farthestMs: FARTHEST_MS,
};
/** A step that failed so often is told to an operator. */
const TELLS_AFTER = 24;

/** Whoever paid comes first: an escrow that nobody paid is closed when no capture or refund waits. */
function nextBooking(nowMs: number, intentId: string | undefined): RawBuilder<string> {
  const named = intentId === undefined ? sql<SqlBool>`1 = 1` : sql<SqlBool>`intent_id = ${intentId}`;
  const paid = nextInQueue(BOOKINGS, nowMs, sql<SqlBool>`${named} and payment_key <> ${NO_PAYMENT}`);
  return sql<string>`coalesce(${paid}, ${nextInQueue(BOOKINGS, nowMs, named)})`;
}

/** Another worker took the booking over; whatever was under way is theirs now. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** What a step leaves behind: the next state of the booking, and what the intent shows from then on. */
export interface Next {
  readonly booking: Partial<Omit<BookingRow, 'intent_id' | 'fence'>>;
  readonly intent?: Partial<Omit<IntentRow, 'intent_id'>>;
  /** Written in the same transaction: what is told about it. */
  readonly also?: Written | undefined;
}

/** Who may work on which booking: leases and fences (DESIGN, section 6). */
export function createClaims(ports: Pick<FlightsPorts, 'store' | 'clock' | 'log' | 'outbox'>) {
  const { store, clock, log } = ports;
  return {
    /** When the next step is due (epoch ms), null when nothing is under way. One query. */
    nextDueAtMs: (): Promise<number | null> => queueDueAtMs(store, BOOKINGS, clock.now()),

    /**
     * Takes a due booking, or the one that is named when it is due, atomically: the lease keeps others away, the fence
     * makes older holders powerless.
     */
    async claim(intentId?: string): Promise<BookingRow | null> {
      const nowMs = clock.now();
      const row = await store
        .updateTable('bookings')
        .set((column) => ({ lease_until_ms: nowMs + LEASE_MS, fence: column('fence', '+', 1) }))
        .where('intent_id', '=', nextBooking(nowMs, intentId))
        .where(leaseIsOver(nowMs, LEASE_MS))
        .returningAll()
        .executeTakeFirst();
      return row ?? null;
    },

    whileHeld: <T>(claim: BookingRow, step: () => Promise<T>): Promise<T> =>
      whileRowIsHeld(
        ports,
        {
          table: 'bookings',
          key: 'intent_id',
          id: claim.intent_id,
          fence: claim.fence,
          leaseMs: LEASE_MS,
          mostMs: STEP_MS,
        },
        step,
      ),

    /** @throws LeaseLost when the claim is no longer ours. */
    async hold(claim: BookingRow): Promise<void> {
      const row = await store
        .selectFrom('bookings')
        .select('fence')
        .where('intent_id', '=', claim.intent_id)
        .executeTakeFirst();
      if (row?.fence !== claim.fence) throw new LeaseLost();
    },

    /** Notes something on the intent in the middle of a step, under the fence. */
    async note(claim: BookingRow, intent: Next['intent'] & object): Promise<void> {
      await store.transaction().execute(async (tx) => {
        const row = await tx
          .selectFrom('bookings')
          .select('fence')
          .where('intent_id', '=', claim.intent_id)
          .executeTakeFirst();
        if (row?.fence !== claim.fence) throw new LeaseLost();
        await tx.updateTable('intents').set(intent).where('intent_id', '=', claim.intent_id).execute();
      });
    },

    /** Writes the outcome of a step and gives the lease back: all of it, or (the fence was raised) nothing. */
    async advance(claim: BookingRow, next: Next): Promise<void> {
      const nowMs = clock.now();
      const { state } = next.booking;
      await store.transaction().execute(async (tx) => {
        const written = await tx
          .updateTable('bookings')
          .set({
            due_at_ms: nowMs,
            attempts: 0,
            last_error: null,
            stuck_in: state === 'stuck' ? claim.state : null,
            ...next.booking,
            lease_until_ms: 0,
            updated_at_ms: nowMs,
          })
          .where('intent_id', '=', claim.intent_id)
          .where('fence', '=', claim.fence)
          .executeTakeFirst();
        if (written.numUpdatedRows === 0n) throw new LeaseLost();
        if (next.intent) {
          await tx
            .updateTable('intents')
            .set({ ...next.intent, updated_at_ms: nowMs })
            .where('intent_id', '=', claim.intent_id)
            .execute();
        }
        await next.also?.(tx);
        if (state === 'booked' || state === 'refunded') await planUpkeep(tx, claim.intent_id, state, nowMs);
        if (state === 'stuck') {
          await ports.outbox.enqueue(tx, {
            kind: 'page',
            dedupKey: `page:booking_stuck:${claim.intent_id}:${claim.fence}`,
            intentId: claim.intent_id,
            event: 'booking_stuck',
            text: `Booking of ${claim.intent_id} is stuck in ${claim.state} and waits for a person: ${next.booking.last_error ?? 'unknown'}. See farelock stuck show ${claim.intent_id}.`,
            fields: {
              intent_id: claim.intent_id,
              state: claim.state,
              reason: next.booking.last_error ?? null,
            },
          });
        }
      });
      log('info', 'booking_advanced', {
        intent_id: claim.intent_id,
        from: claim.state,
        to: next.booking.state ?? claim.state,
      });
    },

    /** Puts a step off, longer each time; an airline that says how long to wait is believed. */
    async postpone(claim: BookingRow, error: unknown): Promise<void> {
      const code = isProblem(error) ? error.code : error instanceof Error ? error.name : 'unknown';
      const retryAfterMs = isProblem(error) && error.retryAfter ? error.retryAfter * 1000 : 0;
      const backoffMs = Math.min(MOST_BACKOFF_MS, 250 * 2 ** Math.min(claim.attempts, 10));
      const delayMs = Math.min(FARTHEST_MS, Math.max(retryAfterMs, backoffMs));
      const nowMs = clock.now();
      const attempts = claim.attempts + 1;
      await store.transaction().execute(async (tx) => {
        const written = await tx
          .updateTable('bookings')
          .set({
            lease_until_ms: 0,
            due_at_ms: nowMs + delayMs,
            attempts,
            last_error: code,
            updated_at_ms: nowMs,
          })
          .where('intent_id', '=', claim.intent_id)
          .where('fence', '=', claim.fence)
          .executeTakeFirst();
        if (attempts !== TELLS_AFTER || written.numUpdatedRows === 0n) return;
        // It may pass by itself, and is tried further; but somebody should know.
        await ports.outbox.enqueue(tx, {
          kind: 'page',
          dedupKey: `page:booking_slow:${claim.intent_id}:${claim.state}`,
          intentId: claim.intent_id,
          event: 'booking_slow',
          text: `Booking of ${claim.intent_id} failed ${attempts} times in ${claim.state}, and is tried further: ${code}.`,
          fields: { intent_id: claim.intent_id, state: claim.state, reason: code },
        });
      });
      log('warn', 'booking_postponed', {
        intent_id: claim.intent_id,
        state: claim.state,
        attempts,
        error_code: code,
      });
    },
  };
}

export type Claims = ReturnType<typeof createClaims>;
