import type { Insertable } from 'kysely';
import { callOff } from '../../airlines/browser/call-off.ts';
import { LeaseLost } from '../../store/leases.ts';
import { regained } from '../../store/regained.ts';
import type { BookingRow } from '../rows.ts';
import type { BookingTable, Tx } from '../tables.ts';
import { OPEN_BOOKINGS } from './booking-queue.ts';
import type { BookingState } from './states.ts';
import { BEGINNINGS, type Mover, mayMove } from './states.ts';

/** What a move writes beside the state. */
export type BookingChange = Partial<
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
  if (!mayMove(booking.state, to, by))
    throw new Error(`no booking goes from ${booking.state} to ${to} by ${by}`);
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
