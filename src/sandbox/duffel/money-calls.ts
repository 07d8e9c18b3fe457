import { HOUR_MS } from '../../kernel/clock.ts';
import { centsOf, decimalOf } from '../airline/index.ts';
import { OF_CONFIRMATION, OF_QUOTE } from './behaviours.ts';
import type { CancellationRecord, OrderRecord } from './books.ts';
import { microInstant } from './dress.ts';
import { cutConnection, type Issue, invalid, refused } from './errors.ts';
import { checkPaid, readPayment, readServices } from './order-checks.ts';
import {
  awaitsPayment,
  canCancel,
  dressedOrder,
  flownOffer,
  listedOrder,
  liveOrder,
  orderSegments,
  orderTrait,
} from './order-shape.ts';
import { addToBalance, type Calls, data, foundOffer, linkedOrder, listOf, page, type Sandbox } from './sandbox.ts';
import { servicesOf } from './services.ts';
import { tell } from './webhook-calls.ts';

/** Calls that pay for held orders and for added services. */
export const paymentCalls: Calls = {
  // Pays a held order, which is then ticketed.
  'POST /air/payments': async (asked) => {
    const { books, clock, ids } = asked;
    const { order_id, payment } = await asked.data();
    const order = liveOrder(asked, linkedOrder(asked, order_id).id);
    if (!awaitsPayment(order)) throw refused('already_paid');
    const nowMs = clock.now();
    if (nowMs >= (order.heldUntilMs ?? 0)) throw refused('past_payment_required_by_date');
    pay(asked, order.currency, order.totalCents, payment);
    books.orders.put(order.id, { ...order, paidAtMs: nowMs, ticketedAtMs: nowMs });
    return data(
      {
        id: ids.numbered('pay', books.count('payment')),
        type: 'balance',
        amount: (payment as { amount: string }).amount,
        currency: order.currency,
        created_at: microInstant(nowMs),
        live_mode: false,
      },
      201,
    );
  },
  'GET /air/orders/{id}/available_services': async (asked, id) => {
    const order = listedOrder(asked, id);
    const segment_ids = orderSegments(asked, order);
    return data(servicesOf(asked, flownOffer(asked, order), 0).map((service) => ({ ...service, segment_ids })));
  },
  'POST /air/orders/{id}/services': async (asked, id) => {
    const order = liveOrder(asked, id);
    const { add_services, payment } = await asked.data();
    const issues: Issue[] = [];
    const added = readServices(asked, flownOffer(asked, order), listOf(add_services), issues);
    if (added.length === 0 && issues.length === 0)
      issues.push(['add_services', 'validation_required', "can't be blank"]);
    if (issues.length > 0) throw invalid(...issues);
    const cents = added.reduce((sum, { totalCents }) => sum + totalCents, 0);
    pay(asked, order.currency, cents, payment);
    const totalCents = order.totalCents + cents;
    const grown = asked.books.orders.put(id, { ...order, services: [...order.services, ...added], totalCents });
    return data(dressedOrder(asked, grown), 201);
  },
};

/** Takes exactly the amount from the balance. @throws ApiError without taking anything */
export function pay(sandbox: Sandbox, currency: string, cents: number, payment: unknown): void {
  const issues: Issue[] = [];
  const paid = readPayment(listOf([payment]), issues);
  if (issues.length > 0) throw invalid(...issues);
  checkPaid(paid, currency, cents);
  if ((sandbox.books.settings.get('balance') ?? Infinity) < cents) throw refused('insufficient_balance');
  addToBalance(sandbox, -cents);
}

/** Percentages that cheap and dear cancellations give back. */
const GIVEN_BACK = { cheaper: 90, dearer: 20 };
const QUOTED_FOR_MS = HOUR_MS;

