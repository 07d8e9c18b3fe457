import { isProblem } from '../../kernel/problems.ts';
import { isGivenUp } from '../../store/retry.ts';
import type { FlightsPorts } from '../ports.ts';
import type { BookingRow } from '../rows.ts';
import { FAULTS } from './booking-queue.ts';
import { createClaims } from './claims.ts';
import { EscrowEndedOtherwise, type Escrows } from './escrows.ts';
import { createMails } from './mails.ts';
import { createOrderBook } from './order-record.ts';
import { isWork } from './states.ts';
import { type StepTools, stuck } from './step.ts';
import { STEPS } from './steps.ts';

/** More steps than any booking takes from a decision to its end. */
const MOST_STEPS = 8;

/** Takes steps of bookings, and writes down where each leads: on, later, or to a person. */
export function createStepRunner(ports: FlightsPorts, escrows: Escrows) {
  const { store } = ports;
  const claims = createClaims(ports);
  const tools: StepTools = {
    ports,
    escrows,
    claims,
    orders: createOrderBook(ports),
    mails: createMails(ports),
  };

  async function perform(booking: BookingRow): Promise<void> {
    if (!isWork(booking.state)) return;
    const intent = await store
      .selectFrom('intents')
      .selectAll()
      .where('intent_id', '=', booking.intent_id)
      .executeTakeFirstOrThrow();
    const next = await STEPS[booking.state](tools, booking, intent);
    if (next) await claims.advance(booking, next);
  }

  async function failed(booking: BookingRow, error: unknown): Promise<void> {
    if (error instanceof EscrowEndedOtherwise) return claims.advance(booking, stuck(error.message));
    // A problem has a name and may pass; what nobody foresaw would come back for ever, and no one would know.
    const isLost = isGivenUp(FAULTS, { failures: booking.attempts + 1, ageMs: 0 });
    if (!isProblem(error) && isLost) return claims.advance(booking, stuck('step_failed'));
    await claims.postpone(booking, error);
  }

  return {
    /** Takes the steps that are due, up to so many. */
    runDue: (most: number) => claims.runDue({ perform, failed }, most),

    /** Takes what is due of one booking now; what is left, the worker does. */
    async carryOutNow(intentId: string): Promise<void> {
      for (let taken = 0; taken < MOST_STEPS; taken++) {
        const booking = await claims.claim(intentId);
        if (!booking) return;
        await claims.queue.take(booking, { perform, failed });
      }
    },
  };
}
