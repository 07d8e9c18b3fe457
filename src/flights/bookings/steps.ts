import { OrderRefused, type Provider, type ProviderOrder, toldBy } from '../../airlines/index.ts';
import { instant } from '../../kernel/clock.ts';
import { asInteger, parseUsdc } from '../../kernel/money.ts';
import { isProblem, type Problem, problem } from '../../kernel/problems.ts';
import { regained, together } from '../../store/base/index.ts';
import { LeaseLost, type PollPolicy, pollPauseMs } from '../../store/index.ts';
import type { BookingRow, FlightsPorts, IntentRow, Tx } from '../base/index.ts';
import {
  bookingOf,
  changeIntent,
  DATABASE_BEHIND,
  intentOf,
  lockedBags,
  lockedOffer,
  lockedSeats,
  pageAlone,
} from '../base/index.ts';
import { checkPriceHolds, isLowcost } from '../offers/index.ts';
import { dropUnpaid } from './creations.ts';
import { EscrowEndedOtherwise, type Escrows, type EscrowTerms, placeOf } from './escrows.ts';
import { holdMs } from './hold.ts';
import { openPassengers } from './identity.ts';
import type { LowcostTools } from './lowcost-steps.ts';
import type { Claims, Next, NextOf, Step, StepTools, WorkState } from './machine.ts';
import {
  CAPTURE_RESERVE_MS,
  createClaims,
  isTooLateToOrder,
  isTooLateToWait,
  isWork,
  MOST_FAULTS,
  MOST_QUESTIONS,
  MOST_TRIES,
  moveBooking,
  movedByOthers,
  NO_PAYMENT,
  planTasks,
  refund,
  retryOrRefund,
  stuck,
} from './machine.ts';
import { createMails } from './mails.ts';
import { keepOrder, keptOrder } from './order-record.ts';

/** Shown as `refund_reason` while the money waits for the refund wallet's token account. */
const REFUND_WAITS = 'refund_account_missing';
/** The airline's reason to refuse an order that the seller's balance does not cover. */
const BALANCE_LOW = 'provider_balance_low';
/** How long an order waits for a refill of that balance before a retry. */
const REFILL_S = 300;

/** Asks for a slow ticket every few seconds, not twice a second for hours. */
const TICKET_POLL: PollPolicy = { leastMs: 500, mostMs: 15_000 };

/** Answers of the airline that end an order before it is made. */
const GONE = [
  ...(['offer_not_found', 'offer_unavailable', 'offer_expired', 'offer_repriced'] as const),
  ...(['bags_unavailable', 'seats_unavailable', 'seat_unavailable'] as const),
] as const;
/** Answers that prove that the airline ordered nothing. */
const REFUSALS = [...GONE, 'upstream_rate_limited'] as const;

/** Finishes a payment whose process may have died: the settlement journal knows what became of the money. */
const settling: Step<'settling'> = async ({ ports, escrows }, booking, intent) => {
  const outcome = await ports.paywall.outcome(booking.payment_key);
  if (outcome === 'unknown') throw problem('payment_pending');
  if (outcome === 'failed') {
    await dropUnpaid(ports, booking);
    return null;
  }
  const overdue = ports.clock.now() > intent.expires_at_ms + CAPTURE_RESERVE_MS;
  try {
    await queueFunded(ports, escrows, intent, booking, 'runner');
    return null;
  } catch (error) {
    if (isProblem(error, 'escrow_missing')) return refund('escrow_missing');
    if (overdue && isProblem(error, 'escrow_funding_mismatch')) return refund('escrow_funding_mismatch');
    throw error;
  }
};

/** How often a stranger's dust is swept before the request gives up (the worker goes on). */
const SWEEPS = 3;

/**
 * Queues a settled booking if one of its vaults holds exactly the amount, and records which. Sweeps dust to the refund
 * wallet first. Safe to repeat, even in several processes at once.
 * @returns when the booking was requested (RFC 3339), and whether another process has moved it
 * @throws Problem `escrow_funding_mismatch` (expected, observed: atomic units), `escrow_missing`, `cluster_failed`
 */
