import type { ProviderOrder } from '../../airlines/index.ts';
import { instant } from '../../kernel/clock.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { inTurn } from '../../store/base/index.ts';
import { LeaseLost } from '../../store/index.ts';
import type { ResolveRequest, StuckDecision, StuckRefusal } from '../../wire/flights/index.ts';
import type { BookingRow, BookingState, By, FlightsPorts, Tx } from '../base/index.ts';
import { changeIntent, intentOf, lockedOffer, writeAudit } from '../base/index.ts';
import type { Move } from '../bookings/index.ts';
import {
  askAirline,
  concludeOrderEffect,
  createEscrows,
  createStepRunner,
  deskOrder,
  keepOrder,
  moveBooking,
  NOT_TICKETED,
  statusOf,
} from '../bookings/index.ts';
import { isLowcost, knownAs } from '../offers/index.ts';
import { foundBy, lastTold, type StuckThing } from './stuck-others.ts';

/** A booking that waits for a person: an operator asks the airline if there is a ticket, and decides. */
export async function stuckBooking(ports: FlightsPorts, booking: BookingRow) {
  const facts = await factsOf(ports, booking);
  return {
    item: itemOf(ports, facts),
    decide: (by: By, request: ResolveRequest): Promise<void> => decide(ports, facts, by, request),
  };
}

type Facts = Awaited<ReturnType<typeof factsOf>>;

async function factsOf(ports: FlightsPorts, booking: BookingRow) {
  const escrows = createEscrows(ports);
  const { store, effects } = ports;
  const intent = await intentOf(store, booking.intent_id);
  const escrow = await escrows.read(intent);
  /** True if a transaction of ours of that kind may still land. */
  const mayLand = async (kind: 'capture' | 'refund') =>
    ['open', 'stuck'].includes(await effects.standing(kind, intent.intent_id));
  return {
    booking,
    intent,
    stuckIn: booking.stuck_in ?? stuckInOf(booking),
    escrow: escrow?.state ?? ('missing' as const),
    held: await escrows.held(intent),
    airline: await askAirline(ports, intent),
    told: await lastTold(store, intent.intent_id, 'airline_order'),
    captures: await mayLand('capture'),
    refunds: await mayLand('refund'),
  };
}

function itemOf(ports: FlightsPorts, facts: Facts): StuckThing {
  const { booking, intent, airline } = facts;
  const isStuck = booking.state === 'stuck';
  return {
    id: booking.intent_id,
    kind: 'booking',
    is_stuck: isStuck,
    state: booking.state,
    stuck_in: isStuck ? facts.stuckIn : null,
    reason: booking.last_error,
    attempts: booking.attempts,
    since: instant(booking.updated_at_ms),
    intent_id: booking.intent_id,
    amount: intent.amount,
    escrow: {
      state: facts.escrow,
      held_amount: Number(facts.held),
      amount: intent.amount,
      refund_after: instant(intent.refund_after_ms),
    },
    airline: {
      status: statusOf(airline),
      booking_reference: typeof airline === 'string' ? null : airline.bookingReference,
      ...facts.told,
    },
    ask: isStuck ? askOf(facts, ports.provider?.name ?? null) : null,
    decisions: isStuck
      ? (['ticketed', 'not_ticketed', 'retry'] as const).map((decision) => ({
          decision,
          refusal: refusalOf(decision, facts),
          steps: stepsOf(decision, facts, ports.treasury),
        }))
      : [],
  };
}

/** Records a decision in one transaction with the order, its effect and the next state, then starts to carry it out. */
async function decide(ports: FlightsPorts, facts: Facts, by: By, request: ResolveRequest): Promise<void> {
  const { store, clock } = ports;
  const { booking, intent } = facts;
  const { decision } = request;
  const refusal = refusalOf(decision, facts);
  if (refusal) throw problem('decision_not_possible', { detail: { reason: refusal } });
  // A web site that never confirmed a sale will neither show the ticket later nor cancel it.
  const isUnconfirmed = isLowcost(intent.offer_id) && statusOf(facts.airline) === 'pending';
  const known = typeof facts.airline === 'string' || isUnconfirmed ? null : facts.airline;
  const nowMs = clock.now();
  const order =
    decision !== 'ticketed' ? null : known?.status === 'ticketed' ? known : deskOrder(intent, request, nowMs, known);
  const write = async (tx: Tx): Promise<void> => {
    await moveBooking(tx, booking, { by: 'operator', ...moveOf(decision, facts, order) }, nowMs);
    if (order) {
      await keepOrder(ports, intent, order, tx);
      await concludeOrderEffect(tx, intent.intent_id, { orderId: order.providerOrderId }, nowMs);
      const ticketed = { ticketed_at_ms: intent.ticketed_at_ms ?? nowMs, updated_at_ms: nowMs };
      await changeIntent(tx, intent.intent_id, ticketed);
    }
    if (decision === 'not_ticketed') await concludeOrderEffect(tx, intent.intent_id, null, nowMs);
    await writeAudit(tx, ports, {
      ...by,
      action: `stuck.${decision}`,
      subject: booking.intent_id,
      detail: {
        stuck_in: facts.stuckIn,
        reason: booking.last_error,
        amount: intent.amount,
        airline: statusOf(facts.airline),
        ...(order ? { provider_order_id: order.providerOrderId } : {}),
      },
    });
  };
  await inTurn(store, [`intents:${intent.intent_id}`], write).catch((error: unknown) => {
    throw error instanceof LeaseLost ? problem('stuck_already_resolved') : error;
  });
  ports.log('info', 'stuck_resolved', { intent_id: booking.intent_id, decision });
  // Goes as far as it can now; the worker does the rest.
  await createStepRunner(ports, createEscrows(ports)).carryOutNow(booking.intent_id);
}

