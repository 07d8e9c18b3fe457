import { microInstant } from './dress.ts';
import { type Issue, invalid, refused } from './errors.ts';
import { checkPaid, readPayment, readServices } from './order-checks.ts';
import { awaitsPayment, dressedOrder, flownOffer, listedOrder, liveOrder, orderSegments } from './order-shape.ts';
import { addToBalance, type Calls, data, linkedOrder, listOf, type Sandbox } from './sandbox.ts';
import { servicesOf } from './services.ts';

/** Payments after an order: of one that was held, and of services that are added to it. */
export const paymentCalls: Calls = {
  // Pays an order that is held; its tickets are issued then.
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
    return data(servicesOf(asked.ids, flownOffer(asked, order), 0).map((service) => ({ ...service, segment_ids })));
  },
  // Adds bags to an order, and takes their price.
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

/** Takes an exact amount from the balance. @throws ApiError, and nothing was taken */
export function pay(sandbox: Sandbox, currency: string, cents: number, payment: unknown): void {
  const issues: Issue[] = [];
  const paid = readPayment(listOf([payment]), issues);
  if (issues.length > 0) throw invalid(...issues);
  checkPaid(paid, currency, cents);
  if ((sandbox.books.settings.get('balance') ?? Infinity) < cents) throw refused('insufficient_balance');
  addToBalance(sandbox, -cents);
}
