import { atomic, formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { isProblem } from '../../kernel/problems.ts';
import { contentOf, flightOf, orderIdOf } from '../offers/lowcost.ts';
import type { FlightsPorts } from '../ports.ts';
import {
  type BookOutcome,
  boughtNothing,
  type Fulfiller,
  type NothingBought,
} from '../providers/fulfiller.ts';
import type { ProviderOrder } from '../providers/provider.ts';
import type { BookingRow, IntentRow } from '../rows.ts';
import type { Claims, Next } from './claims.ts';
import { orderOf } from './lowcost-orders.ts';
import { openPassengers } from './sealed-passengers.ts';

/** What these steps share with those of the fast tier. */
export interface Shared {
  refund(reason: string): Next;
  stuck(booking: BookingRow, why: string): Next;
  retryOrRefund(booking: BookingRow, error: unknown): Next;
  afterOrder(intent: IntentRow, order: ProviderOrder): Promise<Next>;
  /** Whether an airline step, or a capture, could end after the escrow's deadline. */
  tooLateToOrder(intent: IntentRow): boolean;
  tooLateToWait(intent: IntentRow): boolean;
  readonly mostQuestions: number;
}

const POLL_MS = 1_000;
const MOST_POLL_MS = 60_000;

/** Why the money goes back, per outcome (the intent's `refund_reason`). */
const REASONS = {
  offer_gone: 'offer_unavailable',
  price_differs: 'offer_repriced',
  form_rejected: 'form_rejected',
  account_wall: 'account_wall',
  captcha: 'captcha',
} as const satisfies Record<NothingBought['kind'], string>;

/** A purchase that ended before the pay button: the attempt is over, and nothing was bought. */
class Ended extends Error {
  override readonly name = 'Ended';
  constructor(readonly outcome: NothingBought) {
    super(outcome.kind);
  }
}

/**
 * The steps of a booking that the fulfiller buys: queued -> ordering -> (ticketing) -> capturing, then as everywhere.
 * Past the pay button nothing is ever tried again, and nothing is refunded before it is certain that no ticket
 * exists: what nobody can know waits for a person, with the money in the escrow.
 */
export function createLowcostSteps(
  ports: FlightsPorts,
  fulfiller: Fulfiller,
  claims: Claims,
  shared: Shared,
) {
  const { clock, effects, secrets } = ports;

  /** The till is the recheck: it must ask for the price that was escrowed. */
  async function queued(_booking: BookingRow, intent: IntentRow): Promise<Next> {
    if (shared.tooLateToOrder(intent)) return shared.refund('deadline_passed');
    return { booking: { state: 'ordering' } };
  }

  async function ordering(booking: BookingRow, intent: IntentRow): Promise<Next> {
    const begun = await effects.standing('airline_order', intent.intent_id);
    if (begun === 'none' && shared.tooLateToOrder(intent)) return shared.refund('deadline_passed');
    let outcome: BookOutcome;
    try {
      outcome = await buy(booking, intent);
    } catch (error) {
      if (error instanceof Ended) return nothingBought(intent, error.outcome);
      if (!isProblem(error)) throw error;
      const left = await effects.standing('airline_order', intent.intent_id);
      // The attempt is alive: whether the button was pressed is not known yet. It is asked, never pressed again.
      if (left !== 'none') {
        if (booking.attempts < shared.mostQuestions) throw error;
        return shared.stuck(booking, 'outcome_unknown');
      }
      if (error.code === 'offer_not_found') return shared.refund('offer_unavailable');
      return shared.retryOrRefund(booking, error);
    }
    return after(booking, intent, outcome);
  }

  const buy = (booking: BookingRow, intent: IntentRow): Promise<BookOutcome> =>
    effects.airline<BookOutcome>({
      subject: intent.intent_id,
      reference: intent.intent_id,
      async create() {
        const outcome = await fulfiller.book({
          reference: intent.intent_id,
          offerId: flightOf(intent.offer_id),
          fare: contentOf(intent),
          amountDecimal: formatUsdc(atomic(intent.amount)),
          passengers: openPassengers(secrets, booking),
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
      fence: () => claims.hold(booking),
    });

  /** The button was pressed, and the confirmation is late: asked about until it is there. */
  async function ticketing(booking: BookingRow, intent: IntentRow): Promise<Next> {
    const outcome = await fulfiller.find(intent.intent_id);
    // A purchase that was under way can't have become none: nobody knows what happened.
    if (!outcome) return shared.stuck(booking, 'outcome_unknown');
    return after(booking, intent, outcome);
  }

  async function after(booking: BookingRow, intent: IntentRow, outcome: BookOutcome): Promise<Next> {
    if (boughtNothing(outcome)) return nothingBought(intent, outcome);
    const known = { provider_order_id: orderIdOf(intent.intent_id) };
    const held = (why: string): Next => ({ booking: { ...known, ...shared.stuck(booking, why).booking } });
    if (outcome.kind === 'payment_pressed_no_confirmation') return held(outcome.kind);
    if (outcome.kind === 'pending') {
      if (shared.tooLateToWait(intent)) return held('confirmation_never_came');
      const waitedMs = clock.now() - booking.requested_at_ms;
      const pauseMs = Math.min(MOST_POLL_MS, Math.max(POLL_MS, waitedMs / 10));
      return { booking: { ...known, state: 'ticketing', due_at_ms: clock.now() + Math.round(pauseMs) } };
    }
    if (parseUsdc(outcome.paidAmountDecimal) !== BigInt(intent.amount)) return held('paid_another_price');
    return shared.afterOrder(intent, orderOf(intent, outcome));
  }

  function nothingBought(intent: IntentRow, outcome: NothingBought): Next {
    ports.log('warn', 'lowcost_not_bought', {
      intent_id: intent.intent_id,
      outcome: outcome.kind,
      ...(outcome.kind === 'form_rejected' ? { fields: outcome.fields.join(' ') } : {}),
      ...(outcome.kind === 'price_differs' ? { found_amount: outcome.foundAmountDecimal } : {}),
    });
    return shared.refund(REASONS[outcome.kind]);
  }

  return { queued, ordering, ticketing };
}
