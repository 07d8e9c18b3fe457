import { isProblem } from '../../kernel/problems.ts';
import type { FlightsPorts } from '../ports.ts';
import type { BookingRow } from '../rows.ts';
import { type Claims, LeaseLost, type Next } from './claims.ts';
import { EscrowEndedOtherwise, type Escrows } from './escrows.ts';
import { createSteps } from './steps.ts';

/** How often a step may break in a way that nobody foresaw before it waits for a person. */
const MOST_FAULTS = 24;
/** More steps than any booking takes from a decision to its end. */
const MOST_STEPS = 8;

/** Takes steps of bookings, and writes down where each leads: on, later, or to a person. */
export function createStepRunner(ports: FlightsPorts, escrows: Escrows, claims: Claims) {
  const { store, log } = ports;
  const steps = createSteps(ports, escrows, claims);

  const stuck = (booking: BookingRow, why: string): Next => {
    log('error', 'booking_stuck', { intent_id: booking.intent_id, state: booking.state, why });
    return { booking: { state: 'stuck', last_error: why } };
  };

  async function take(booking: BookingRow): Promise<void> {
    try {
      const intent = await store
        .selectFrom('intents')
        .selectAll()
        .where('intent_id', '=', booking.intent_id)
        .executeTakeFirstOrThrow();
      if (booking.state in steps) {
        const step = steps[booking.state as keyof typeof steps];
        const next = await claims.whileHeld(booking, () => step(booking, intent));
        if (next) await claims.advance(booking, next);
      }
    } catch (error) {
      if (error instanceof LeaseLost) return;
      if (error instanceof EscrowEndedOtherwise)
        return claims.advance(booking, stuck(booking, error.message));
      // A problem has a name and may pass; what nobody foresaw would come back for ever, and no one would know.
      if (!isProblem(error) && booking.attempts + 1 >= MOST_FAULTS) {
        return claims.advance(booking, stuck(booking, 'step_failed'));
      }
      await claims.postpone(booking, error);
    }
  }

  return {
    take,

    /** Takes what is due of one booking now; what is left, the worker does. */
    async carryOutNow(intentId: string): Promise<void> {
      for (let taken = 0; taken < MOST_STEPS; taken++) {
        const booking = await claims.claim(intentId);
        if (!booking) return;
        await take(booking);
      }
    },
  };
}
