import { type SqlBool, sql } from 'kysely';
import { openQueue } from '../../store/queue.ts';
import { regained } from '../../store/regained.ts';
import type { FlightsPorts } from '../ports.ts';
import type { BookingRow, IntentRow } from '../rows.ts';
import type { Tx } from '../tables.ts';
import { planUpkeep } from '../upkeep/plan-upkeep.ts';
import { BOOKINGS } from './booking-queue.ts';
import type { Written } from './mails.ts';
import { type BookingChange, moveBooking } from './moves.ts';
import { NO_PAYMENT } from './retire.ts';
import { type BookingState, isWork } from './states.ts';

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
