import { type SqlBool, sql } from 'kysely';
import { isProblem, problem } from '../../kernel/problems.ts';
import { leaseIsOver, whileRowIsHeld } from '../../store/leases.ts';
import { nextInQueue } from '../../store/queue.ts';
import { FARTHEST_MS, LEASE_MS, LeaseLost, STEP_MS } from '../booking/claims.ts';
import { writeAudit } from '../desk/audit.ts';
import { configured } from '../offers/live-offer.ts';
import { createMails } from '../orders/mails.ts';
import type { FlightsPorts } from '../ports.ts';
import type { ProviderOrder } from '../providers/provider.ts';
import type { IntentRow, RefundRequestRow } from '../rows.ts';
import { REFUNDS } from './due.ts';
import { createPayouts } from './payouts.ts';
import { dropUnpaidRequest, receive } from './requests.ts';

const MOST_BACKOFF_MS = 60_000;
/** How often a step is tried before it waits for a person, who may start it again. */
const MOST_TRIES = 24;
/** What the intent shows: no words of the customer's, for anybody can read it. */
export const REFUND_REASON = 'refund_request_approved';

/**
 * What the worker does about refund requests: those whose payment was left open are received or dropped, and those
 * that an operator approved are carried out: cancelled at the airline, then paid out, then the intent is `refunded`.
 * Every step is an effect that happens once, and can be repeated after a crash at any point.
 */
