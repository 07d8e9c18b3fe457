import { type ProviderOrder, toldBy } from '../../airlines/index.ts';
import { liveKey } from '../../effects/index.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import type { OpenQueue } from '../../store/index.ts';
import {
  type FlightsDatabase,
  type FlightsPorts,
  type IntentRow,
  type RefundRequestRow,
  type Store,
  watchForTicket,
  writeAudit,
} from '../base/index.ts';
import { cancelledBy, cancelledByNow, createMails, isAskable, isDeskOrder } from '../bookings/index.ts';
import { configured } from '../offers/index.ts';
import { agreementOf, planChanged, quotable } from './airline-quote.ts';
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
  await cancel(tools, row, intent);
  const { signature } = await createPayouts(ports)({
    subject: row.intent_id,
    to: intent.refund_wallet,
    amount: BigInt(row.payout_amount ?? 0),
    fence: () => queue.check(row),
    agreed: (tx) => queue.check(row, tx),
  });
  await conclude(tools, row, intent, signature);
}

/**
 * @throws Problem `provider_failed` while the airline does not show the order cancelled, `plan_changed` where it cancelled
 *   the order itself after less than the whole amount was approved
 */
async function cancel({ ports, queue }: RefundTools, row: RefundRequestRow, intent: IntentRow): Promise<void> {
  const { store, effects } = ports;
  const standing = await effects.standing('airline_cancel', row.intent_id);
  if (standing === 'done') return checkWord(ports, row);
  if (standing === 'none' && (await cancelledByNow(ports, row.intent_id)) === 'airline') {
    const isKnown = agreementOf(row)?.cancelled_by === 'airline' || row.payout_amount === intent.amount;
    if (!isKnown) throw planChanged({ cancelled_by: 'airline' });
    return;
  }
  const { provider_order_id: orderId } = await orderOf(store, row);
  const provider = configured(ports.provider);
  await effects.airline<ProviderOrder>({
    kind: 'airline_cancel',
    subject: row.intent_id,
    reference: orderId,
    async create() {
      const quote = agreementOf(row)?.airline_quote ?? null;
      // Without an agreement the airline would give back whatever it likes.
      if (!quote && (await quotable(ports, row)) !== null) throw planChanged({ airline_quote: null });
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
    agreed: (tx) => queue.check(row, tx),
  });
}

const orderOf = (store: Store, { intent_id }: RefundRequestRow) =>
  store.selectFrom('orders').select('provider_order_id').where('intent_id', '=', intent_id).executeTakeFirstOrThrow();

/** The airline's word about the order of a case at this moment. `unknown`: no interface of ours knows, or it is silent. */
export async function askAboutOrder(
  { store, provider, log }: Pick<FlightsPorts, 'store' | 'provider' | 'log'>,
  row: RefundRequestRow,
): Promise<ProviderOrder | 'unknown'> {
  const { provider_order_id: orderId } = await orderOf(store, row);
  if (isDeskOrder(orderId) || !provider) return 'unknown';
  try {
    return await provider.order(orderId);
  } catch (error) {
    if (!isProblem(error)) throw error;
    log('warn', 'airline_silent', { intent_id: row.intent_id, error_code: error.code });
    return 'unknown';
  }
}

/** True for an order that the airline shows with a ticket, or that may still get one. */
export const isAlive = (word: ProviderOrder | 'unknown'): boolean => word !== 'unknown' && !isCancelled(word);

/**
 * An operator's word that an order is cancelled is compared with the airline's once more before the money leaves.
 * @throws Problem `provider_failed` (by hand) while the airline shows it alive; the word is worth nothing then
 */
async function checkWord(ports: FlightsPorts, row: RefundRequestRow): Promise<void> {
  if (!(await isCancelledByHand(ports.store, row)) || !isAlive(await askAboutOrder(ports, row))) return;
  await ports.store
    .updateTable('effects')
    .set({ state: 'failed', live_key: null, error: 'order_is_alive', updated_at_ms: ports.clock.now() })
    .where('live_key', '=', liveKey('airline_cancel', row.intent_id))
    .execute();
  throw byHand('The airline still shows the ticket.');
}

/** The result of a cancellation that an operator has made with the airline. */
export const BY_HAND = 'by_hand';

const liveCancellation = (store: Store, { intent_id }: RefundRequestRow) =>
  store
    .selectFrom('effects')
    .select(['state', 'result'])
    .where('live_key', '=', liveKey('airline_cancel', intent_id))
    .executeTakeFirst();

const isCancelledByHand = async (store: Store, row: RefundRequestRow): Promise<boolean> =>
  (await liveCancellation(store, row))?.result === BY_HAND;

/**
 * True where the ticket of a case was cancelled, or may be right now. The airline is asked about an attempt that ended
 * without an answer; one without an end may still be on its way there.
 * @throws Problem `provider_failed`, `upstream_rate_limited` where the airline does not say
 */
export async function mayBeCancelled(ports: FlightsPorts, row: RefundRequestRow): Promise<boolean> {
  const attempt = await liveCancellation(ports.store, row);
  if (attempt?.state !== 'sent') return attempt !== undefined;
  const { provider_order_id: orderId } = await orderOf(ports.store, row);
  return isCancelled(await configured(ports.provider).order(orderId));
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
  const endedBy = await cancelledBy(store, row.intent_id);
  const booking = await store
    .selectFrom('bookings')
    .select(['intent_id', 'passengers_sealed'])
    .where('intent_id', '=', row.intent_id)
    .executeTakeFirstOrThrow();
  const tell = await createMails(ports).about(booking, {
    kind: 'refund_request_approved',
    amount: BigInt(row.payout_amount ?? 0),
    penalty: BigInt(row.penalty_amount ?? 0),
    cancelledBy: endedBy,
    refundWallet: intent.refund_wallet,
    transaction: signature,
  });
  const { provider_order_id: orderId } = await orderOf(store, row);
  const watches = isAskable(orderId) && (await isCancelledByHand(store, row));
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
        credit_due_at_ms: null,
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
    if (watches) await watchForTicket(tx, row.intent_id, nowMs);
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