/** The operator's question to the airline's support, or null if no answer of theirs is needed. */
function askOf({ booking, intent, airline, stuckIn, told }: Facts, provider: string | null): string | null {
  const isOpen = ['ordering', 'ticketing'].includes(stuckIn) || booking.last_error === 'outcome_unknown';
  if (!isOpen || statusOf(airline) === 'ticketed') return null;
  const whom = isLowcost(intent.offer_id) ? lockedOffer(intent).owner_name : (provider ?? 'the airline');
  const order = typeof airline === 'string' ? `our reference ${intent.intent_id}` : knownAs(airline.providerOrderId);
  return `Ask ${whom}: is there a ticket for ${order}${foundBy(told)}? Until it says so, decide neither.`;
}

/** The move of a decision. It raises the fence, so that no runner goes on with outdated facts. */
function moveOf(decision: StuckDecision, { stuckIn }: Facts, order: ProviderOrder | null): Move {
  if (order) return { to: 'capturing', change: { provider_order_id: order.providerOrderId } };
  if (decision === 'retry') return { to: stuckIn };
  return { to: 'refunding', change: { refund_reason: NOT_TICKETED } };
}

/** Infers `stuck_in` for rows of releases that did not write it. */
function stuckInOf(booking: BookingRow): BookingState {
  if (booking.refund_reason !== null) return 'refunding';
  return booking.provider_order_id === null ? 'ordering' : 'ticketing';
}

/** The reason against a decision, or null. Without a ticket no capture, with one no refund. Silence proves nothing. */
function refusalOf(decision: StuckDecision, facts: Facts): StuckRefusal | null {
  if (decision === 'retry') return null;
  if (decision === 'cancelled') return 'other_kind';
  // Only the settlement journal knows if the payment can still land.
  if (facts.stuckIn === 'settling') return 'payment_unsettled';
  if (facts.escrow === 'missing') return 'escrow_missing';
  const status = statusOf(facts.airline);
  if (decision === 'ticketed') {
    if (facts.escrow === 'refunded') return 'escrow_refunded';
    if (facts.refunds) return 'refund_under_way';
    if (facts.escrow === 'open' && facts.held < BigInt(facts.intent.amount)) return 'escrow_unfunded';
    if (status === 'none') return 'airline_has_no_order';
    return status === 'cancelled' || status === 'failed' ? 'airline_cancelled' : null;
  }
  if (facts.escrow === 'captured') return 'escrow_captured';
  // A stranger's call refunded it after the deadline. The record only follows the chain.
  if (facts.escrow === 'refunded') return null;
  if (facts.captures) return 'capture_under_way';
  return status === 'ticketed' ? 'airline_ticketed' : null;
}

function stepsOf(decision: StuckDecision, facts: Facts, treasury: string): string[] {
  const { intent } = facts;
  const amount = formatUsdc(BigInt(intent.amount));
  if (decision === 'retry') return [`Continue from ${facts.stuckIn}; nothing is ordered twice.`];
  if (decision === 'ticketed') {
    return [
      'Record the order with the reference and the numbers that you give.',
      facts.escrow === 'captured'
        ? 'Move nothing: the escrow is captured.'
        : `Capture ${amount} USDC from escrow ${intent.escrow_address} to the treasury ${treasury}.`,
      'End the intent as booked, and e-mail the lead passenger.',
    ];
  }
  return [
    ...(facts.escrow === 'refunded'
      ? [
          `Move nothing: the escrow went back to ${intent.refund_wallet}. If there is a ticket, cancel it with the airline.`,
        ]
      : [
          'Ask the airline once more: if it has a ticket by then, capture instead. An order without a ticket is cancelled first.',
          `Return ${formatUsdc(facts.held)} USDC from escrow ${intent.escrow_address} to the refund wallet ${intent.refund_wallet}.`,
        ]),
    'End the intent as refunded, and e-mail the lead passenger.',
  ];
}
