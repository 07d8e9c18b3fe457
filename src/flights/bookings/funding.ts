import { instant } from '../../kernel/clock.ts';
import { asInteger } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { regained } from '../../store/base/index.ts';
import { LeaseLost } from '../../store/index.ts';
import type { BookingRow, FlightsPorts, IntentRow } from '../base/index.ts';
import type { Escrows } from './escrows.ts';
import { moveBooking } from './machine.ts';
import { createMails } from './mails.ts';

/** A stranger who keeps sending dust is swept this often before the request gives up (the worker goes on). */
const SWEEPS = 3;

/**
 * Verifies that the vault of a settled booking holds exactly the amount, and queues the booking. A surplus is swept
 * to the refund wallet first: dust must not be able to block a booking. Safe to run again and at the same time
 * elsewhere: the booking is queued once.
 * @param by whose call this is
 * @returns when the booking was requested, RFC 3339
 * @throws Problem `escrow_funding_mismatch` (expected, observed: atomic units), `escrow_missing`, `cluster_failed`
 */
export async function queueFunded(
  ports: Pick<FlightsPorts, 'store' | 'clock' | 'log' | 'secrets' | 'outbox'>,
  escrows: Escrows,
  intent: IntentRow,
  booking: BookingRow,
  by: 'payment' | 'runner',
): Promise<string> {
  const { store, clock } = ports;
  if (booking.state !== 'settling') return instant(booking.requested_at_ms);
  const escrow = await escrows.read(intent);
  if (escrow?.state !== 'open') throw problem('escrow_missing', { fix: 'What was paid goes to the refund wallet.' });

  const expected = BigInt(intent.amount);
  let observed = await escrows.held(intent);
  let canSweep = true;
  for (let sweeps = 0; observed > expected && canSweep && sweeps < SWEEPS; sweeps++) {
    canSweep = await escrows.sweep(intent);
    observed = await escrows.held(intent);
  }
  // A surplus that can't go back now stays in the vault until it can: a capture takes the amount and no more.
  if (observed < expected || (observed > expected && canSweep)) {
    throw problem('escrow_funding_mismatch', {
      detail: { expected: asInteger(expected), observed: asInteger(observed) },
    });
  }

  const tell = await createMails(ports).bookingRequested(booking, intent);
  const nowMs = clock.now();
  const move = { by, to: 'queued', change: { requested_at_ms: nowMs } } as const;
  try {
    // A payment's own request keeps its answer after this, and waits for the disk.
    await (by === 'payment' ? regained(store) : store).transaction().execute(async (tx) => {
      await moveBooking(tx, booking, move, nowMs);
      await tx
        .updateTable('intents')
        .set({ booking_requested_at_ms: nowMs, observed_amount: intent.amount, updated_at_ms: nowMs })
        .where('intent_id', '=', booking.intent_id)
        .execute();
      await tell(tx);
    });
    ports.log('info', 'booking_queued', { intent_id: booking.intent_id });
  } catch (error) {
    // Somebody else queued it.
    if (!(error instanceof LeaseLost)) throw error;
  }
  const row = await store
    .selectFrom('bookings')
    .select('requested_at_ms')
    .where('intent_id', '=', booking.intent_id)
    .executeTakeFirstOrThrow();
  return instant(row.requested_at_ms);
}
