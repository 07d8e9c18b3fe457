import type { HttpResponse } from '../../kernel/http.ts';
import type { BookedService, OrderRecord } from './books.ts';
import { microInstant } from './dress.ts';
import { type Issue, invalid, refused } from './errors.ts';
import { listedOrder } from './order-calls.ts';
import { readPayment, readServices } from './order-checks.ts';
import { awaitsPayment, dressedOrder, flownOffer, orderSegments } from './order-shape.ts';
import { type Asked, data, type Sandbox } from './sandbox.ts';
import { listOf } from './search-calls.ts';
import { servicesOf } from './services.ts';

/** What is paid after an order: one that was held, and services that are added to it. */

/** POST /air/payments: pays an order that is held; its tickets are issued then. */
export async function createPayment(asked: Asked): Promise<HttpResponse> {
  const { sandbox } = asked;
  const { books, clock, ids } = sandbox;
  const { order_id, payment } = await asked.data();
  const known = typeof order_id === 'string' ? books.orders.get(order_id) : undefined;
  if (!known)
    throw invalid([
      { at: 'order_id', code: 'linked_record_not_found', message: 'must be the ID of an existing order' },
    ]);
  const order = listedOrder(sandbox, known.id);
  if (order.cancelledAtMs !== null) throw refused('already_cancelled');
  if (!awaitsPayment(order)) throw refused('already_paid');
  const nowMs = clock.now();
  if (nowMs >= (order.heldUntilMs ?? 0)) throw refused('past_payment_required_by_date');
  pay(sandbox, order.currency, order.totalCents, payment);
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
}

/** Takes an exact amount from the balance. @throws ApiError, and nothing was taken */
export function pay({ books }: Sandbox, currency: string, cents: number, payment: unknown): void {
  const issues: Issue[] = [];
  const paid = readPayment(listOf([payment]), issues);
  if (issues.length > 0) throw invalid(issues);
  if (paid.currency !== currency) throw refused('payment_currency_does_not_match_order_currency');
  if (paid.cents !== cents) throw refused('payment_amount_does_not_match_order_amount');
  const balance = books.settings.get('balance');
  if (balance === undefined) return;
  if (balance < cents) throw refused('insufficient_balance');
  books.settings.put('balance', balance - cents);
}

/** GET /air/orders/{id}/available_services */
export async function availableServices({ sandbox }: Asked, id: string): Promise<HttpResponse> {
  const order = listedOrder(sandbox, id);
  const { request, offer } = flownOffer(sandbox, order);
  const services = servicesOf(sandbox.ids, request, offer, 0);
  return data(services.map((service) => ({ ...service, segment_ids: orderSegments(sandbox, order) })));
}

/** POST /air/orders/{id}/services: adds bags to an order, and takes their price. */
export async function addServices(asked: Asked, id: string): Promise<HttpResponse> {
  const { sandbox } = asked;
  const order = listedOrder(sandbox, id);
  if (order.cancelledAtMs !== null) throw refused('already_cancelled');
  const { add_services, payment } = await asked.data();
  const { request, offer } = flownOffer(sandbox, order);
  const issues: Issue[] = [];
  const added = readServices(sandbox, request, offer, listOf(add_services), issues);
  if (added.length === 0 && issues.length === 0)
    issues.push({ at: 'add_services', code: 'validation_required', message: "can't be blank" });
  if (issues.length > 0) throw invalid(issues);
  const cents = added.reduce((sum, { totalCents }) => sum + totalCents, 0);
  pay(sandbox, order.currency, cents, payment);
  return data(dressedOrder(sandbox, sandbox.books.orders.put(id, withServices(order, added, cents))), 201);
}

const withServices = (order: OrderRecord, added: readonly BookedService[], cents: number): OrderRecord => ({
  ...order,
  services: [...order.services, ...added],
  totalCents: order.totalCents + cents,
});
