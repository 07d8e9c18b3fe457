import type { Selectable } from 'kysely';
import { liveKey } from '../../effects/effects.ts';
import { instant } from '../../kernel/clock.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import type { AffiliatePayoutTable } from '../../store/tables/affiliate-tables.ts';
import type { EffectTable } from '../../store/tables/schema.ts';
import type { FlightsPorts } from '../ports.ts';
import type { By, RefundDecisions } from '../refunds/decisions.ts';
import type { RefundRequestRow } from '../rows.ts';
import type { StuckDecision, StuckItem, StuckOption } from '../wire.ts';
import { writeAudit } from './audit.ts';

type Item = Omit<StuckItem, 'decided'>;

const NEITHER = { stuck_in: null, escrow: null, airline: null } as const;

/** What waits for a person beside bookings: approved refunds, affiliates' pay-outs, and effects that stay open. */
export function createStuckOthers(ports: FlightsPorts, decisions: RefundDecisions) {
  const { store, clock, effects } = ports;

  const noted = (by: By, decision: StuckDecision, subject: string, detail: Record<string, unknown>) =>
    store
      .transaction()
      .execute((tx) => writeAudit(tx, ports, { ...by, action: `stuck.${decision}`, subject, detail }));

  function refundItem(row: RefundRequestRow): Item {
    const amount = formatUsdc(BigInt(row.payout_amount ?? 0));
    const options: StuckOption[] = [
      {
        decision: 'cancelled',
        refusal: null,
        steps: [
          'Take the order as cancelled, by your word, without asking the airline again.',
          `Pay ${amount} USDC from the treasury ${ports.treasury} to the refund wallet.`,
          'End the intent as refunded, and mail the lead passenger.',
        ],
      },
      {
        decision: 'retry',
        refusal: null,
        steps: [`Go on with the approval: cancel at the airline if need be, then pay out ${amount} USDC.`],
      },
    ];
    return {
      ...NEITHER,
      id: row.request_id,
      kind: 'refund_request',
      is_stuck: row.state === 'stuck',
      state: row.state,
      reason: row.last_error,
      attempts: row.attempts,
      since: instant(row.updated_at_ms),
      intent_id: row.intent_id,
      amount: row.payout_amount,
      decisions: row.state === 'stuck' ? options : [],
    };
  }

  /** @throws Problem `stuck_already_resolved`, `case_already_claimed` */
  async function decideRefund(row: RefundRequestRow, by: By, decision: StuckDecision): Promise<void> {
    if (row.state !== 'stuck') throw problem('stuck_already_resolved');
    if (decision === 'cancelled') await recordCancelled(row, by);
    await decisions.approve(row.request_id, by, { dry_run: false });
  }

  /** The cancellation by an operator's word, as the effect that it ends: the pay-out then finds it done. */
  async function recordCancelled(row: RefundRequestRow, by: By): Promise<void> {
    const nowMs = clock.now();
    const key = liveKey('airline_cancel', row.intent_id);
    const ended = {
      state: 'done',
      result: 'by_hand',
      error: null,
      updated_at_ms: nowMs,
    } as const;
    await store.transaction().execute(async (tx) => {
      const held = await tx
        .selectFrom('refund_requests')
        .select(['state', 'claimed_by', 'claimed_by_name'])
        .where('request_id', '=', row.request_id)
        .executeTakeFirstOrThrow();
      if (held.state !== 'stuck') throw problem('stuck_already_resolved');
      if (held.claimed_by !== null && held.claimed_by !== by.operator.keyId) {
        throw problem('case_already_claimed', { detail: { claimed_by: held.claimed_by_name } });
      }
      const live = await tx.updateTable('effects').set(ended).where('live_key', '=', key).executeTakeFirst();
      if (live.numUpdatedRows === 0n) {
        const past = await tx
          .selectFrom('effects')
          .select((column) => column.fn.max('attempt').as('attempt'))
          .where('subject', '=', row.intent_id)
          .where('kind', '=', 'airline_cancel')
          .executeTakeFirst();
        await tx
          .insertInto('effects')
          .values({
            effect_id: ports.ids.next('eff'),
            kind: 'airline_cancel',
            subject: row.intent_id,
            live_key: key,
            attempt: Number(past?.attempt ?? 0) + 1,
            transaction: null,
            signature: null,
            last_valid_block_height: null,
            reference: null,
            created_at_ms: nowMs,
            ...ended,
          })
          .execute();
      }
      await writeAudit(tx, ports, {
        ...by,
        action: 'stuck.cancelled',
        subject: row.request_id,
        detail: { intent_id: row.intent_id, payout_amount: row.payout_amount, reason: row.last_error },
      });
    });
  }

  const payoutItem = (row: Selectable<AffiliatePayoutTable>): Item => ({
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
                `Pay ${formatUsdc(BigInt(row.amount))} USDC from the treasury ${ports.treasury} to the affiliate ${row.wallet}, unless that landed before.`,
              ],
            },
          ]
        : [],
  });

  /** Due at once, instead of when its own turn comes. */
  async function retryPayout(row: Selectable<AffiliatePayoutTable>, by: By): Promise<void> {
    const written = await store
      .updateTable('affiliate_payouts')
      .set({ due_at_ms: clock.now() })
      .where('payout_id', '=', row.payout_id)
      .where('state', '=', 'open')
      .executeTakeFirst();
    if (written.numUpdatedRows === 0n) throw problem('stuck_already_resolved');
    await noted(by, 'retry', row.payout_id, { amount: row.amount, reason: row.last_error });
    const { createAffiliateCredit } = await import('../affiliates/affiliate-credit.ts');
    await createAffiliateCredit(ports).runDue();
  }

  const isOpen = (row: Selectable<EffectTable>) => ['planned', 'sent', 'stuck'].includes(row.state);

  const effectItem = (row: Selectable<EffectTable>): Item => ({
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
              'Ask the chain what became of the transaction. One that can land no more is given up, and may be signed anew.',
            ],
          },
        ]
      : [],
  });

  async function retryEffect(row: Selectable<EffectTable>, by: By): Promise<void> {
    if (!isOpen(row)) throw problem('stuck_already_resolved');
    await effects.standing(row.kind, row.subject, true);
    await noted(by, 'retry', row.effect_id, { kind: row.kind, subject: row.subject });
  }

  return { refundItem, decideRefund, payoutItem, retryPayout, effectItem, retryEffect };
}
