import type { BookOutcome, Fulfiller, NothingBought, ProviderOrder } from '../../airlines/index.ts';
import { boughtNothing } from '../../airlines/index.ts';
import { atomic, formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { isProblem } from '../../kernel/problems.ts';
import { type PollPolicy, pollPauseMs } from '../../store/index.ts';
import { type BookingRow, type IntentRow, lockedBags } from '../base/index.ts';
import { contentOf, flightOf, orderIdOf } from '../offers/index.ts';
import { openPassengers } from './identity.ts';
import type { Next, NextOf, Step, StepTools } from './machine.ts';
import { isTooLateToOrder, isTooLateToWait, MOST_QUESTIONS, refund, retryOrRefund, stuck } from './machine.ts';
import { purchaseOrder } from './order-record.ts';

export interface LowcostTools extends StepTools {
  readonly fulfiller: Fulfiller;
  afterOrder(tools: StepTools, intent: IntentRow, order: ProviderOrder): Promise<NextOf<'ordering'>>;
}

const CONFIRMATION_POLL: PollPolicy = { leastMs: 1_000, mostMs: 60_000 };

const REASONS = {
  offer_gone: 'offer_unavailable',
  price_differs: 'offer_repriced',
  form_rejected: 'form_rejected',
  account_wall: 'account_wall',
  captcha: 'captcha',
  sold_out: 'offer_unavailable',
  price_changed: 'offer_repriced',
  declined: 'provider_failed',
  site_changed: 'provider_failed',
} as const satisfies Record<NothingBought['kind'], string>;

/** A purchase that ended before the pay button: the attempt is over, and nothing was bought. */
class Ended extends Error {
  override readonly name = 'Ended';
  constructor(readonly outcome: NothingBought) {
    super(outcome.kind);
  }
}

/*
 * The steps of a booking that the fulfiller buys. After the pay button nothing is retried, and a refund needs certainty
 * that there is no ticket: an unknown outcome waits for a person, with the money in escrow.
 */

/** Leaves the price check to the carrier's checkout, which must ask for the escrowed price. */
export const queued: Step<'queued', LowcostTools> = async (tools, _booking, intent) =>
  isTooLateToOrder(tools, intent) ? refund('deadline_passed') : { to: 'ordering' };

export async function ordering(tools: LowcostTools, booking: BookingRow, intent: IntentRow) {
  const { effects } = tools.ports;
  const begun = await effects.standing('airline_order', intent.intent_id);
  if (begun === 'none' && isTooLateToOrder(tools, intent)) return refund('deadline_passed');
  let outcome: BookOutcome;
  try {
    outcome = await buy(tools, booking, intent);
  } catch (error) {
    if (error instanceof Ended) return nothingBought(tools, intent, error.outcome);
    if (!isProblem(error)) throw error;
    const left = await effects.standing('airline_order', intent.intent_id);
    if (left === 'none') {
      return error.code === 'offer_not_found' ? refund('offer_unavailable') : retryOrRefund(booking, error);
    }
    // The attempt is alive, so the pay button may have been pressed: the fulfiller is only asked, and never buys again.
    if (booking.attempts < MOST_QUESTIONS) throw error;
    return stuck('outcome_unknown');
  }
  return after(tools, booking, intent, outcome);
}

const buy = (
  { ports, claims, fulfiller }: LowcostTools,
  booking: BookingRow,
  intent: IntentRow,
): Promise<BookOutcome> =>
  ports.effects.airline<BookOutcome>({
    subject: intent.intent_id,
    reference: intent.intent_id,
    async create() {
      // Rebuilt after a restore of the database, which lost the passengers.
      if (booking.passengers_sealed === '') throw new Ended({ kind: 'offer_gone' });
      const outcome = await fulfiller.book({
        reference: intent.intent_id,
        offerId: flightOf(intent.offer_id),
        fare: contentOf(intent),
        amountDecimal: formatUsdc(atomic(intent.amount)),
        bags: lockedBags(intent) ?? undefined,
        passengers: openPassengers(ports.secrets, booking),
      });
      if (boughtNothing(outcome)) throw new Ended(outcome);
      return outcome;
    },
    async find() {
      const outcome = await fulfiller.find(intent.intent_id);
      return outcome && boughtNothing(outcome) ? null : outcome;
    },
    idOf: () => orderIdOf(intent.intent_id),
    waitsForPerson: ({ kind }) => (kind === 'payment_pressed_no_confirmation' ? kind : null),
    refused: (error) => error instanceof Ended || isProblem(error, 'offer_not_found'),
    ...claims.guard(booking),
  });

export async function ticketing(tools: LowcostTools, booking: BookingRow, intent: IntentRow) {
  const outcome = await tools.fulfiller.find(intent.intent_id);
  // A purchase under way can't vanish: its outcome is unknown.
  return outcome ? after(tools, booking, intent, outcome) : stuck('outcome_unknown');
}

async function after(
  tools: LowcostTools,
  booking: BookingRow,
  intent: IntentRow,
  outcome: BookOutcome,
): Promise<NextOf<'ordering'>> {
  if (boughtNothing(outcome)) return nothingBought(tools, intent, outcome);
  const known = { provider_order_id: orderIdOf(intent.intent_id) };
  const held = (why: string): Next<'stuck'> => ({ to: 'stuck', change: { ...known, last_error: why } });
  if (outcome.kind === 'payment_pressed_no_confirmation') return held(outcome.kind);
  if (outcome.kind === 'pending') {
    if (isTooLateToWait(tools, intent)) return held('confirmation_never_came');
    const nowMs = tools.ports.clock.now();
    const pauseMs = pollPauseMs(CONFIRMATION_POLL, nowMs - booking.requested_at_ms);
    return { to: 'ticketing', change: { ...known, due_at_ms: nowMs + pauseMs } };
  }
  if (parseUsdc(outcome.paidAmountDecimal) !== BigInt(intent.amount)) return held('paid_another_price');
  return tools.afterOrder(tools, intent, purchaseOrder(intent, outcome));
}

function nothingBought({ ports }: LowcostTools, intent: IntentRow, outcome: NothingBought) {
  ports.log('warn', 'lowcost_not_bought', {
    intent_id: intent.intent_id,
    outcome: outcome.kind,
    ...(outcome.kind === 'form_rejected' ? { fields: outcome.fields.join(' ') } : {}),
    ...(outcome.kind === 'price_differs' ? { found_amount: outcome.foundAmountDecimal } : {}),
  });
  return refund(REASONS[outcome.kind]);
}
