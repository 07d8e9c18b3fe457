import { isProblem, problem } from '../../kernel/problems.ts';
import type { OpenQueue } from '../../store/queue.ts';
import { writeAudit } from '../desk/audit.ts';
import { configured } from '../offers/live-offer.ts';
import { createMails } from '../orders/mails.ts';
import type { FlightsPorts } from '../ports.ts';
import type { ProviderOrder } from '../providers/provider.ts';
import { toldBy } from '../providers/told-by.ts';
import type { IntentRow, RefundRequestRow } from '../rows.ts';
import type { FlightsDatabase } from '../tables.ts';
import { keptQuote } from './airline-quote.ts';
import { createPayouts } from './payouts.ts';
import { movedTo } from './states.ts';

/** What the intent shows: no words of the customer's, for anybody can read it. */
const REFUND_REASON = 'refund_request_approved';

/** What is done about a refund request that is held works with. */
export interface RefundTools {
  readonly ports: FlightsPorts;
  readonly queue: OpenQueue<FlightsDatabase, 'refund_requests'>;
}

/**
 * Carries an approved refund out: cancelled at the airline, then paid out, then the intent is `refunded`. Every step is
 * an effect that happens once, and can be repeated after a crash at any point.
 */
export async function carryOut(tools: RefundTools, row: RefundRequestRow): Promise<void> {
  const { ports, queue } = tools;
  const intent = await ports.store
    .selectFrom('intents')
    .selectAll()
    .where('intent_id', '=', row.intent_id)
    .executeTakeFirstOrThrow();
  await cancel(tools, row);
  const { signature } = await createPayouts(ports)({
    subject: row.intent_id,
    to: intent.refund_wallet,
    amount: BigInt(row.payout_amount ?? 0),
    fence: () => queue.check(row),
  });
  await conclude(tools, row, intent, signature);
}

/** @throws Problem `provider_failed` while the airline does not show the order cancelled */
async function cancel({ ports, queue }: RefundTools, row: RefundRequestRow): Promise<void> {
  const { store, effects } = ports;
  // An operator may have said so: then the airline's own interface need not know.
  if ((await effects.standing('airline_cancel', row.intent_id)) === 'done') return;
  const { provider_order_id: orderId } = await store
    .selectFrom('orders')
    .select('provider_order_id')
    .where('intent_id', '=', row.intent_id)
    .executeTakeFirstOrThrow();
  const provider = configured(ports.provider);
  await effects.airline<ProviderOrder>({
    kind: 'airline_cancel',
    subject: row.intent_id,
    reference: orderId,
    async create() {
      const quote = keptQuote(row);
      if (quote?.quote_id === null) throw byHand('The airline takes no cancellation of this order here.');
      const order = await provider.cancel(orderId, quote?.quote_id);
      if (!isCancelled(order)) {
        throw problem('provider_failed', { message: 'The airline did not cancel the order.' });
      }
      return order;
    },
    async find() {
      const order = await provider.order(orderId);
      return isCancelled(order) ? order : null;
    },
    idOf: (order) => order.providerOrderId,
    refused: (error) => isProblem(error, 'upstream_rate_limited', 'plan_changed'),
    told: toldBy,
    fence: () => queue.check(row),
  });
}

const byHand = (message: string) => problem('provider_failed', { message, detail: { by_hand: true } });

const isCancelled = ({ status }: ProviderOrder): boolean => status === 'cancelled' || status === 'failed';

async function conclude(
  { ports, queue }: RefundTools,
  row: RefundRequestRow,
  intent: IntentRow,
  signature: string,
): Promise<void> {
  const { store, clock } = ports;
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
    const ended = { payout_tx_hash: signature, last_error: null, updated_at_ms: nowMs };
    await queue.finish(row, { ...movedTo(row, 'refunded', 'runner'), ...ended }, tx);
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
