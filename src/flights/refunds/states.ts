import { type SqlBool, sql } from 'kysely';
import { type Queue, queueDueAtMs, type RetryPolicy } from '../../store/index.ts';
import type { FlightsDatabase, FlightsPorts, RefundRequestState } from '../base/index.ts';
import { FARTHEST_MS, LEASE_MS, STEP_MS } from '../bookings/index.ts';

/** Who moves a refund request: the request that pays for it, the worker, or an operator. */
type Mover = 'payment' | 'runner' | 'operator';

/** Where a refund request may go from each state, and who moves it there. */
const MOVES: Readonly<Record<RefundRequestState, Readonly<Partial<Record<RefundRequestState, readonly Mover[]>>>>> = {
  settling: { received: ['payment', 'runner'] },
  received: { approved: ['operator'], rejected: ['operator'] },
  // To itself: an operator starts it again. Until the pay-out exists, an operator may decide something else.
  approved: { refunded: ['runner'], stuck: ['runner'], approved: ['operator'], rejected: ['operator'] },
  stuck: { approved: ['operator'], rejected: ['operator'] },
  refunded: {},
  rejected: {},
};

/** The new state of a request, where the table lets whoever asks move it there. */
export function movedTo<State extends RefundRequestState>(
  { state: from }: { readonly state: RefundRequestState },
  to: State,
  by: Mover,
): { readonly state: State } {
  if (!MOVES[from][to]?.includes(by)) throw new Error(`no refund request goes from ${from} to ${to} by ${by}`);
  return { state: to };
}

/** Where the words about a refund request are sealed: value and place belong together. */
export const reasonPlace = (requestId: string): string => `refund_requests.reason_sealed.${requestId}`;

export const contactPlace = (requestId: string): string => `refund_requests.contact_sealed.${requestId}`;
export const notePlace = (noteId: string): string => `refund_notes.text_sealed.${noteId}`;

/** An approved refund that keeps failing waits for a person, who may start it again. */
const RETRY: RetryPolicy = {
  firstMs: 1_000,
  factor: 2,
  mostMs: 60_000,
  jitter: 'none',
  tellAfter: null,
  giveUp: { after: 'failures', most: 24 },
};

/** An order that only a person can cancel is theirs at once. */
export const BY_HAND: RetryPolicy = { ...RETRY, giveUp: { after: 'failures', most: 1 } };

/** Whether a payment settled is asked until the journal knows. */
export const UNSETTLED: RetryPolicy = { ...RETRY, giveUp: { after: 'never' } };

/** Requests whose payment is open, and those that an operator approved. */
export const REFUNDS: Queue<FlightsDatabase, 'refund_requests'> = {
  table: 'refund_requests',
  key: 'request_id',
  due: 'due_at_ms',
  open: sql<SqlBool>`state in ('settling', 'approved')`,
  leaseMs: LEASE_MS,
  mostMs: STEP_MS,
  farthestMs: FARTHEST_MS,
  counts: 'failures',
  retry: RETRY,
};

/** When the worker has something to do about a refund request (epoch ms), or null. One small read. */
export const refundsDueAtMs = ({ store, clock }: Pick<FlightsPorts, 'store' | 'clock'>): Promise<number | null> =>
  queueDueAtMs({ store, clock }, REFUNDS);
