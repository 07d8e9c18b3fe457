import { isProblem } from '../../kernel/problems.ts';
import type { FlightsPorts } from '../ports.ts';
import type { BookingRow, IntentRow } from '../rows.ts';
import type { Claims, Next } from './claims.ts';
import type { Escrows } from './escrows.ts';
import type { createMails } from './mails.ts';
import type { createOrderBook } from './order-record.ts';

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
export const stuck = (why: string): Next => ({ to: 'stuck', change: { last_error: why } });

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
