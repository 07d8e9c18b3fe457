import type { RefundRequestState } from '../tables.ts';

/** Who moves a refund request: the request that pays for it, the worker, or an operator. */
type Mover = 'payment' | 'runner' | 'operator';

/** Where a refund request may go from each state, and who moves it there. */
const MOVES: Readonly<
  Record<RefundRequestState, Readonly<Partial<Record<RefundRequestState, readonly Mover[]>>>>
> = {
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
  if (!MOVES[from][to]?.includes(by))
    throw new Error(`no refund request goes from ${from} to ${to} by ${by}`);
  return { state: to };
}