export async function queueFunded(
  ports: FlightsPorts,
  escrows: Escrows,
  intent: IntentRow,
  booking: BookingRow,
  by: 'payment' | 'runner',
): Promise<{ readonly requestedAt: string; readonly isOvertaken: boolean }> {
  const { store, clock } = ports;
  const { intent_id } = booking;
  if (booking.state !== 'settling') return { requestedAt: instant(booking.requested_at_ms), isOvertaken: true };
  const at = await fundedAt(escrows, intent);
  const expected = BigInt(intent.amount);
  let observed = await escrows.held(at);
  let canSweep = true;
  for (let sweeps = 0; observed > expected && canSweep && sweeps < SWEEPS; sweeps++) {
    canSweep = await escrows.sweep(at);
    observed = await escrows.held(at);
  }
  // A surplus that can't go back now stays in the vault until it can: a capture takes only the amount.
  if (observed < expected || (observed > expected && canSweep)) {
    throw problem('escrow_funding_mismatch', {
      detail: { expected: asInteger(expected), observed: asInteger(observed) },
    });
  }

  const tell = await createMails(ports).bookingRequested(booking, intent);
  const nowMs = clock.now();
  try {
    // A payment's own request need not wait for the disk: it writes its answer after this, and that does.
    const on = by === 'payment' ? regained(store) : store;
    const write = async (tx: Tx) => {
      await moveBooking(tx, booking, { by, to: 'queued', change: { requested_at_ms: nowMs } }, nowMs);
      const requested = { booking_requested_at_ms: nowMs, observed_amount: intent.amount, updated_at_ms: nowMs };
      await changeIntent(tx, intent_id, at === intent ? requested : { ...requested, ...placeOf(at) });
      // Closes the opened escrow, which was never paid.
      if (at !== intent) await planTasks(tx, intent_id, nowMs, { unused_escrow: 0 });
      await tell(tx);
    };
    await together(on, write, () => movedByOthers(booking));
    ports.log('info', 'booking_queued', { intent_id });
    return { requestedAt: instant(nowMs), isOvertaken: false };
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
  }
  // Another process queued it.
  const queued = await bookingOf(store, intent_id);
  if (!queued) throw new Error('a queued booking is gone');
  return { requestedAt: instant(queued.requested_at_ms), isOvertaken: true };
}

/** The escrow that holds the price: the opened one, or an authorization. @throws Problem `escrow_missing` */
async function fundedAt(escrows: Escrows, intent: IntentRow): Promise<EscrowTerms> {
  const escrow = await escrows.read(intent);
  const isOpen = escrow?.state === 'open';
  if (isOpen && (await escrows.held(intent)) >= BigInt(intent.amount)) return intent;
  const other = await escrows.other(intent);
  if (await escrows.holdsPrice(other)) return other;
  if (isOpen) return intent;
  throw problem('escrow_missing', { fix: 'What was paid goes to the refund wallet.' });
}

const queued: Step<'queued'> = async (tools, booking, intent) => {
  const { provider, clock } = tools.ports;
  if (!provider) return refund('provider_not_configured');
  if (isTooLateToOrder(tools, intent)) return tooLate(booking);
  try {
    await checkPriceHolds(provider, intent, clock.now());
  } catch (error) {
    if (!isProblem(error)) throw error;
    return afterProblem(booking, error);
  }
  return { to: 'ordering' };
};

const ordering: Step<'ordering'> = async (tools, booking, intent) => {
  const { provider, effects } = tools.ports;
  if (!provider) return stuck('provider_not_configured');
  const begun = await effects.standing('airline_order', intent.intent_id);
  if (begun === 'none' && isTooLateToOrder(tools, intent)) return tooLate(booking);
  let order: ProviderOrder;
  try {
    order = await placeOrder(tools, provider, booking, intent, begun === 'none');
  } catch (error) {
    if (error instanceof OrderRefused) return afterRefusal(booking, error);
    if (!isProblem(error)) throw error;
    // While the attempt is alive the airline may have an order, so we only ask again.
    const left = await effects.standing('airline_order', intent.intent_id);
    if (left === 'none') return afterProblem(booking, error);
    if (booking.attempts < MOST_QUESTIONS) throw error;
    return stuck('outcome_unknown');
  }
  return afterOrder(tools, intent, order);
};

