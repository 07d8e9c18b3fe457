import { liveKey, writeAttempt } from '../../effects/index.ts';
import { instant } from '../../kernel/clock.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import type { StuckDecision, StuckOption } from '../../wire/flights/index.ts';
import { type By, type FlightsPorts, type RefundRequestRow, requestOf, type Tx, writeAudit } from '../base/index.ts';
import { cancelledBy, statusOf } from '../bookings/index.ts';
import { approve, askAboutOrder, BY_HAND, isAlive } from '../refunds/index.ts';
import { foundBy, lastTold, NO_BOOKING, type StuckThing } from './stuck-others.ts';

/** An approved refund that waits for a person: the airline is asked whether its ticket lives. */
export async function refundItem(ports: FlightsPorts, row: RefundRequestRow): Promise<StuckThing> {
  const { treasury, store, provider } = ports;
  const isStuck = row.state === 'stuck';
  const word = isStuck ? await askAboutOrder(ports, row) : 'unknown';
  const amount = formatUsdc(BigInt(row.payout_amount ?? 0));
  const told = await lastTold(store, row.intent_id, 'airline_cancel');
  const isEndedByAirline = (await cancelledBy(store, row.intent_id)) !== null;
  const options: StuckOption[] = [
    {
      decision: 'cancelled',
      // The airline shows a ticket, or ended the order itself.
      refusal: isAlive(word) ? 'airline_ticketed' : isEndedByAirline ? 'cancelled_by_airline' : null,
      steps: [
        'Record that you cancelled the order with the airline. While it shows the ticket, nothing is paid.',
        `Pay ${amount} USDC from the treasury ${treasury} to the refund wallet.`,
        'End the intent as refunded, and e-mail the lead passenger.',
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
        ? `Ask ${provider?.name ?? 'the airline'}: is the order of ${row.intent_id} cancelled${foundBy(told)}?`
        : null,
    decisions: isStuck ? options : [],
  };
}

export async function decideRefund(ports: FlightsPorts, row: RefundRequestRow, by: By, decision: StuckDecision) {
  if (row.state !== 'stuck') throw problem('stuck_already_resolved');
  if (decision === 'cancelled') await recordCancelled(ports, row, by);
  await approve(ports, row.request_id, by, { dry_run: false });
}

/** Records the cancellation by an operator's word as the effect that it ends: the pay-out then finds it done. */
async function recordCancelled(ports: FlightsPorts, row: RefundRequestRow, by: By): Promise<void> {
  await ports.store.transaction().execute(async (tx) => {
    const held = await requestOf(tx, row.request_id);
    if (held.state !== 'stuck') throw problem('stuck_already_resolved');
    if (held.claimed_by !== null && held.claimed_by !== by.operator.keyId) {
      throw problem('case_already_claimed', { detail: { claimed_by: held.claimed_by_name } });
    }
    await endCancellation(tx, ports, row.intent_id);
    await writeAudit(tx, ports, {
      ...by,
      action: 'stuck.cancelled',
      subject: row.request_id,
      detail: { intent_id: row.intent_id, payout_amount: row.payout_amount, reason: row.last_error },
    });
  });
}

/** Ends the effect as done, whether it is under way, or never began. */
async function endCancellation(tx: Tx, ports: FlightsPorts, intentId: string): Promise<void> {
  const ended = { state: 'done', result: BY_HAND, error: null, updated_at_ms: ports.clock.now() } as const;
  const live = await tx
    .updateTable('effects')
    .set(ended)
    .where('live_key', '=', liveKey('airline_cancel', intentId))
    .executeTakeFirst();
  if (live.numUpdatedRows > 0n || (await writeAttempt(tx, ports, 'airline_cancel', intentId, ended))) return;
  throw new Error('a cancellation began meanwhile');
}
