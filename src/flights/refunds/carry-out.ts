import { type SqlBool, sql } from 'kysely';
import { type ProviderOrder, toldBy } from '../../airlines/index.ts';
import { type ChainEffect, liveAttempt, liveKey } from '../../effects/index.ts';
import { stakeOf } from '../../kernel/domain/part-refunds.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import { inTurn } from '../../store/base/index.ts';
import { type OpenQueue, openQueue } from '../../store/index.ts';
import type { FlightsDatabase, FlightsPorts, IntentRow, RefundRequestRow, Store, Tx } from '../base/index.ts';
import {
  BY_SERVICE,
  bookingOf,
  changeIntent,
  intentOf,
  leavesOthers,
  orderOf,
  page,
  partOf,
  partsRefunded,
  passengersIn,
  subjectOf,
  writeAudit,
} from '../base/index.ts';
import {
  BY_HAND_CODE,
  cancelledBy,
  cancelledByNow,
  createEscrows,
  createMails,
  endHold,
  isAskable,
  isDeskOrder,
  isHeld,
  noteCaptured,
  releases,
  watchForTicket,
} from '../bookings/index.ts';
import { configured } from '../offers/index.ts';
import { agreementOf, planChanged, QUOTE_GONE, quotable } from './airline-quote.ts';
import { createPayouts } from './payouts.ts';
import { dropUnpaidRequest, receive } from './requests.ts';
import { movedTo, REFUNDS, THEIRS, UNSETTLED } from './states.ts';

const MOST_AT_ONCE = 50;
/** The reason that an intent shows. Anybody can read it, so it has none of the customer's words. */
const REFUND_REASON = 'refund_request_approved';

type Guard = Pick<ChainEffect, 'fence' | 'agreed'>;

interface RefundTools {
  readonly ports: FlightsPorts;
  readonly queue: OpenQueue<FlightsDatabase, 'refund_requests'>;
}

/** The worker's part in refund requests: receives or drops open payments, and carries out approvals. */
export function createRefundPayouts(ports: FlightsPorts) {
  const queue = openQueue(ports, REFUNDS);
  const tools: RefundTools = { ports, queue };
  const work = {
    perform: (row: RefundRequestRow) => (row.state === 'settling' ? settle(ports, row) : carryOut(tools, row)),
    failed: (row: RefundRequestRow, error: unknown) => putOff(tools, row, error),
  };
  return {
    async carryOutNow(requestId: string): Promise<void> {
      const row = await queue.claim([sql<SqlBool>`request_id = ${requestId}`]);
      if (row) await queue.take(row, work);
    },

    runDue: () => queue.runDue(work, MOST_AT_ONCE),
  };
}

/** Receives or drops a request whose process may have died. The settlement journal knows if it was paid. */
async function settle(ports: FlightsPorts, row: RefundRequestRow): Promise<void> {
  const outcome = await ports.paywall.outcome(row.payment_key);
  if (outcome === 'unknown') throw problem('payment_pending');
  if (outcome === 'failed') await dropUnpaidRequest(ports, row.payment_key);
  else await receive(ports, row, 'runner');
}

/** Postpones a failed step, longer each time. In the end the request waits for a person and pages one. */
function putOff({ ports, queue }: RefundTools, row: RefundRequestRow, error: unknown): Promise<void> {
  const { request_id, intent_id } = row;
  const byHand = isProblem(error) && error.detail?.by_hand === true;
  // After a quote is void, only an operator can go on, by agreeing to the next one.
  const isTheirs = byHand || isProblem(error, QUOTE_GONE);
  const policy = row.state === 'settling' ? UNSETTLED : isTheirs ? THEIRS : REFUNDS.retry;
  return queue.postpone(
    row,
    error,
    ({ verdict, failures, code: name }) => {
      const code = byHand ? BY_HAND_CODE : name;
      const isStuck = verdict === 'given_up';
      const text = `The refund of ${intent_id} is stuck and needs a decision: ${code}. See farelock stuck show ${request_id}.`;
      const fields = { request_id, intent_id, error: code };
      const stuck = page('refund_stuck', `${request_id}:${row.fence}`, { intentId: intent_id, text, fields });
      return {
        change: {
          ...(isStuck ? movedTo(row, 'stuck', 'runner') : {}),
          last_error: code,
          updated_at_ms: ports.clock.now(),
        },
        also: isStuck ? (tx) => ports.outbox.enqueue(tx, stuck) : undefined,
        log: () =>
          ports.log('warn', isStuck ? 'refund_stuck' : 'refund_postponed', {
            request_id,
            attempts: failures,
            error_code: code,
          }),
      };
    },
    policy,
  );
}

/**
 * Cancels with the airline, pays out (from the escrow if it still holds the price, else from the treasury), and ends
 * the intent unless other travellers stay. Every step can be repeated after a crash.
 */
