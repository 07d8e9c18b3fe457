import type { Selectable } from 'kysely';
import type { AirlineTold, EffectKind, EffectTable } from '../../effects/index.ts';
import { liveKey, writeAttempt } from '../../effects/index.ts';
import { instant } from '../../kernel/clock.ts';
import { travellersNamed } from '../../kernel/domain/payout-names.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { inTurn } from '../../store/base/index.ts';
import type { Stuck, StuckDecision, StuckItem, StuckOption } from '../../wire/flights/index.ts';
import type { AffiliatePayoutTable, By, FlightsPorts, RefundRequestRow, Store, Tx } from '../base/index.ts';
import { auditAlone, intentOf, leavesOthers, passengersIn, requestOf, subjectOf, writeAudit } from '../base/index.ts';
import { cancelledBy, isHeld, statusOf } from '../bookings/index.ts';
import { approve, askAboutOrder, BY_HAND, createAffiliateCredit, decidingTurns, isAlive } from '../refunds/index.ts';

/** Work that waits for a person, in its present state. Decisions are in the audit trail. */
export type StuckThing = Omit<StuckItem, 'decided'>;

const NO_BOOKING = { stuck_in: null, escrow: null, airline: null, ask: null } as const;

export async function lastTold(
  store: Store,
  subject: string,
  kind: Extract<EffectKind, 'airline_order' | 'airline_cancel'>,
): Promise<AirlineTold> {
  const last = await store
    .selectFrom('effects')
    .select('detail')
    .where('subject', '=', subject)
    .where('kind', '=', kind)
    .orderBy('attempt', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.detail == null ? { code: null, request_id: null } : (JSON.parse(last.detail) as AirlineTold);
}

/** Names a request for the airline's support: ` (request abc, code)`. Empty if both are unknown. */
export function foundBy({ code, request_id }: AirlineTold): string {
  const parts = [...(request_id === null ? [] : [`request ${request_id}`]), ...(code === null ? [] : [code])];
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

/** An approved refund that waits for a person. Asks the airline if its ticket is still valid. */
export async function refundItem(ports: FlightsPorts, row: RefundRequestRow): Promise<StuckThing> {
  const { treasury, store, provider } = ports;
  const isStuck = row.state === 'stuck';
  const word = isStuck ? await askAboutOrder(ports, row) : 'unknown';
  const amount = formatUsdc(BigInt(row.payout_amount ?? 0));
  const isInEscrow = isHeld(await intentOf(store, row.intent_id));
  const source = isInEscrow ? 'out of the escrow, which still holds the price,' : `from the treasury ${treasury}`;
  const told = await lastTold(store, subjectOf(row), 'airline_cancel');
  const isPart = leavesOthers(row);
  const thing = isPart ? `${travellersNamed(passengersIn(row))} of the order` : 'the order';
  const isEndedByAirline = (await cancelledBy(store, row.intent_id)) !== null;
  const options: StuckOption[] = [
    {
      decision: 'cancelled',
      // The airline still shows a ticket, or has ended the order itself.
      refusal: isAlive(word, row) ? 'airline_ticketed' : isEndedByAirline ? 'cancelled_by_airline' : null,
      steps: [
        `Record that you cancelled ${thing} with the airline. While it shows the ticket, nothing is paid.`,
        `Pay ${amount} USDC ${source} to the refund wallet.`,
        isPart
          ? 'Keep the booking of the other travellers, and e-mail the lead passenger.'
          : 'End the intent as refunded, and e-mail the lead passenger.',
      ],
    },
    {
      decision: 'retry',
      refusal: null,
      steps: [`Continue with the approval: cancel with the airline if needed, then pay out ${amount} USDC.`],
    },
  ];
  return {
    ...NO_BOOKING,
    id: row.request_id,
    kind: 'refund_request',
    is_stuck: isStuck,
    state: row.state,
    reason: row.last_error,
    attempts: row.attempts,
    since: instant(row.updated_at_ms),
    intent_id: row.intent_id,
    amount: row.payout_amount,
    airline: isStuck
      ? { status: statusOf(word), booking_reference: word === 'unknown' ? null : word.bookingReference, ...told }
      : null,
    ask:
      isStuck && statusOf(word) !== 'cancelled'
        ? `Ask ${provider?.name ?? 'the airline'}: is ${thing} of ${row.intent_id} cancelled${foundBy(told)}?`
        : null,
    decisions: isStuck ? options : [],
  };
}

export async function decideRefund(ports: FlightsPorts, row: RefundRequestRow, by: By, decision: StuckDecision) {
  if (row.state !== 'stuck') throw problem('stuck_already_resolved');
  if (decision === 'cancelled') await recordCancelled(ports, row, by);
  await approve(ports, row.request_id, by, { dry_run: false });
}

/** Records an operator's cancellation as a done effect, so that the pay-out can go on. */
async function recordCancelled(ports: FlightsPorts, row: RefundRequestRow, by: By): Promise<void> {
  await inTurn(ports.store, decidingTurns(row), async (tx) => {
    const held = await requestOf(tx, row.request_id);
    if (held.state !== 'stuck') throw problem('stuck_already_resolved');
    if (held.claimed_by !== null && held.claimed_by !== by.operator.keyId) {
      throw problem('case_already_claimed', { detail: { claimed_by: held.claimed_by_name } });
    }
    await endCancellation(tx, ports, subjectOf(row));
    await writeAudit(tx, ports, {
      ...by,
      action: 'stuck.cancelled',
      subject: row.request_id,
      detail: { intent_id: row.intent_id, payout_amount: row.payout_amount, reason: row.last_error },
    });
  });
}

/** Ends the effect as done, even if it never began. @throws Problem if an attempt begins at the same moment */
async function endCancellation(tx: Tx, ports: FlightsPorts, subject: string): Promise<void> {
  const ended = { state: 'done', result: BY_HAND, error: null, updated_at_ms: ports.clock.now() } as const;
  const live = await tx
    .updateTable('effects')
    .set(ended)
    .where('live_key', '=', liveKey('airline_cancel', subject))
    .executeTakeFirst();
  if (live.numUpdatedRows > 0n || (await writeAttempt(tx, ports, 'airline_cancel', subject, ended))) return;
  throw problem('stuck_already_resolved');
}

const retryBy = (step: string, refusal: 'other_kind' | null = null) => [
  { decision: 'retry' as const, refusal, steps: [step] },
];

type Payout = Selectable<AffiliatePayoutTable>;
type Effect = Selectable<EffectTable>;

export const payoutItem = ({ treasury }: FlightsPorts, row: Payout): StuckThing => ({
  ...NO_BOOKING,
  id: row.payout_id,
  kind: 'affiliate_payout',
  is_stuck: row.state === 'open',
  state: row.state,
  reason: row.last_error,
  attempts: row.attempts,
  since: instant(row.created_at_ms),
  intent_id: null,
  amount: row.amount,
  decisions:
    row.state === 'open'
      ? retryBy(
          `Pay ${formatUsdc(BigInt(row.amount))} USDC from the treasury ${treasury} to the affiliate ${row.wallet}, unless that landed before.`,
        )
      : [],
});

export async function retryPayout(ports: FlightsPorts, row: Payout, by: By): Promise<void> {
  await inTurn(ports.store, [], async (tx) => {
    const written = await tx
      .updateTable('affiliate_payouts')
      .set({ due_at_ms: ports.clock.now() })
      .where('payout_id', '=', row.payout_id)
      .where('state', '=', 'open')
      .executeTakeFirst();
    if (written.numUpdatedRows === 0n) throw problem('stuck_already_resolved');
    const detail = { amount: row.amount, reason: row.last_error };
    await writeAudit(tx, ports, { ...by, action: 'stuck.retry', subject: row.payout_id, detail });
  });
  await createAffiliateCredit(ports).runDue();
}

const isOpen = (row: Effect) => ['planned', 'sent', 'stuck'].includes(row.state);

export const effectItem = (row: Effect): StuckThing => ({
  ...NO_BOOKING,
  id: row.effect_id,
  kind: 'effect',
  is_stuck: isOpen(row),
  state: row.state,
  reason: row.error,
  attempts: row.attempt,
  since: instant(row.created_at_ms),
  intent_id: row.subject.startsWith('int_') ? (row.subject.split(':')[0] ?? null) : null,
  amount: null,
  decisions: isOpen(row)
    ? retryBy(
        'Ask the chain what happened to the transaction. If it can no longer land, give it up; it may be signed again.',
        // An airline order is resolved with its booking, a cancellation with its refund.
        row.signature === null ? 'other_kind' : null,
      )
    : [],
});

export async function retryEffect(ports: FlightsPorts, row: Effect, by: By): Promise<void> {
  if (!isOpen(row)) throw problem('stuck_already_resolved');
  const detail = { kind: row.kind, subject: row.subject };
  await auditAlone(ports, { ...by, action: 'stuck.retry', subject: row.effect_id, detail });
  await ports.effects.standing(row.kind, row.subject, true);
}

/** A ramp order in ERROR. Only its partner knows if its platform has it, and can move it. */
export const partnerOrderItem = (order: Stuck['partner_orders'][number]): StuckThing => ({
  ...NO_BOOKING,
  id: order.order_id,
  kind: 'partner_order',
  is_stuck: true,
  state: 'ERROR',
  reason: order.last_error,
  attempts: order.attempts,
  since: order.updated_at,
  intent_id: null,
  amount: null,
  ask: `Ask ${order.partner_id}: does its platform have ${order.order_id}, and were funds received? The partner then moves the order: UpdateOrder to IN_REVIEW, FUNDS_RECEIVED or CANCELED.`,
  decisions: [],
});