/** Refunds only after the airline's own answer. Our own trouble, such as a full disk, is retried like any other. */
function afterProblem(booking: BookingRow, error: Problem) {
  if (!isProblem(error, ...GONE)) return retryOrRefund(booking, error);
  // Tells the traveller that the seller's balance was too low until the offer was gone.
  if (booking.last_error === 'operator_funds_low') return refund(BALANCE_LOW);
  return refund(error.code === 'offer_not_found' ? 'offer_unavailable' : error.code);
}

/** Refunds because the escrow's time is over before anything was ordered. */
const tooLate = ({ last_error }: BookingRow) =>
  refund(last_error === 'operator_funds_low' ? BALANCE_LOW : 'deadline_passed');

/** Retries a refusal that may pass, as a new attempt, and refunds after others: nothing was ordered for certain. */
function afterRefusal(booking: BookingRow, refusal: OrderRefused) {
  // The balance can be filled up until the deadline, and the traveller still wants the seat.
  if (refusal.reason === BALANCE_LOW) {
    throw problem('operator_funds_low', { retryAfter: REFILL_S, cause: refusal });
  }
  if (!refusal.mayPass || booking.attempts >= MOST_TRIES) return refund(refusal.reason);
  throw problem('provider_failed', { cause: refusal });
}

const placeOrder = (
  { ports, claims }: StepTools,
  provider: Provider,
  booking: BookingRow,
  intent: IntentRow,
  isNew: boolean,
) =>
  ports.effects.airline<ProviderOrder>({
    isNew,
    subject: intent.intent_id,
    reference: intent.intent_id,
    create: async () => {
      // Rebuilt after a restore of the database, which lost the passengers.
      if (booking.passengers_sealed === '') throw new OrderRefused(DATABASE_BEHIND, false);
      return provider.createOrder({
        reference: intent.intent_id,
        offerId: intent.offer_id,
        expectedAmountDecimal: lockedOffer(intent).total_amount_decimal,
        bags: lockedBags(intent) ?? undefined,
        seats: lockedSeats(intent)?.chosen,
        passengers: openPassengers(ports.secrets, booking),
      });
    },
    find: () => provider.findOrder(intent.intent_id, intent.offer_id),
    idOf: (order) => order.providerOrderId,
    refused: (error) => (error instanceof OrderRefused ? error.reason : isProblem(error, ...REFUSALS)),
    told: toldBy,
    ...claims.guard(booking),
  });

async function afterOrder({ ports }: StepTools, intent: IntentRow, order: ProviderOrder): Promise<NextOf<'ordering'>> {
  const nowMs = ports.clock.now();
  const known = { provider_order_id: order.providerOrderId };
  if (order.status === 'failed' || order.status === 'cancelled') {
    return { to: 'refunding', change: { ...known, refund_reason: 'ticketing_failed' } };
  }
  if (order.status !== 'ticketed') {
    return { to: 'ticketing', change: { ...known, due_at_ms: nowMs + TICKET_POLL.leastMs } };
  }
  // The ticket exists. If it costs another amount than the escrow holds, a person decides.
  const isPrice = order.totalCurrency === 'USD' && parseUsdc(order.totalAmountDecimal) === BigInt(intent.amount);
  if (!isPrice) return { to: 'stuck', change: { ...known, last_error: 'paid_another_price' } };
  return {
    to: 'capturing',
    change: known,
    intent: { ticketed_at_ms: intent.ticketed_at_ms ?? nowMs },
    also: (tx) => keepOrder(ports, intent, order, tx),
  };
}