async function carryOut(tools: RefundTools, row: RefundRequestRow): Promise<void> {
  const { ports, queue } = tools;
  const intent = await intentOf(ports.store, row.intent_id);
  await cancel(tools, row, intent);
  const guard: Guard = { fence: () => queue.check(row), agreed: (tx) => queue.check(row, tx) };
  const amount = BigInt(row.payout_amount ?? 0);
  const released = isHeld(intent) ? await release(ports, row, intent, guard) : null;
  const payOut = () => createPayouts(ports)({ subject: subjectOf(row), to: intent.refund_wallet, amount, ...guard });
  await conclude(tools, row, intent, released ?? (await payOut()).signature);
}

/**
 * Ends a hold with the refund: the escrow pays the penalty to the treasury and the rest back, in one transaction.
 * @returns its signature, or null if the whole price is captured and the treasury has to pay
 * @throws Problem `plan_changed` if the escrow has released another amount
 */
async function release(ports: FlightsPorts, row: RefundRequestRow, intent: IntentRow, guard: Guard) {
  const escrows = createEscrows(ports);
  const price = BigInt(intent.amount);
  const amount = BigInt(row.payout_amount ?? 0);
  const takes = !leavesOthers(row) && (await releases(ports, escrows, intent)) ? price - amount : price;
  const { signature, captured } = await escrows.capture(intent, guard, takes);
  if (captured === price) {
    await noteCaptured(ports, intent, signature);
    return null;
  }
  if (captured !== price - amount) {
    throw problem('plan_changed', {
      message: `The escrow has given ${formatUsdc(price - captured)} USDC back, which is not what was agreed to.`,
      fix: 'Nothing else was paid. Approve that amount, with a note.',
    });
  }
  if (signature !== null) return signature;
  throw problem('cluster_failed', { message: 'The escrow gave the refund back, and no transaction of it is known.' });
}

/** @throws Problem `provider_failed` while the order is alive, `plan_changed` if the approval no longer fits */
async function cancel({ ports, queue }: RefundTools, row: RefundRequestRow, intent: IntentRow): Promise<void> {
  const { store, effects } = ports;
  const subject = subjectOf(row);
  const standing = await effects.standing('airline_cancel', subject);
  if (standing === 'done') return checkWord(ports, row);
  if (standing === 'none' && (await cancelledByNow(ports, row.intent_id)) === 'airline') {
    const isKnown =
      agreementOf(row)?.cancelled_by === 'airline' ||
      BigInt(row.payout_amount ?? 0) === stakeOf(partOf(row), BigInt(intent.amount));
    if (!isKnown) throw planChanged({ cancelled_by: 'airline' });
    return;
  }
  const orderId = await orderIdOf(store, row);
  const provider = configured(ports.provider);
  await effects.airline<ProviderOrder>({
    kind: 'airline_cancel',
    subject,
    reference: orderId,
    async create() {
      if (leavesOthers(row)) return cancelSome(ports, row, orderId);
      const quote = agreementOf(row)?.airline_quote ?? null;
      // Without an agreed quote the airline could give back any amount.
      if (!quote && (await quotable(ports, row)) !== null) throw planChanged({ airline_quote: null });
      if (quote?.quote_id === null) throw byHand('The airline takes no cancellation of this order here.');
      const order = await provider.cancel(orderId, quote?.quote_id);
      return checkCancelled(order, row);
    },
    async find() {
      const order = await provider.order(orderId);
      return isCancelled(order, row) ? order : null;
    },
    idOf: (order) => order.providerOrderId,
    refused: (error) => isProblem(error, 'upstream_rate_limited', 'plan_changed'),
    told: toldBy,
    fence: () => queue.check(row),
    agreed: (tx) => queue.check(row, tx),
  });
}

async function cancelSome({ provider }: FlightsPorts, row: RefundRequestRow, orderId: string): Promise<ProviderOrder> {
  const cancelled = await provider?.cancelPassengers?.(orderId, passengersIn(row));
  if (!cancelled) throw byHand('The airline cancels no traveller alone here.');
  return checkCancelled(cancelled, row);
}

function checkCancelled(order: ProviderOrder, row: RefundRequestRow): ProviderOrder {
  if (isCancelled(order, row)) return order;
  throw problem('provider_failed', { message: 'The airline did not cancel the order.' });
}

async function orderIdOf(store: Store, { intent_id }: RefundRequestRow): Promise<string> {
  const order = await orderOf(store, intent_id);
  if (!order) throw new Error('a booked intent has no order');
  return order.provider_order_id;
}

/** Asks the airline about a case's order. Returns `unknown` if we have no way to ask, or the airline is silent. */
export async function askAboutOrder({ store, provider, log }: FlightsPorts, row: RefundRequestRow) {
  const orderId = await orderIdOf(store, row);
  if (isDeskOrder(orderId) || !provider) return 'unknown';
  try {
    return await provider.order(orderId);
  } catch (error) {
    if (!isProblem(error)) throw error;
    log('warn', 'airline_silent', { intent_id: row.intent_id, error_code: error.code });
    return 'unknown';
  }
}

/** True while the airline shows tickets of a case's travellers. */
export const isAlive = (word: ProviderOrder | 'unknown', row: RefundRequestRow): boolean =>
  word !== 'unknown' && !isCancelled(word, row);

