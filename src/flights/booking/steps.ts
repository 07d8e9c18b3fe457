import { asInteger } from '../../kernel/money.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import { lockedOffer } from '../intents/intent-record.ts';
import { dropUnpaid, NO_PAYMENT } from '../intents/retire.ts';
import { checkPriceHolds } from '../offers/live-offer.ts';
import { isLowcost } from '../offers/lowcost.ts';
import { createMails } from '../orders/mails.ts';
import { createOrderBook } from '../orders/order-record.ts';
import type { FlightsPorts } from '../ports.ts';
import type { Provider, ProviderOrder } from '../providers/provider.ts';
import type { BookingRow, IntentRow } from '../rows.ts';
import type { Claims, Next } from './claims.ts';
import type { Escrows } from './escrows.ts';
import { queueFunded } from './funding.ts';
import { openPassengers } from './sealed-passengers.ts';
import { tellRefundWaits } from './waiting-refund.ts';

/** Time kept before `refund_after` for an airline step to end, and for a capture to land. */
const AIRLINE_STEP_MS = 10 * 60_000;
const CAPTURE_RESERVE_MS = 30 * 60_000;
/** How often an airline that doesn't answer is asked before the money goes back (nothing is ordered then). */
const MOST_TRIES = 12;
/** How often an unknown outcome is asked about before it waits for a person. */
const MOST_QUESTIONS = 24;
/** Why the money goes back when an operator heard from the airline that there is no ticket. */
export const NOT_TICKETED = 'not_ticketed';
const TICKET_POLL_MS = 500;
const MOST_TICKET_POLL_MS = 15_000;

/** Answers that say for certain that the airline ordered nothing. */
const REFUSALS = [
  'offer_not_found',
  'offer_unavailable',
  'offer_expired',
  'offer_repriced',
  'upstream_rate_limited',
] as const;

/** null: the step did its own writing. */
type Step = (booking: BookingRow, intent: IntentRow) => Promise<Next | null>;

/**
 * The steps of a booking: recheck -> order -> ticket -> capture -> booked, or refunding -> refunded. Every step can
 * be repeated after a crash at any point. A refund is decided only where it is certain that no ticket exists.
 */