/** Waits for the ticket until shortly before the escrow's deadline. */
const ticketing: Step<'ticketing'> = async (tools, booking, intent) => {
  const { provider, clock } = tools.ports;
  if (!provider || booking.provider_order_id === null) return stuck('provider_not_configured');
  const giveUp = isTooLateToWait(tools, intent);
  if (giveUp && booking.attempts >= MOST_QUESTIONS) return stuck('outcome_unknown');
  const order = await provider.order(booking.provider_order_id);
  if (order.status !== 'pending' && order.status !== 'confirmed') return afterOrder(tools, intent, order);
  if (giveUp) {
    // Another worker may have taken the booking over, found it ticketed and captured.
    await tools.claims.hold(booking);
    const last = await provider.cancel(booking.provider_order_id);
    if (last.status === 'ticketed') return afterOrder(tools, intent, last);
    const dead = last.status === 'cancelled' || last.status === 'failed';
    return dead ? refund('ticketing_timeout') : stuck('order_not_cancelled');
  }
  const nowMs = clock.now();
  return { to: 'ticketing', change: { due_at_ms: nowMs + pollPauseMs(TICKET_POLL, nowMs - booking.requested_at_ms) } };
};

/** Captures or holds the price of a ticket. It is retried until it succeeds, and never turns into a refund. */
const capturing: Step<'capturing'> = async ({ ports, escrows, claims, mails }, booking, intent) => {
  const heldMs = await holdMs(ports, intent);
  const landed = heldMs > 0 ? null : await escrows.capture(intent, claims.guard(booking));
  // A restored database may lack a refund that released a part.
  const isCaptured = landed?.captured === BigInt(intent.amount);
  const signature = isCaptured ? landed.signature : null;
  const order = await keptOrder(ports.store, intent);
  const tell = await mails.booked(booking, intent, order, signature);
  const nowMs = ports.clock.now();
  return {
    to: 'booked',
    intent: {
      status: 'booked',
      order_id: order.order_id,
      captured_at_ms: isCaptured ? (intent.captured_at_ms ?? nowMs) : null,
      capture_tx_hash: signature,
      active_key: null,
    },
    async also(tx) {
      await tell(tx);
      if (!isCaptured) await planTasks(tx, intent.intent_id, nowMs, { capture: heldMs });
    },
  };
};

/** Frees the keys of an intent that ends without an order. */
const OVER = { active_key: null, creating_key: null } as const;

/** Gives back what the vault holds. An unpaid intent keeps its status, and its escrow is closed to free the rent. */
const refunding: Step<'refunding'> = async (tools, booking, intent) => {
  const { ports, escrows, claims } = tools;
  const opened = await ports.effects.standing('open_escrow', intent.intent_id);
  const before = await escrows.read(intent);
  const paid = booking.payment_key !== NO_PAYMENT;
  // A worker refunded and closed it, and died before it recorded that.
  const isClosed = opened === 'done' && (intent.observed_amount ?? 0) > 0;
  if (!before && (paid || !isClosed)) {
    // The transaction that opens the escrow may still land.
    if (opened === 'open') throw problem('cluster_failed');
    // Only our refunds close an escrow. If a node shows none, it is behind, or a person has to look.
    const isHidden = opened === 'done' && (await ports.effects.standing('refund', intent.intent_id)) === 'none';
    if (isHidden && booking.attempts < MOST_QUESTIONS) throw problem('cluster_failed');
    if (paid || isHidden) return stuck('escrow_missing');
    // A live creation could still open the escrow, and nothing would ever close it.
    if (opened !== 'done' && !(await ports.effects.callOff('open_escrow', intent.intent_id))) {
      throw problem('cluster_failed');
    }
    return { to: 'refunded', intent: OVER };
  }
  const guard = claims.guard(booking);
  if (before?.state === 'open' && paid) {
    const { lateTicket } = await import('./late-ticket.ts');
    const late = await lateTicket(ports, booking, intent, guard.fence);
    if (late) return late;
  }
  // Written first: after the refund the chain no longer shows if it held money.
  const held = before?.state === 'open' ? await escrows.held(intent) : 0n;
  if (held > 0n) await claims.note(booking, { observed_amount: asInteger(held) });
  const signature = await escrows.refund(intent, guard, { closes: !paid }).catch(async (error) => {
    if (isProblem(error, 'refund_account_missing')) await tellRefundWaits(ports, claims, booking, intent);
    throw error;
  });
  // Money that arrived after the vault was closed goes back, too.
  if (before !== null && (await escrows.held(intent)) > 0n) await escrows.sweep(intent, guard);
  const funded = paid || held > 0n || (intent.observed_amount ?? 0) > 0;
  return funded ? refunded(tools, booking, intent, held, signature) : { to: 'refunded', intent: OVER };
};

