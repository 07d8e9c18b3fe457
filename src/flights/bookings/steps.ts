import { asInteger } from '../../kernel/money.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import { isGivenUp } from '../../store/index.ts';
import { type BookingRow, type FlightsPorts, type IntentRow, isWork, type WorkState } from '../base/index.ts';
import { isLowcost } from '../offers/index.ts';
import { ordering, queued, ticketing } from './airline-steps.ts';
import { EscrowEndedOtherwise, type Escrows } from './escrows.ts';
import { queueFunded } from './funding.ts';
import {
  CAPTURE_RESERVE_MS,
  type Claims,
  createClaims,
  FAULTS,
  MOST_QUESTIONS,
  type Next,
  NO_PAYMENT,
  refund,
  type Step,
  type StepTools,
  stuck,
} from './machine.ts';
import { createMails } from './mails.ts';
import { createOrderBook } from './order-record.ts';
import { dropUnpaid } from './retire.ts';

/** What an intent shows as `refund_reason` while its money waits for the refund wallet's token account. */
const REFUND_WAITS = 'refund_account_missing';

/** The payment's process may have died: the settlement journal knows what became of the money. */
const settling: Step = async ({ ports, escrows }, booking, intent) => {
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

/** A ticket exists: this is repeated until the money is captured, and never turns into a refund. */
const capturing: Step = async ({ ports, escrows, claims, orders, mails }, booking, intent) => {
  const signature = await escrows.capture(intent, () => claims.hold(booking));
  const order = await orders.of(intent);
  return {
    to: 'booked',
    intent: {
      status: 'booked',
      order_id: order.order_id,
      captured_at_ms: ports.clock.now(),
      capture_tx_hash: signature,
      active_key: null,
    },
    also: await mails.booked(booking, intent, order, signature),
  };
};

/** What every end of an escrow without a booking frees. */
const OVER = { active_key: null, creating_key: null } as const;

/**
 * Gives back whatever the vault holds. An intent that nobody paid keeps its status; only its escrow is closed, state
 * account and all, so that nobody who paid nothing ties up the operator's rent.
 */
const refunding: Step = async (tools, booking, intent) => {
  const { ports, escrows, claims } = tools;
  const opened = await ports.effects.standing('open_escrow', intent.intent_id);
  const before = await escrows.read(intent);
  const paid = booking.payment_key !== NO_PAYMENT;
  // It was refunded and closed by a worker that died before it wrote that down.
  const isClosed = opened === 'done' && (intent.observed_amount ?? 0) > 0;
  if (!before && (paid || !isClosed)) {
    // The transaction that opens it may still land.
    if (opened === 'open') throw problem('cluster_failed');
    // Nothing but a refund of ours closes an escrow: a node that shows none is behind, or somebody has to look.
    const isHidden = opened === 'done' && (await ports.effects.standing('refund', intent.intent_id)) === 'none';
    if (isHidden && booking.attempts < MOST_QUESTIONS) throw problem('cluster_failed');
    if (paid || isHidden) return stuck('escrow_missing');
    // Its creation may be alive and about to open it: nobody would ever close that escrow.
    if (opened !== 'done' && !(await ports.effects.callOff('open_escrow', intent.intent_id))) {
      throw problem('cluster_failed');
    }
    return { to: 'refunded', intent: OVER };
  }
  if (before?.state === 'open' && paid) {
    const { lateTicket } = await import('./late-ticket.ts');
    const late = await lateTicket(ports, booking, intent, () => claims.hold(booking));
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
  return funded ? refunded(tools, booking, intent, held, signature) : { to: 'refunded', intent: OVER };
};

async function refunded(
  { ports, mails }: StepTools,
  booking: BookingRow,
  intent: IntentRow,
  held: bigint,
  signature: string | null,
): Promise<Next> {
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

/**
 * Tells that a refund waits for its owner's token account: the customer in the intent record, an operator by a page.
 * The operator opens no account for others, and a creation that nobody sees keeps no other from being made meanwhile.
 */
async function tellRefundWaits(
  ports: Pick<FlightsPorts, 'store' | 'outbox'>,
  claims: Claims,
  booking: BookingRow,
  intent: IntentRow,
): Promise<void> {
  if (intent.refund_reason === REFUND_WAITS) return;
  await claims.note(booking, { refund_reason: REFUND_WAITS, creating_key: null });
  await ports.store
    .transaction()
    .execute((tx) =>
      ports.outbox.enqueue(tx, {
        kind: 'page',
        dedupKey: `page:refund_waits:${intent.intent_id}`,
        intentId: intent.intent_id,
        event: 'refund_waits',
        text: `The refund of ${intent.intent_id} waits: ${intent.refund_wallet} has no token account that can take it. It is tried again every ten minutes; anyone can open the account.`,
        fields: { intent_id: intent.intent_id, refund_wallet: intent.refund_wallet, mint: intent.mint },
      }),
    );
}

const FAST = { queued, ordering, ticketing };

/** The lowcost tier buys in its own way; its steps are loaded for a booking of it. */
const byTier =
  (step: keyof typeof FAST): Step =>
  async (tools, booking, intent) => {
    if (!isLowcost(intent.offer_id)) return FAST[step](tools, booking, intent);
    const { lowcost } = tools.ports;
    if (!lowcost) return stuck('provider_not_configured');
    const steps = await import('./lowcost-steps.ts');
    return steps[step]({ ...tools, fulfiller: lowcost }, booking, intent);
  };

/** The step of each state: recheck -> order -> ticket -> capture -> booked, or refunding -> refunded. */
export const STEPS: Readonly<Record<WorkState, Step>> = {
  settling,
  queued: byTier('queued'),
  ordering: byTier('ordering'),
  ticketing: byTier('ticketing'),
  capturing,
  refunding,
};

/** More steps than any booking takes from a decision to its end. */
const MOST_STEPS = 8;

/** Takes steps of bookings, and writes down where each leads: on, later, or to a person. */
export function createStepRunner(ports: FlightsPorts, escrows: Escrows) {
  const { store } = ports;
  const claims = createClaims(ports);
  const tools: StepTools = { ports, escrows, claims, orders: createOrderBook(ports), mails: createMails(ports) };

  async function perform(booking: BookingRow): Promise<void> {
    if (!isWork(booking.state)) return;
    const intent = await store
      .selectFrom('intents')
      .selectAll()
      .where('intent_id', '=', booking.intent_id)
      .executeTakeFirstOrThrow();
    const next = await STEPS[booking.state](tools, booking, intent);
    if (next) await claims.advance(booking, next);
  }

  async function failed(booking: BookingRow, error: unknown): Promise<void> {
    if (error instanceof EscrowEndedOtherwise) return claims.advance(booking, stuck(error.message));
    // A problem has a name and may pass; what nobody foresaw would come back for ever, and no one would know.
    const isLost = isGivenUp(FAULTS, { failures: booking.attempts + 1, ageMs: 0 });
    if (!isProblem(error) && isLost) return claims.advance(booking, stuck('step_failed'));
    await claims.postpone(booking, error);
  }

  return {
    /** Takes the steps that are due, up to so many. */
    runDue: (most: number) => claims.runDue({ perform, failed }, most),

    /** Takes what is due of one booking now; what is left, the worker does. */
    async carryOutNow(intentId: string): Promise<void> {
      for (let taken = 0; taken < MOST_STEPS; taken++) {
        const booking = await claims.claim(intentId);
        if (!booking) return;
        await claims.queue.take(booking, { perform, failed });
      }
    },
  };
}
