/**
 * `settling`: written before the payment is settled, so that a crash right after settlement loses nothing. What follows
 * belongs to the worker: queued, ordering, ticketing, capturing, booked; or refunding, refunded. `stuck` waits for a
 * person.
 */
export type BookingState =
  | 'settling'
  | 'queued'
  | 'ordering'
  | 'ticketing'
  | 'capturing'
  | 'booked'
  | 'refunding'
  | 'refunded'
  | 'stuck';

/**
 * Who moves a booking: the request that pays for it, the worker's step runner, an operator about what is stuck, and
 * the sweep of intents that nobody booked.
 */
export type Mover = 'payment' | 'runner' | 'operator' | 'sweep';

export interface Standing {
  /** True when the step runner has something to do in it. */
  readonly work: boolean;
  /** Where a booking may go from here, and who moves it there. */
  readonly to: Readonly<Partial<Record<BookingState, readonly Mover[]>>>;
}

/** In which state a booking begins, and who begins it. */
export const BEGINNINGS: Readonly<Partial<Record<BookingState, readonly Mover[]>>> = {
  settling: ['payment'],
  // There is no customer's booking: only the escrow is given back.
  refunding: ['sweep'],
};

/** The moves of a booking. Nothing but `moves.ts` writes a state, and it writes none that is not here. */
export const BOOKING_STATES = {
  settling: { work: true, to: { queued: ['payment', 'runner'], refunding: ['runner'], stuck: ['runner'] } },
  queued: { work: true, to: { ordering: ['runner'], refunding: ['runner'], stuck: ['runner'] } },
  ordering: {
    work: true,
    to: { ticketing: ['runner'], capturing: ['runner'], refunding: ['runner'], stuck: ['runner'] },
  },
  ticketing: {
    work: true,
    // To itself: the airline is asked again later.
    to: { ticketing: ['runner'], capturing: ['runner'], refunding: ['runner'], stuck: ['runner'] },
  },
  // A ticket exists: never to a refund.
  capturing: { work: true, to: { booked: ['runner'], stuck: ['runner'] } },
  booked: { work: false, to: {} },
  // To `ticketing` where the airline confirmed after a person had said that there is no ticket.
  refunding: { work: true, to: { refunded: ['runner'], ticketing: ['runner'], stuck: ['runner'] } },
  refunded: { work: false, to: {} },
  // An operator lets it go on in whatever work there is.
  stuck: { work: false, to: {} },
} as const satisfies Readonly<Record<BookingState, Standing>>;

/** The states in which the step runner has something to do. */
export type WorkState = {
  [State in BookingState]: (typeof BOOKING_STATES)[State]['work'] extends true ? State : never;
}[BookingState];

export const isWork = (state: BookingState): state is WorkState => BOOKING_STATES[state].work;

export function mayMove(from: BookingState, to: BookingState, by: Mover): boolean {
  if (from === 'stuck') return by === 'operator' && isWork(to);
  const { to: moves }: Standing = BOOKING_STATES[from];
  return moves[to]?.includes(by) ?? false;
}