async function refunded(
  { ports, mails }: StepTools,
  booking: BookingRow,
  intent: IntentRow,
  held: bigint,
  signature: string | null,
): Promise<Next<'refunded'>> {
  return {
    to: 'refunded',
    intent: {
      ...OVER,
      status: 'refunded',
      refund_reason: booking.refund_reason,
      refunded_at_ms: ports.clock.now(),
      refund_tx_hash: signature,
    },
    also: await mails.about(booking, {
      kind: 'refunded',
      amount: held > 0n ? held : BigInt(intent.observed_amount || intent.amount),
      reason: booking.refund_reason,
      refundWallet: intent.refund_wallet,
      transaction: signature,
    }),
  };
}

/** Shows the customer and pages an operator that a refund waits for its owner's token account. */
async function tellRefundWaits(
  ports: FlightsPorts,
  claims: Claims,
  booking: BookingRow,
  { intent_id, refund_reason, refund_wallet, mint }: IntentRow,
): Promise<void> {
  if (refund_reason === REFUND_WAITS) return;
  await claims.note(booking, { refund_reason: REFUND_WAITS, creating_key: null });
  await pageAlone(ports, 'refund_waits', intent_id, {
    intentId: intent_id,
    text: `The refund of ${intent_id} waits: ${refund_wallet} has no token account that can take it. It is tried again every ten minutes; anyone can open the account.`,
    fields: { intent_id, refund_wallet, mint },
  });
}

type LowcostSteps = typeof import('./lowcost-steps.ts');

/** Chooses the steps by tier. Those of the lowcost tier are loaded only for its bookings. */
const byTier =
  <State extends WorkState>(fast: Step<State>, slow: (steps: LowcostSteps) => Step<State, LowcostTools>): Step<State> =>
  async (tools, booking, intent) => {
    if (!isLowcost(intent.offer_id)) return fast(tools, booking, intent);
    const { lowcost } = tools.ports;
    if (!lowcost) return stuck('provider_not_configured');
    return slow(await import('./lowcost-steps.ts'))({ ...tools, fulfiller: lowcost, afterOrder }, booking, intent);
  };

/** The step of each state: recheck -> order -> ticket -> capture -> booked, or refunding -> refunded. */
export const STEPS: { readonly [State in WorkState]: Step<State> } = {
  settling,
  queued: byTier(queued, (steps) => steps.queued),
  ordering: byTier(ordering, (steps) => steps.ordering),
  ticketing: byTier(ticketing, (steps) => steps.ticketing),
  capturing,
  refunding,
};

/** More steps than any booking takes from a decision to its end. */
const MOST_STEPS = 8;

export function createStepRunner(ports: FlightsPorts, escrows: Escrows) {
  const claims = createClaims(ports);
  const tools: StepTools = { ports, escrows, claims, mails: createMails(ports) };
  const work = {
    /** Takes step after step under one lease, while each next one is due at once. */
    async perform(booking: BookingRow): Promise<void> {
      let intent = await intentOf(ports.store, booking.intent_id);
      while (isWork(booking.state)) {
        const next = await STEPS[booking.state](tools, booking, intent);
        if (!next || !(await claims.advance(booking, next))) return;
        intent = { ...intent, ...next.intent };
      }
    },
    async failed(booking: BookingRow, error: unknown): Promise<void> {
      const isOver = !isProblem(error) && booking.attempts + 1 >= MOST_FAULTS;
      if (error instanceof EscrowEndedOtherwise) await claims.advance(booking, stuck(error.message));
      else if (isOver) await claims.advance(booking, stuck('step_failed'));
      else await claims.postpone(booking, error);
    },
  };
  return {
    workOff: (most: number) => claims.workOff(work, most),

    async carryOutNow(intentId: string): Promise<void> {
      for (let taken = 0; taken < MOST_STEPS && (await claims.runOne(intentId, work)); taken++);
    },
  };
}