/** Checks an operator's claim of a cancellation before we pay. @throws Problem `provider_failed` for a live order */
async function checkWord(ports: FlightsPorts, row: RefundRequestRow): Promise<void> {
  if (!(await isCancelledByHand(ports.store, row)) || !isAlive(await askAboutOrder(ports, row), row)) return;
  await ports.store
    .updateTable('effects')
    .set({ state: 'failed', live_key: null, error: 'order_is_alive', updated_at_ms: ports.clock.now() })
    .where('live_key', '=', liveKey('airline_cancel', subjectOf(row)))
    .execute();
  throw byHand('The airline still shows the ticket.');
}

export const BY_HAND = 'by_hand';

const isCancelledByHand = async (store: Store, row: RefundRequestRow): Promise<boolean> =>
  (await liveAttempt(store, 'airline_cancel', subjectOf(row)))?.result === BY_HAND;

/** True if a ticket was or may be cancelled. Asks the airline if our attempt got no answer. */
export async function mayBeCancelled(ports: FlightsPorts, row: RefundRequestRow): Promise<boolean> {
  const attempt = await liveAttempt(ports.store, 'airline_cancel', subjectOf(row));
  if (attempt?.state !== 'sent') return attempt !== undefined;
  return isCancelled(await configured(ports.provider).order(await orderIdOf(ports.store, row)), row);
}

const byHand = (message: string) => problem('provider_failed', { message, detail: { by_hand: true } });

/** True if the order has ended, or the airline has cancelled the request's travellers. */
function isCancelled({ status, cancelledPassengers = [] }: ProviderOrder, row: RefundRequestRow): boolean {
  if (status === 'cancelled' || status === 'failed') return true;
  return leavesOthers(row) && passengersIn(row).every((passenger) => cancelledPassengers.includes(passenger));
}

async function conclude({ ports, queue }: RefundTools, row: RefundRequestRow, intent: IntentRow, signature: string) {
  const { store, clock } = ports;
  const { request_id, intent_id } = row;
  const isPart = leavesOthers(row);
  const facts = {
    kind: 'refund_request_approved',
    amount: BigInt(row.payout_amount ?? 0),
    penalty: BigInt(row.penalty_amount ?? 0),
    cancelledBy: await cancelledBy(store, intent_id),
    travellers: isPart ? passengersIn(row) : null,
    refundWallet: intent.refund_wallet,
    transaction: signature,
  } as const;
  // A booking may have several partial refunds, each with its own mail.
  const tell = await createMails(ports).about(
    await bookingOf(store, intent_id),
    facts,
    isPart ? request_id : undefined,
  );
  const watches = !isPart && isAskable(await orderIdOf(store, row)) && (await isCancelledByHand(store, row));
  const nowMs = clock.now();
  await inTurn(store, [`refund_requests:${request_id}`, `intents:${intent_id}`], async (tx) => {
    const ended = { payout_tx_hash: signature, last_error: null, updated_at_ms: nowMs };
    // Allows a new request, about other travellers.
    const key = isPart ? { open_key: null } : {};
    await queue.finish(row, { ...movedTo(row, 'refunded', 'runner'), ...ended, ...key }, tx);
    if (isPart) await keepForOthers(tx, row, intent, nowMs);
    else await endIntent(tx, intent_id, signature, nowMs);
    if (watches) await watchForTicket(tx, intent_id, nowMs);
    if (!isPart && isHeld(intent)) await endHold(tx, intent_id, nowMs);
    await writeAudit(tx, ports, {
      ...BY_SERVICE,
      action: 'refund.paid_out',
      subject: request_id,
      detail: { intent_id, amount: row.payout_amount, transaction: signature },
    });
    await tell(tx);
  });
  ports.log('info', 'refund_paid_out', { request_id, intent_id });
}

async function endIntent(tx: Tx, intentId: string, signature: string, nowMs: number): Promise<void> {
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
    .where('intent_id', '=', intentId)
    .where('status', '=', 'booked')
    .execute();
  // The journey ends early, so the time that its data is kept starts now, not at the last arrival.
  await tx
    .updateTable('upkeep')
    .set({ due_at_ms: nowMs })
    .where('intent_id', '=', intentId)
    .where('task', '=', 'purge')
    .execute();
}

/** Reduces the affiliate's credit to the share of the travellers who stay. */
async function keepForOthers(tx: Tx, row: RefundRequestRow, intent: IntentRow, nowMs: number): Promise<void> {
  const price = BigInt(intent.amount);
  const now = await intentOf(tx, intent.intent_id);
  const gone = (await partsRefunded(tx, intent.intent_id)).reduce((sum, one) => sum + stakeOf(partOf(one), price), 0n);
  // `gone` already includes this request.
  const [left, before] = [price - gone, price - gone + stakeOf(partOf(row), price)];
  const { affiliate_amount: share } = now;
  await changeIntent(tx, intent.intent_id, {
    updated_at_ms: nowMs,
    ...(share !== null && before > 0n && { affiliate_amount: Number((BigInt(share) * left) / before) }),
  });
}