export function createSteps(ports: FlightsPorts, escrows: Escrows, claims: Claims) {
  const { clock, effects, secrets } = ports;
  const orders = createOrderBook(ports);
  const mails = createMails(ports);

  const refund = (reason: string): Next => ({ booking: { state: 'refunding', refund_reason: reason } });
  const stuck = (booking: BookingRow, why: string): Next => {
    ports.log('error', 'booking_stuck', { intent_id: booking.intent_id, state: booking.state, why });
    return { booking: { state: 'stuck', last_error: why } };
  };

  /** The payment's process may have died: the settlement journal knows what became of the money. */
  const settling: Step = async (booking, intent) => {
    const outcome = await ports.paywall.outcome(booking.payment_key);
    if (outcome === 'unknown') throw problem('payment_pending');
    if (outcome === 'failed') {
      await dropUnpaid(ports, booking);
      return null;
    }
    const overdue = clock.now() > intent.expires_at_ms + CAPTURE_RESERVE_MS;
    try {
      await queueFunded(ports, escrows, intent, booking);
      return null;
    } catch (error) {
      if (isProblem(error, 'escrow_missing')) return refund('escrow_missing');
      if (overdue && isProblem(error, 'escrow_funding_mismatch')) return refund('escrow_funding_mismatch');
      throw error;
    }
  };

  /** Before anything is ordered: is the price still the one that was escrowed? */
  const queued: Step = async (booking, intent) => {
    const provider = ports.provider;
    if (!provider) return refund('provider_not_configured');
    if (tooLate(intent, AIRLINE_STEP_MS)) return refund('deadline_passed');
    try {
      await checkPriceHolds(provider, intent.offer_id, BigInt(intent.amount), clock.now());
    } catch (error) {
      if (isProblem(error, 'offer_expired', 'offer_unavailable', 'offer_repriced')) return refund(error.code);
      return retryOrRefund(booking, error);
    }
    return { booking: { state: 'ordering' } };
  };

  /** One order at the airline, under our reference. */
  const ordering: Step = async (booking, intent) => {
    const provider = ports.provider;
    if (!provider) return stuck(booking, 'provider_not_configured');
    const begun = await effects.standing('airline_order', intent.intent_id);
    if (begun === 'none' && tooLate(intent, AIRLINE_STEP_MS)) return refund('deadline_passed');
    let order: ProviderOrder;
    try {
      order = await placeOrder(provider, booking, intent);
    } catch (error) {
      if (!isProblem(error)) throw error;
      // While the attempt is alive the airline may be holding an order: nothing is decided, only asked again.
      const left = await effects.standing('airline_order', intent.intent_id);
      if (left !== 'none') {
        if (booking.attempts < MOST_QUESTIONS) throw error;
        return stuck(booking, 'outcome_unknown');
      }
      if (error.code === 'upstream_rate_limited' || error.code === 'provider_failed') {
        return retryOrRefund(booking, error);
      }
      return refund(error.code === 'offer_not_found' ? 'offer_unavailable' : error.code);
    }
    return afterOrder(intent, order);
  };

  const placeOrder = (provider: Provider, booking: BookingRow, intent: IntentRow) =>
    effects.airline<ProviderOrder>({
      subject: intent.intent_id,
      reference: intent.intent_id,
      create: () =>
        provider.createOrder({
          reference: intent.intent_id,
          offerId: intent.offer_id,
          expectedAmountDecimal: lockedOffer(intent).total_amount_decimal,
          passengers: openPassengers(secrets, booking),
        }),
      find: () => provider.findOrder(intent.intent_id),
      idOf: (order) => order.providerOrderId,
      refused: (error) => isProblem(error, ...REFUSALS),
      fence: () => claims.hold(booking),
    });

  /** Where a booking goes once the airline has told how its order stands. */
  async function afterOrder(intent: IntentRow, order: ProviderOrder): Promise<Next> {
    const known = { provider_order_id: order.providerOrderId };
    if (order.status === 'failed' || order.status === 'cancelled') {
      return { booking: { ...known, ...refund('ticketing_failed').booking } };
    }
    if (order.status !== 'ticketed') {
      return { booking: { ...known, state: 'ticketing', due_at_ms: clock.now() + TICKET_POLL_MS } };
    }
    await orders.keep(intent, order);
    return {
      booking: { ...known, state: 'capturing' },
      intent: { ticketed_at_ms: intent.ticketed_at_ms ?? clock.now() },
    };
  }

  /** The ticket may take its time, but not longer than the escrow waits. */
  const ticketing: Step = async (booking, intent) => {
    const provider = ports.provider;
    if (!provider || booking.provider_order_id === null) return stuck(booking, 'provider_not_configured');
    const giveUp = tooLate(intent, CAPTURE_RESERVE_MS);
    if (giveUp && booking.attempts >= MOST_QUESTIONS) return stuck(booking, 'outcome_unknown');
    const order = await provider.order(booking.provider_order_id);
    const pending = order.status === 'pending' || order.status === 'confirmed';
    if (pending && giveUp) {
      // Whoever took the booking over may have found it ticketed since, and captured.
      await claims.hold(booking);
      const last = await provider.cancel(booking.provider_order_id);
      if (last.status === 'ticketed') return afterOrder(intent, last);
      const dead = last.status === 'cancelled' || last.status === 'failed';
      return dead ? refund('ticketing_timeout') : stuck(booking, 'order_not_cancelled');
    }
    if (pending) {
      // Seldomer the longer it takes: a slow ticket is asked for every few seconds, not twice a second for hours.
      const waitedMs = clock.now() - booking.requested_at_ms;
      const pauseMs = Math.min(MOST_TICKET_POLL_MS, Math.max(TICKET_POLL_MS, waitedMs / 10));
      return { booking: { state: 'ticketing', due_at_ms: clock.now() + Math.round(pauseMs) } };
    }
    return afterOrder(intent, order);
  };

  /** A ticket exists: this is repeated until the money is captured, and never turns into a refund. */
  const capturing: Step = async (booking, intent) => {
    const signature = await escrows.capture(intent, () => claims.hold(booking));
    const order = await orders.of(intent);
    return {
      booking: { state: 'booked' },
      intent: {
        status: 'booked',
        order_id: order.order_id,
        captured_at_ms: clock.now(),
        capture_tx_hash: signature,
        active_key: null,
      },
      also: await mails.booked(booking, intent, order, signature),
    };
  };

  /**
   * Gives back whatever the vault holds. An intent that nobody paid keeps its status; only its escrow is closed, state
   * account and all, so that nobody who paid nothing ties up the operator's rent.
   */
  const refunding: Step = async (booking, intent) => {
    const opened = await effects.standing('open_escrow', intent.intent_id);
    const before = await escrows.read(intent);
    const paid = booking.payment_key !== NO_PAYMENT;
    const over = { active_key: null, creating_key: null };
    // It was refunded and closed by a worker that died before it wrote that down.
    const isClosed = opened === 'done' && (intent.observed_amount ?? 0) > 0;
    if (!before && (paid || !isClosed)) {
      // The transaction that opens it may still land.
      if (opened === 'open') throw problem('cluster_failed');
      if (paid) return stuck(booking, 'escrow_missing');
      return { booking: { state: 'refunded' }, intent: over };
    }
    if (before?.state === 'open' && booking.refund_reason === NOT_TICKETED) {
      const { lateTicket } = await import('./late-ticket.ts');
      const late = await lateTicket(ports, intent, () => claims.hold(booking));
      if (late) return late;
    }
    // Written first: after the refund nobody could tell any more whether there was money in it.
    const held = before?.state === 'open' ? await escrows.held(intent) : 0n;
    if (held > 0n) await claims.note(booking, { observed_amount: asInteger(held) });
    const fence = () => claims.hold(booking);
    const signature = await escrows.refund(intent, fence, { closes: !paid }).catch(async (error) => {
      if (isProblem(error, 'refund_account_missing')) await tellRefundWaits(ports, claims, booking, intent);
      throw error;
    });
    // What arrived after the vault was closed goes the same way.
    if (before !== null && (await escrows.held(intent)) > 0n) await escrows.sweep(intent, fence);
    const funded = paid || held > 0n || (intent.observed_amount ?? 0) > 0;
    if (!funded) return { booking: { state: 'refunded' }, intent: over };
    return {
      booking: { state: 'refunded' },
      intent: {
        ...over,
        status: 'refunded',
        refund_reason: booking.refund_reason,
        refunded_at_ms: clock.now(),
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
  };

  function retryOrRefund(booking: BookingRow, error: unknown): Next {
    const passing = isProblem(error, 'upstream_rate_limited', 'provider_failed');
    if (!passing || booking.attempts < MOST_TRIES) throw error;
    return refund(error.code);
  }

  const tooLate = (intent: IntentRow, neededMs: number): boolean =>
    clock.now() + neededMs > intent.refund_after_ms;

  /** The lowcost tier buys in its own way; its steps are loaded for a booking of it. */
  const byTier =
    (step: 'queued' | 'ordering' | 'ticketing', fast: Step): Step =>
    async (booking, intent) => {
      if (!isLowcost(intent.offer_id)) return fast(booking, intent);
      if (!ports.lowcost) return stuck(booking, 'provider_not_configured');
      const { createLowcostSteps } = await import('./lowcost-steps.ts');
      const steps = createLowcostSteps(ports, ports.lowcost, claims, {
        refund,
        stuck,
        retryOrRefund,
        afterOrder,
        tooLateToOrder: (one) => tooLate(one, AIRLINE_STEP_MS),
        tooLateToWait: (one) => tooLate(one, CAPTURE_RESERVE_MS),
        mostQuestions: MOST_QUESTIONS,
      });
      return steps[step](booking, intent);
    };

  return {
    settling,
    queued: byTier('queued', queued),
    ordering: byTier('ordering', ordering),
    ticketing: byTier('ticketing', ticketing),
    capturing,
    refunding,
  };
}
