import type { Selectable } from 'kysely';
import type { EffectTable } from '../../effects/index.ts';
import { instant } from '../../kernel/clock.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import { type AffiliatePayoutTable, type FlightsPorts, type StuckPartnerOrder, writeAudit } from '../base/index.ts';
import { type By, loadAffiliateCredit } from '../refunds/index.ts';
import { NEITHER, type StuckThing } from './stuck-thing.ts';

type Payout = Selectable<AffiliatePayoutTable>;
type Effect = Selectable<EffectTable>;

/** An affiliate's pay-out that waits for a person. */
export const payoutItem = ({ treasury }: FlightsPorts, row: Payout): StuckThing => ({
  ...NEITHER,
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
      ? [
          {
            decision: 'retry',
            refusal: null,
            steps: [
              `Pay ${formatUsdc(BigInt(row.amount))} USDC from the treasury ${treasury} to the affiliate ${row.wallet}, unless that landed before.`,
            ],
          },
        ]
      : [],
});

/** Due at once, instead of when its own turn comes. */
export async function retryPayout(ports: FlightsPorts, row: Payout, by: By): Promise<void> {
  await ports.store.transaction().execute(async (tx) => {
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
  const { createAffiliateCredit } = await loadAffiliateCredit();
  await createAffiliateCredit(ports).runDue();
}

const isOpen = (row: Effect) => ['planned', 'sent', 'stuck'].includes(row.state);

/** An effect that stays open. */
export const effectItem = (row: Effect): StuckThing => ({
  ...NEITHER,
  id: row.effect_id,
  kind: 'effect',
  is_stuck: isOpen(row),
  state: row.state,
  reason: row.error,
  attempts: row.attempt,
  since: instant(row.created_at_ms),
  intent_id: row.subject.startsWith('int_') ? row.subject : null,
  amount: null,
  decisions: isOpen(row)
    ? [
        {
          decision: 'retry',
          // An order at an airline is ended with its booking, a cancellation with its refund.
          refusal: row.signature === null ? 'other_kind' : null,
          steps: [
            'Ask the chain what happened to the transaction. If it can no longer land, give it up; it may be signed again.',
          ],
        },
      ]
    : [],
});

export async function retryEffect(ports: FlightsPorts, row: Effect, by: By): Promise<void> {
  if (!isOpen(row)) throw problem('stuck_already_resolved');
  const detail = { kind: row.kind, subject: row.subject };
  await ports.store
    .transaction()
    .execute((tx) => writeAudit(tx, ports, { ...by, action: 'stuck.retry', subject: row.effect_id, detail }));
  await ports.effects.standing(row.kind, row.subject, true);
}

/** A ramp order in ERROR: only its partner knows whether its platform has it, and moves it. */
export const partnerOrderItem = (order: StuckPartnerOrder): StuckThing => ({
  ...NEITHER,
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