export function createRefundPayouts(ports: FlightsPorts) {
  const { store, clock, effects } = ports;

  /** The lease keeps others away; the fence makes older holders powerless. */
  async function claim(requestId: string | null): Promise<RefundRequestRow | null> {
    const nowMs = clock.now();
    const which = requestId === null ? undefined : sql<SqlBool>`request_id = ${requestId}`;
    const row = await store
      .updateTable('refund_requests')
      .set((column) => ({ lease_until_ms: nowMs + LEASE_MS, fence: column('fence', '+', 1) }))
      .where('request_id', '=', nextInQueue(REFUNDS, nowMs, which))
      .where(leaseIsOver(nowMs, LEASE_MS))
      .returningAll()
      .executeTakeFirst();
    return row ?? null;
  }

  async function hold(row: RefundRequestRow): Promise<void> {
    const now = await store
      .selectFrom('refund_requests')
      .select('fence')
      .where('request_id', '=', row.request_id)
      .executeTakeFirst();
    if (now?.fence !== row.fence) throw new LeaseLost();
  }

  /** @throws Problem `provider_failed` while the airline does not show the order cancelled */
  async function cancel(row: RefundRequestRow): Promise<void> {
    // An operator may have said so: then the airline's own interface need not know.
    if ((await effects.standing('airline_cancel', row.intent_id)) === 'done') return;
    const { provider_order_id: orderId } = await store
      .selectFrom('orders')
      .select('provider_order_id')
      .where('intent_id', '=', row.intent_id)
      .executeTakeFirstOrThrow();
    const provider = configured(ports.provider);
    const cancelled = (order: ProviderOrder) => order.status === 'cancelled' || order.status === 'failed';
    await effects.airline<ProviderOrder>({
      kind: 'airline_cancel',
      subject: row.intent_id,
      reference: orderId,
      async create() {
        const order = await provider.cancel(orderId);
        if (!cancelled(order)) {
          throw problem('provider_failed', { message: 'The airline did not cancel the order.' });
        }
        return order;
      },
      async find() {
        const order = await provider.order(orderId);
        return cancelled(order) ? order : null;
      },
      idOf: (order) => order.providerOrderId,
      refused: (error) => isProblem(error, 'upstream_rate_limited'),
      fence: () => hold(row),
    });
  }

  async function carryOut(row: RefundRequestRow): Promise<void> {
    const intent = await store
      .selectFrom('intents')
      .selectAll()
      .where('intent_id', '=', row.intent_id)
      .executeTakeFirstOrThrow();
    const amount = BigInt(row.payout_amount ?? 0);
    await cancel(row);
    const { signature } = await createPayouts(ports)({
      subject: row.intent_id,
      to: intent.refund_wallet,
      amount,
      fence: () => hold(row),
    });
    await conclude(row, intent, signature);
  }

  async function conclude(row: RefundRequestRow, intent: IntentRow, signature: string): Promise<void> {
    const booking = await store
      .selectFrom('bookings')
      .select(['intent_id', 'passengers_sealed'])
      .where('intent_id', '=', row.intent_id)
      .executeTakeFirstOrThrow();
    const tell = await createMails(ports).about(booking, {
      kind: 'refund_request_approved',
      amount: BigInt(row.payout_amount ?? 0),
      penalty: BigInt(row.penalty_amount ?? 0),
      refundWallet: intent.refund_wallet,
      transaction: signature,
    });
    const nowMs = clock.now();
    await store.transaction().execute(async (tx) => {
      const written = await tx
        .updateTable('refund_requests')
        .set({
          state: 'refunded',
          payout_tx_hash: signature,
          last_error: null,
          lease_until_ms: 0,
          updated_at_ms: nowMs,
        })
        .where('request_id', '=', row.request_id)
        .where('fence', '=', row.fence)
        .where('state', '=', 'approved')
        .executeTakeFirst();
      if (written.numUpdatedRows === 0n) throw new LeaseLost();
      await tx
        .updateTable('intents')
        .set({
          status: 'refunded',
          refund_reason: REFUND_REASON,
          refunded_at_ms: nowMs,
          refund_tx_hash: signature,
          updated_at_ms: nowMs,
        })
        .where('intent_id', '=', row.intent_id)
        .where('status', '=', 'booked')
        .execute();
      // The journey is over before its last arrival: its data is kept from now on, not from then.
      await tx
        .updateTable('upkeep')
        .set({ due_at_ms: nowMs })
        .where('intent_id', '=', row.intent_id)
        .where('task', '=', 'purge')
        .execute();
      await writeAudit(tx, ports, {
        operator: { keyId: 'service', name: 'service' },
        action: 'refund.paid_out',
        subject: row.request_id,
        requestId: '',
        detail: { intent_id: row.intent_id, amount: row.payout_amount, transaction: signature },
      });
      await tell(tx);
    });
    ports.log('info', 'refund_paid_out', { request_id: row.request_id, intent_id: row.intent_id });
  }

  /** The request's own process may have died: the settlement journal knows what became of its money. */
  async function settle(row: RefundRequestRow): Promise<void> {
    const outcome = await ports.paywall.outcome(row.payment_key);
    if (outcome === 'unknown') throw problem('payment_pending');
    if (outcome === 'failed') await dropUnpaidRequest(ports, row.payment_key);
    else await receive(ports, row);
  }

  /** Puts a step off, longer each time; in the end it waits for a person, and pages one. */
  async function postpone(row: RefundRequestRow, error: unknown): Promise<void> {
    const byHand = isProblem(error) && error.detail?.by_hand === true;
    const name = isProblem(error) ? error.code : error instanceof Error ? error.name : 'unknown';
    const code = byHand ? 'cancel_by_hand' : name;
    const attempts = row.attempts + 1;
    const gaveUp = row.state === 'approved' && (byHand || attempts >= MOST_TRIES);
    const askedMs = isProblem(error) && error.retryAfter ? error.retryAfter * 1000 : 0;
    const backoffMs = Math.min(MOST_BACKOFF_MS, 500 * 2 ** Math.min(attempts, 10));
    const nowMs = clock.now();
    await store.transaction().execute(async (tx) => {
      const written = await tx
        .updateTable('refund_requests')
        .set({
          ...(gaveUp ? { state: 'stuck' as const } : {}),
          attempts,
          last_error: code,
          lease_until_ms: 0,
          due_at_ms: nowMs + Math.min(FARTHEST_MS, Math.max(askedMs, backoffMs)),
          updated_at_ms: nowMs,
        })
        .where('request_id', '=', row.request_id)
        .where('fence', '=', row.fence)
        .executeTakeFirst();
      if (!gaveUp || written.numUpdatedRows === 0n) return;
      await ports.outbox.enqueue(tx, {
        kind: 'page',
        dedupKey: `page:refund_stuck:${row.request_id}:${row.fence}`,
        intentId: row.intent_id,
        event: 'refund_stuck',
        text: `The refund of ${row.intent_id} is stuck and waits for a person: ${code}. See farelock stuck show ${row.request_id}.`,
        fields: { request_id: row.request_id, intent_id: row.intent_id, error: code },
      });
    });
    ports.log('warn', gaveUp ? 'refund_stuck' : 'refund_postponed', {
      request_id: row.request_id,
      attempts,
      error_code: code,
    });
  }

  async function take(row: RefundRequestRow): Promise<void> {
    try {
      await whileRowIsHeld(
        ports,
        {
          table: 'refund_requests',
          key: 'request_id',
          id: row.request_id,
          fence: row.fence,
          leaseMs: LEASE_MS,
          mostMs: STEP_MS,
        },
        () => (row.state === 'settling' ? settle(row) : carryOut(row)),
      );
    } catch (error) {
      if (!(error instanceof LeaseLost)) await postpone(row, error);
    }
  }

  return {
    /** Carries one approved request out as far as it goes now; what is left, the worker does. */
    async carryOutNow(requestId: string): Promise<void> {
      const row = await claim(requestId);
      if (row) await take(row);
    },

    /** Takes everything that is due. */
    async runDue(): Promise<number> {
      let worked = 0;
      for (let row = await claim(null); row && worked < 50; row = await claim(null)) {
        await take(row);
        worked++;
      }
      return worked;
    },
  };
}