export const cancellationCalls: Calls = {
  // Only quotes: the order stays as it is.
  'POST /air/order_cancellations': async (asked) => {
    const { books, clock, ids } = asked;
    const { order_id } = await asked.data();
    const order = liveOrder(asked, linkedOrder(asked, order_id).id);
    if (!canCancel(order)) throw refused('order_not_cancellable');
    const behaviour = books.take('cancellation', OF_QUOTE);
    if (behaviour === 'quote_airline_unknown') throw refused('airline_unknown');
    const id = ids.numbered('ore', books.count('cancellation'));
    const cancellation = books.cancellations.put(id, {
      id,
      orderId: order.id,
      ...refundOf(asked, order, behaviour),
      createdAtMs: clock.now(),
      // Some quotes never expire.
      expiresAtMs: order.bookingReference.length === 7 ? null : clock.now() + QUOTED_FOR_MS,
      confirmedAtMs: null,
    });
    return data(dressed(asked, cancellation), 201);
  },
  'GET /air/order_cancellations': async (asked) => {
    const orderId = asked.search.get('order_id');
    const list = asked.books.cancellations.all().filter((one) => orderId === null || one.orderId === orderId);
    return page(asked, list.reverse(), (one) => dressed(asked, one));
  },
  'GET /air/order_cancellations/{id}': async (asked, id) => data(dressed(asked, asked.books.cancellations.need(id))),
  // Confirms only the latest quote, once.
  'POST /air/order_cancellations/{id}/actions/confirm': async (asked, id) => {
    const { books, clock } = asked;
    const cancellation = books.cancellations.need(id);
    const order = liveOrder(asked, cancellation.orderId);
    const latest = books.cancellations.all().findLast(({ orderId }) => orderId === order.id);
    const isOver = cancellation.expiresAtMs !== null && clock.now() >= cancellation.expiresAtMs;
    if (latest?.id !== id || isOver) throw refused('order_cancellation_stale');
    const behaviour = books.take('cancellation', OF_CONFIRMATION);
    if (behaviour === 'confirm_cut_before') return cutConnection();
    if (behaviour === 'confirm_airline_unknown') throw refused('airline_unknown');
    const confirmed = confirm(asked, order, cancellation);
    if (behaviour === 'confirm_cut_after') return cutConnection();
    if (behaviour === 'confirm_timeout_done') throw refused('gateway_timeout_error');
    return data(dressed(asked, confirmed));
  },
};

function refundOf(
  sandbox: Sandbox,
  order: OrderRecord,
  behaviour: (typeof OF_QUOTE)[number] | null,
): Pick<CancellationRecord, 'refundCents' | 'currency' | 'to'> {
  const { totalCents, currency } = order;
  if (awaitsPayment(order)) return { refundCents: 0, currency, to: 'awaiting_payment' };
  if (behaviour === 'cheaper' || behaviour === 'dearer')
    return { refundCents: Math.round((totalCents * GIVEN_BACK[behaviour]) / 100), currency, to: 'balance' };
  if (behaviour === 'amount_unknown') return { refundCents: null, currency, to: 'balance' };
  if (behaviour === 'voucher') return { refundCents: totalCents, currency, to: 'voucher' };
  if (behaviour === 'other_currency')
    return { refundCents: Math.round(totalCents * 0.79), currency: 'GBP', to: 'balance' };
  const to = orderTrait(sandbox, order) === 'airline_credits' ? 'airline_credits' : 'balance';
  const found = foundOffer(sandbox, order.offerId);
  // The test airline refunds everything.
  if (found?.ownerCode === 'ZZ') return { refundCents: totalCents, currency, to };
  const conditions = found?.offer.conditions ?? null;
  if (conditions === null || conditions.refund_allowed === null) return { refundCents: null, currency, to };
  if (!conditions.refund_allowed) return { refundCents: 0, currency, to };
  const { refund_penalty_amount, refund_penalty_currency } = conditions;
  const penalty = refund_penalty_currency === currency ? (centsOf(refund_penalty_amount) ?? 0) : 0;
  return { refundCents: Math.max(0, totalCents - penalty), currency, to };
}

function confirm(sandbox: Sandbox, order: OrderRecord, cancellation: CancellationRecord): CancellationRecord {
  const { books, clock } = sandbox;
  const { id, refundCents, currency, to } = cancellation;
  const nowMs = clock.now();
  books.orders.put(order.id, { ...order, cancelledAtMs: nowMs, refund: { cents: refundCents, currency, to } });
  const confirmed = books.cancellations.put(id, { ...cancellation, confirmedAtMs: nowMs });
  if (to === 'balance' && currency === order.currency) addToBalance(sandbox, refundCents ?? 0);
  tell(sandbox, {
    type: 'order_cancellation.confirmed',
    idempotencyKey: id,
    createdAtMs: nowMs,
    object: { id, order_id: order.id },
  });
  return confirmed;
}

function dressed({ ids }: Sandbox, one: CancellationRecord): object {
  const amount = one.refundCents === null ? null : decimalOf(one.refundCents);
  return {
    id: one.id,
    order_id: one.orderId,
    live_mode: false,
    refund_amount: amount,
    refund_currency: amount === null ? null : one.currency,
    refund_to: one.to,
    created_at: microInstant(one.createdAtMs),
    expires_at: one.expiresAtMs === null ? null : microInstant(one.expiresAtMs),
    confirmed_at: one.confirmedAtMs === null ? null : microInstant(one.confirmedAtMs),
    airline_credits:
      one.to === 'airline_credits'
        ? [{ id: ids.hashed('acd', one.id), credit_amount: amount, credit_currency: one.currency, issued_on: null }]
        : [],
  };
}
