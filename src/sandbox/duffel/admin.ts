import { type HttpResponse, json } from '../../kernel/http.ts';
import { centsOf, decimalOf } from '../airline/index.ts';
import { BEHAVIOURS, type SwitchName, TEST_ROUTES } from './behaviours.ts';
import type { OrderRecord } from './books.ts';
import { moveFlights } from './change-calls.ts';
import { changesOf, isListed, isTicketed, minutesMoved } from './order-shape.ts';
import { type Calls, foundOffer, type Sandbox } from './sandbox.ts';

const SWITCHES = Object.keys(BEHAVIOURS) as readonly SwitchName[];

/** The sandbox's own switches and books; no token is needed. */
export const adminCalls: Calls = {
  'GET /sandbox/behaviours': async (asked) => showBehaviours(asked),
  // `{"order": "cut_after"}` for all orders, `{"order": ["cut_after", "normal"]}` for the next two.
  'POST /sandbox/behaviours': async (asked) => {
    const { books } = asked;
    const given = await asked.data();
    for (const [name, wanted] of Object.entries(given)) {
      const found = SWITCHES.find((one) => one === name);
      if (!found) return json({ error: `There are ${SWITCHES.join(', ')}.` }, 400);
      const known: readonly string[] = BEHAVIOURS[found];
      const list = Array.isArray(wanted) ? wanted.map(String) : [String(wanted)];
      if (!list.every((one) => known.includes(one)))
        return json({ error: `${name} is one of ${known.join(', ')}.` }, 400);
    }
    for (const name of SWITCHES) {
      const wanted = given[name];
      if (Array.isArray(wanted)) books.turn(name, { always: books.switchOf(name).always, next: wanted.map(String) });
      else if (wanted !== undefined) books.turn(name, { always: String(wanted), next: [] });
    }
    return showBehaviours(asked);
  },
  // `balance` (null: unlimited), `least_offers`, `rate_limit` (calls a minute, null: 4000).
  'POST /sandbox/settings': async (asked) => {
    const { settings } = asked.books;
    const { balance, least_offers, rate_limit } = await asked.data();
    const cents = centsOf(balance);
    if (balance !== undefined && balance !== null && cents === null)
      return json({ error: 'balance is an amount such as "500.00", or null.' }, 400);
    const wanted = {
      balance: balance === undefined ? undefined : cents,
      least_offers: countOf(least_offers),
      rate_limit: countOf(rate_limit),
    };
    for (const [name, value] of Object.entries(wanted)) {
      if (value === null) settings.drop(name);
      else if (value !== undefined) settings.put(name, value);
    }
    return showBehaviours(asked);
  },
  // Lists all orders that exist, and all tries.
  'GET /sandbox/orders': async (asked) =>
    json({
      orders: asked.books.orders.all().map((order) => shownOrder(asked, order)),
      attempts: asked.books.attempts
        .all()
        .map(({ number, atMs, offerId, reference, behaviour, status, code, orderId }) => ({
          number,
          at: new Date(atMs).toISOString(),
          offer_id: offerId,
          reference,
          behaviour,
          status,
          code,
          order_id: orderId,
        })),
      balance: balanceText(asked),
    }),
  // Cancels an order as the airline, and reports it by webhook.
  'POST /sandbox/orders/{id}/airline_cancellation': async (asked, id) => {
    const { books, clock } = asked;
    const order = books.orders.need(id);
    const change = moveFlights(asked, order, 0);
    books.orders.put(id, { ...order, cancelledAtMs: clock.now() });
    return json({ change_id: change.id, order_id: id });
  },
  'POST /sandbox/orders/{id}/schedule_change': async (asked, id) => {
    const order = asked.books.orders.need(id);
    const { minutes } = await asked.data();
    const change = moveFlights(asked, order, typeof minutes === 'number' ? Math.round(minutes) : 60);
    return json({ change_id: change.id, order_id: id, minutes: change.movedMinutes });
  },
};

function showBehaviours(sandbox: Sandbox): HttpResponse {
  const { settings, switchOf } = sandbox.books;
  return json({
    behaviours: Object.fromEntries(SWITCHES.map((name) => [name, switchOf(name)])),
    names: BEHAVIOURS,
    routes: TEST_ROUTES,
    settings: {
      balance: balanceText(sandbox),
      least_offers: settings.get('least_offers') ?? 0,
      rate_limit: settings.get('rate_limit') ?? null,
    },
  });
}

const countOf = (given: unknown): number | null | undefined =>
  given === undefined ? undefined : typeof given === 'number' && given >= 0 ? Math.floor(given) : null;

function balanceText({ books }: Sandbox): string | null {
  const cents = books.settings.get('balance');
  return cents === undefined ? null : decimalOf(cents);
}

function shownOrder(sandbox: Sandbox, order: OrderRecord): object {
  const found = foundOffer(sandbox, order.offerId);
  const { refund } = order;
  return {
    order_id: order.id,
    offer_id: order.offerId,
    reference: order.metadata.reference ?? null,
    metadata: order.metadata,
    owner: found?.ownerName ?? null,
    booking_reference: order.bookingReference,
    passenger_count: found?.request.ages.length ?? null,
    total_amount: decimalOf(order.totalCents),
    total_currency: order.currency,
    created_at: new Date(order.createdAtMs).toISOString(),
    is_listed: isListed(sandbox, order),
    is_ticketed: isTicketed(sandbox, order),
    minutes_moved: minutesMoved(changesOf(sandbox, order)),
    cancelled_at: order.cancelledAtMs === null ? null : new Date(order.cancelledAtMs).toISOString(),
    refund: refund && {
      amount: refund.cents === null ? null : decimalOf(refund.cents),
      currency: refund.currency,
      to: refund.to,
    },
  };
}
