import { OrderRefused, type Provider, type ProviderOrder, toldBy } from '../../airlines/index.ts';
import { parseUsdc } from '../../kernel/money.ts';
import { isProblem, type Problem, problem } from '../../kernel/problems.ts';
import { type PollPolicy, pollPauseMs } from '../../store/index.ts';
import { type BookingRow, type IntentRow, lockedOffer } from '../base/index.ts';
import { checkPriceHolds } from '../offers/index.ts';
import type { Next } from './machine.ts';
import {
  BALANCE_LOW,
  isTooLateToOrder,
  isTooLateToWait,
  MOST_QUESTIONS,
  MOST_TRIES,
  refund,
  retryOrRefund,
  type Step,
  type StepTools,
  stuck,
} from './machine.ts';
import { openPassengers } from './sealed-passengers.ts';

/** A slow ticket is asked for every few seconds, not twice a second for hours. */
const TICKET_POLL: PollPolicy = { leastMs: 500, mostMs: 15_000 };

/** While the seller's balance is too low, an order is tried again so much later: somebody has to fill it up. */
const REFILL_S = 300;

/** Answers of the airline that end an order which was not made. */
const GONE = ['offer_not_found', 'offer_unavailable', 'offer_expired', 'offer_repriced'] as const;
/** Answers that say for certain that the airline ordered nothing. */
const REFUSALS = [...GONE, 'upstream_rate_limited'] as const;

/** Before anything is ordered: is the price still the one that was escrowed? */
export const queued: Step = async (tools, booking, intent) => {
  const { provider, clock } = tools.ports;
  if (!provider) return refund('provider_not_configured');
  if (isTooLateToOrder(tools, intent)) return tooLate(booking);
  try {
    await checkPriceHolds(provider, intent.offer_id, BigInt(intent.amount), clock.now());
  } catch (error) {
    if (!isProblem(error)) throw error;
    return afterProblem(booking, error);
  }
  return { to: 'ordering' };
};

/** One order at the airline, under our reference. */
export const ordering: Step = async (tools, booking, intent) => {
  const { provider, effects } = tools.ports;
  if (!provider) return stuck('provider_not_configured');
  const begun = await effects.standing('airline_order', intent.intent_id);
  if (begun === 'none' && isTooLateToOrder(tools, intent)) return tooLate(booking);
  let order: ProviderOrder;
  try {
    order = await placeOrder(tools, provider, booking, intent);
  } catch (error) {
    if (error instanceof OrderRefused) return afterRefusal(booking, error);
    if (!isProblem(error)) throw error;
    // While the attempt is alive the airline may be holding an order: nothing is decided, only asked again.
    const left = await effects.standing('airline_order', intent.intent_id);
    if (left !== 'none') {
      if (booking.attempts < MOST_QUESTIONS) throw error;
      return stuck('outcome_unknown');
    }
    return afterProblem(booking, error);
  }
  return afterOrder(tools, intent, order);
};

/** Only the airline's own answer gives the money back. Trouble of ours, such as a full disk, is put off like any other. */
function afterProblem(booking: BookingRow, error: Problem): Next {
  if (!isProblem(error, ...GONE)) return retryOrRefund(booking, error);
  // Its balance was too low until the offer was gone: that is what the traveller hears.
  if (booking.last_error === 'operator_funds_low') return refund(BALANCE_LOW);
  return refund(error.code === 'offer_not_found' ? 'offer_unavailable' : error.code);
}

/** The escrow's time is over, and nothing was ordered. */
const tooLate = ({ last_error }: BookingRow): Next =>
  refund(last_error === 'operator_funds_low' ? BALANCE_LOW : 'deadline_passed');

/** Nothing was ordered, for certain: what passes by itself is tried again as a new attempt, the rest goes back. */
function afterRefusal(booking: BookingRow, refusal: OrderRefused): Next {
  // It can be filled up until the deadline, and the traveller still wants the seat.
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
): Promise<ProviderOrder> =>
  ports.effects.airline<ProviderOrder>({
    subject: intent.intent_id,
    reference: intent.intent_id,
    create: () =>
      provider.createOrder({
        reference: intent.intent_id,
        offerId: intent.offer_id,
        expectedAmountDecimal: lockedOffer(intent).total_amount_decimal,
        passengers: openPassengers(ports.secrets, booking),
      }),
    find: () => provider.findOrder(intent.intent_id, intent.offer_id),
    idOf: (order) => order.providerOrderId,
    refused: (error) => (error instanceof OrderRefused ? error.reason : isProblem(error, ...REFUSALS)),
    told: toldBy,
    fence: () => claims.hold(booking),
  });

/** Where a booking goes once the airline has told how its order stands. */
export async function afterOrder(
  { ports: { clock }, orders }: StepTools,
  intent: IntentRow,
  order: ProviderOrder,
): Promise<Next> {
  const known = { provider_order_id: order.providerOrderId };
  if (order.status === 'failed' || order.status === 'cancelled') {
    return { to: 'refunding', change: { ...known, refund_reason: 'ticketing_failed' } };
  }
  if (order.status !== 'ticketed') {
    return { to: 'ticketing', change: { ...known, due_at_ms: clock.now() + TICKET_POLL.leastMs } };
  }
  // The ticket exists. Whether it is worth another sum than the escrow holds is for a person to say.
  const isPrice = order.totalCurrency === 'USD' && parseUsdc(order.totalAmountDecimal) === BigInt(intent.amount);
  if (!isPrice) return { to: 'stuck', change: { ...known, last_error: 'paid_another_price' } };
  await orders.keep(intent, order);
  return { to: 'capturing', change: known, intent: { ticketed_at_ms: intent.ticketed_at_ms ?? clock.now() } };
}

/** The ticket may take its time, but not longer than the escrow waits. */
export const ticketing: Step = async (tools, booking, intent) => {
  const { provider, clock } = tools.ports;
  if (!provider || booking.provider_order_id === null) return stuck('provider_not_configured');
  const giveUp = isTooLateToWait(tools, intent);
  if (giveUp && booking.attempts >= MOST_QUESTIONS) return stuck('outcome_unknown');
  const order = await provider.order(booking.provider_order_id);
  const pending = order.status === 'pending' || order.status === 'confirmed';
  if (pending && giveUp) {
    // Whoever took the booking over may have found it ticketed since, and captured.
    await tools.claims.hold(booking);
    const last = await provider.cancel(booking.provider_order_id);
    if (last.status === 'ticketed') return afterOrder(tools, intent, last);
    const dead = last.status === 'cancelled' || last.status === 'failed';
    return dead ? refund('ticketing_timeout') : stuck('order_not_cancelled');
  }
  if (pending) {
    const nowMs = clock.now();
    const pauseMs = pollPauseMs(TICKET_POLL, nowMs - booking.requested_at_ms);
    return { to: 'ticketing', change: { due_at_ms: nowMs + pauseMs } };
  }
  return afterOrder(tools, intent, order);
};
