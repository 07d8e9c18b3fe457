import type { Address } from '@solana/kit';
import { escrowElf } from '../../escrow/index.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import { refundRuleOf } from '../../kernel/domain/refund-rule.ts';
import { isProblem } from '../../kernel/problems.ts';
import { inTurn } from '../../store/base/index.ts';
import {
  changeIntent,
  type FlightsPorts,
  type IntentRow,
  lockedOffer,
  pageAlone,
  type Store,
  type Tx,
} from '../base/index.ts';
import { EscrowEndedOtherwise, type Escrows } from './escrows.ts';
import { CAPTURE_RESERVE_MS, CLOSE_AFTER_MS } from './machine.ts';

/*
 * A hold: the price of a ticket that may be refunded in part stays in escrow for a while, so that a refund comes out of
 * it in one transaction. The intent is `booked` and has no `captured_at`; the task `capture` ends the hold.
 */

/** A hold ends this long before `refund_after`, from when anybody can send everything back. */
const HOLD_RESERVE_MS = 4 * HOUR_MS;
/** A capture that still fails this long before `refund_after` pages an operator; tries began with the reserve. */
const PAGED_BEFORE_MS = 3 * HOUR_MS;

/** True while the price is not captured, as far as the database knows. A refund or a capture ends the hold. */
export const isHeld = ({ status, captured_at_ms }: IntentRow): boolean =>
  status === 'booked' && captured_at_ms === null;

/** True if the escrow's program can capture in part and authorize: only the shipped one can. */
export async function takesParts({ cluster }: FlightsPorts, { program_id }: IntentRow): Promise<boolean> {
  const { isShippedAt } = await import('../../escrow/deployment/index.ts');
  return isShippedAt(cluster, program_id as Address, escrowElf());
}

/** How long the price of a new ticket stays in escrow (milliseconds); 0 if it is captured at once. */
export async function holdMs(ports: FlightsPorts, intent: IntentRow): Promise<number> {
  const nowMs = ports.clock.now();
  const untilMs = Math.min(
    (intent.ticketed_at_ms ?? nowMs) + ports.options.holdAfterTicketMs,
    intent.refund_after_ms - HOLD_RESERVE_MS,
  );
  // A restored database may know from the chain that it was captured.
  if (untilMs <= nowMs || intent.captured_at_ms !== null) return 0;
  const { kind, payout } = refundRuleOf(lockedOffer(intent), BigInt(intent.amount));
  const isRefundable = kind === 'refundable' && payout !== null && payout > 0n;
  return isRefundable && (await takesParts(ports, intent)) ? Math.min(untilMs - nowMs, DAY_MS) : 0;
}

/**
 * True if a refund comes out of the escrow, because it can still release part of the price in time, or has done so.
 * Otherwise the price is captured, and the treasury pays.
 */
export async function releases(ports: FlightsPorts, escrows: Escrows, intent: IntentRow): Promise<boolean> {
  if (!isHeld(intent)) return false;
  const outcome = await escrows.outcome(intent);
  if (outcome === 'released') return true;
  const isInTime = ports.clock.now() + CAPTURE_RESERVE_MS <= intent.refund_after_ms;
  return outcome === 'releases' && isInTime && takesParts(ports, intent);
}

/** Records a capture, which ends the hold. */
export const noteCaptured = (ports: FlightsPorts, { intent_id }: IntentRow, signature: string | null): Promise<void> =>
  inTurn(ports.store, [`intents:${intent_id}`], async (tx) => {
    const nowMs = ports.clock.now();
    const captured = { captured_at_ms: nowMs, capture_tx_hash: signature, updated_at_ms: nowMs };
    await changeIntent(tx, intent_id, captured);
    await endHold(tx, intent_id, nowMs);
  });

/** Ends a hold. The escrow has ended only now, so its closing is put off. */
export async function endHold(tx: Tx, intentId: string, nowMs: number): Promise<void> {
  await tx.deleteFrom('upkeep').where('intent_id', '=', intentId).where('task', '=', 'capture').execute();
  await tx
    .updateTable('upkeep')
    .set({ created_at_ms: nowMs, due_at_ms: nowMs + CLOSE_AFTER_MS })
    .where('intent_id', '=', intentId)
    .where('task', '=', 'close_escrow')
    .execute();
}

/** Captures at the end of a hold. If a refund released the price first, that refund ends the intent. */
export async function captureHeld(ports: FlightsPorts, escrows: Escrows, intent: IntentRow): Promise<void> {
  const { store, clock } = ports;
  const { intent_id, refund_after_ms } = intent;
  if (!isHeld(intent)) return inTurn(store, [], (tx) => endHold(tx, intent_id, clock.now()));
  try {
    const { signature, captured } = await escrows.capture(intent);
    if (captured === BigInt(intent.amount)) return await noteCaptured(ports, intent, signature);
    if (await hasGrantedRefund(store, intent_id)) return;
    throw new EscrowEndedOtherwise('released, and no approved refund ends the intent');
  } catch (error) {
    const isLate = clock.now() + PAGED_BEFORE_MS > refund_after_ms;
    if (isLate || error instanceof EscrowEndedOtherwise) {
      const reason = isProblem(error) ? error.code : error instanceof Error ? error.message : 'unknown';
      await pageAlone(ports, 'capture_waits', intent_id, {
        intentId: intent_id,
        text: `The price of the ticket of ${intent_id} is not captured (${reason}). It is tried again every ten minutes.`,
        fields: { intent_id, reason },
      });
    }
    throw error;
  }
}

const hasGrantedRefund = async (store: Store, intentId: string): Promise<boolean> =>
  (await store
    .selectFrom('refund_requests')
    .select('request_id')
    .where('open_key', '=', intentId)
    .where('state', 'in', ['approved', 'stuck'])
    .executeTakeFirst()) !== undefined;
