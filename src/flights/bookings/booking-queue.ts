import { type SqlBool, sql } from 'kysely';
import type { Queue } from '../../store/queue.ts';
import type { FlightsDatabase } from '../tables.ts';
import { BOOKING_STATES, type BookingState, isWork } from './states.ts';

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
export const OPEN_BOOKINGS = sql.raw<SqlBool>(
  `state not in (${withoutWork.map((state) => `'${state}'`).join(', ')})`,
);

export const BOOKINGS: Queue<FlightsDatabase, 'bookings'> = {
  table: 'bookings',
  key: 'intent_id',
  due: 'due_at_ms',
  open: OPEN_BOOKINGS,
  leaseMs: LEASE_MS,
  mostMs: STEP_MS,
  farthestMs: FARTHEST_MS,
  counts: 'failures',
  // What fails may pass by itself: it is tried further, and somebody should know.
  retry: {
    firstMs: 250,
    factor: 2,
    mostMs: 60_000,
    jitter: 'none',
    tellAfter: 24,
    giveUp: { after: 'never' },
  },
};

/** What nobody foresaw would come back for ever, and no one would know. */
export const FAULTS = { giveUp: { after: 'failures', most: 24 } } as const;
