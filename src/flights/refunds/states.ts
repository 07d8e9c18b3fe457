import { type SqlBool, sql } from 'kysely';
import type { Queue, RetryPolicy } from '../../store/index.ts';
import type { FlightsDatabase, RefundRequestState } from '../base/index.ts';
import { FARTHEST_MS, LEASE_MS, STEP_MS } from '../bookings/index.ts';

type Mover = 'payment' | 'runner' | 'operator';

const MOVES: Readonly<Record<RefundRequestState, Partial<Record<RefundRequestState, readonly Mover[]>>>> = {
  settling: { received: ['payment', 'runner'] },
  received: { approved: ['operator'], rejected: ['operator'] },
  // `approved` again: an operator restarts it. Until the pay-out exists, an operator may decide something else.
  approved: { refunded: ['runner'], stuck: ['runner'], approved: ['operator'], rejected: ['operator'] },
  stuck: { approved: ['operator'], rejected: ['operator'] },
  refunded: {},
  rejected: {},
};

/** Returns the new state of a request. Throws if the table does not let the mover move it there. */
export function movedTo<State extends RefundRequestState>(
  { state: from }: { readonly state: RefundRequestState },
  to: State,
  by: Mover,
): { readonly state: State } {
  if (!MOVES[from][to]?.includes(by)) throw new Error(`no refund request goes from ${from} to ${to} by ${by}`);
  return { state: to };
}

/** Places that bind sealed words about a refund request to their row and column. */
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

/** Only a person can go on, so the request waits for one after the first failure. */
export const THEIRS: RetryPolicy = { ...RETRY, giveUp: { after: 'failures', most: 1 } };

/** The journal is asked about a payment until it knows the outcome. */
export const UNSETTLED: RetryPolicy = { ...RETRY, giveUp: { after: 'never' } };

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
