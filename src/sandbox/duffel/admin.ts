import { type HttpResponse, json } from '../../kernel/http.ts';
import { BEHAVIOURS, type SwitchName, TEST_ROUTES } from './behaviours.ts';
import type { OrderRecord } from './books.ts';
import { moveFlights } from './change-calls.ts';
import { refused } from './errors.ts';
import { amountOf, centsOf } from './money.ts';
import { changesOf, isListed, minutesMoved } from './order-shape.ts';
import { type Asked, foundOffer, type Sandbox } from './sandbox.ts';

/** The sandbox's own calls: its switches, and its books as they are. They ask for no token. */

const SWITCHES = Object.keys(BEHAVIOURS) as readonly SwitchName[];

/** GET /sandbox/behaviours */
export async function showBehaviours({ sandbox }: Asked): Promise<HttpResponse> {
  const { books } = sandbox;
  return json({
    behaviours: Object.fromEntries(SWITCHES.map((name) => [name, books.switchOf(name)])),
    names: BEHAVIOURS,
    routes: TEST_ROUTES,
    settings: {
      balance: balanceText(sandbox),
      least_offers: books.settings.get('least_offers') ?? 0,
      rate_limit: books.settings.get('rate_limit') ?? null,
    },
  });
}

/** POST /sandbox/behaviours: `{"order": "cut_after"}` for good, `{"order": ["cut_after", "normal"]}` for the next ones. */
export async function turnBehaviours(asked: Asked): Promise<HttpResponse> {
  const { books } = asked.sandbox;
  const given = await asked.data();
  for (const [name, wanted] of Object.entries(given)) {
    const found = SWITCHES.find((one) => one === name);
    const list = Array.isArray(wanted) ? wanted.map(String) : [String(wanted)];
    const known: readonly string[] = found ? BEHAVIOURS[found] : [];
    const stranger = list.find((one) => !known.includes(one));
    if (!found || stranger !== undefined)
      return json(
        { error: found ? `${name} is one of ${known.join(', ')}.` : `There are ${SWITCHES.join(', ')}.` },
        400,
      );
  }
  for (const name of SWITCHES) {
    const wanted = given[name];
    if (Array.isArray(wanted)) books.turn(name, { always: books.switchOf(name).always, next: wanted.map(String) });
    else if (wanted !== undefined) books.turn(name, { always: String(wanted), next: [] });
  }
  return showBehaviours(asked);
}

/** POST /sandbox/settings: `balance` (null: unlimited), `least_offers`, `rate_limit` (calls a minute, null: 4000). */
export async function changeSettings(asked: Asked): Promise<HttpResponse> {
  const { books } = asked.sandbox;
  const { balance, least_offers, rate_limit } = await asked.data();
  const cents = centsOf(balance);
  if (balance !== undefined && balance !== null && cents === null)
    return json({ error: 'balance is an amount such as "500.00", or null.' }, 400);
  const wanted: [string, number | null | undefined][] = [
    ['balance', balance === undefined ? undefined : cents],
    ['least_offers', countOf(least_offers)],
    ['rate_limit', countOf(rate_limit)],
  ];
  for (const [name, value] of wanted) {
    if (value === null) books.settings.drop(name);
    else if (value !== undefined) books.settings.put(name, value);
  }
  return showBehaviours(asked);
}

const countOf = (given: unknown): number | null | undefined =>
  given === undefined ? undefined : typeof given === 'number' && given >= 0 ? Math.floor(given) : null;

const balanceText = ({ books }: Sandbox): string | null => {
  const cents = books.settings.get('balance');
  return cents === undefined ? null : amountOf(cents);
};

/** GET /sandbox/orders: what was really ordered, seen by the API or not, and every try. */
export async function showOrders({ sandbox }: Asked): Promise<HttpResponse> {
  const { books } = sandbox;
  return json({
    orders: books.orders.all().map((order) => shownOrder(sandbox, order)),
    attempts: books.attempts
      .all()
      .map((attempt) => ({
        number: attempt.number,
        at: new Date(attempt.atMs).toISOString(),
        offer_id: attempt.offerId,
        reference: attempt.reference,
        behaviour: attempt.behaviour,
        status: attempt.status,
        code: attempt.code,
        order_id: attempt.orderId,
      })),
    balance: balanceText(sandbox),
  });
}

function shownOrder(sandbox: Sandbox, order: OrderRecord): object {
  const { clock } = sandbox;
  const found = foundOffer(sandbox, order.offerId);
  const nowMs = clock.now();
  return {
    order_id: order.id,
    offer_id: order.offerId,
    reference: order.metadata.reference ?? null,
    metadata: order.metadata,
    owner: found?.offer.ownerName ?? null,
    booking_reference: order.bookingReference,
    passenger_count: found?.request.ages.length ?? null,
    total_amount: amountOf(order.totalCents),
    total_currency: order.currency,
    created_at: new Date(order.createdAtMs).toISOString(),
    is_listed: isListed(order, nowMs),
    is_ticketed: order.ticketedAtMs !== null && nowMs >= order.ticketedAtMs,
    minutes_moved: minutesMoved(changesOf(sandbox, order.id)),
    cancelled_at: order.cancelledAtMs === null ? null : new Date(order.cancelledAtMs).toISOString(),
    refund:
      order.refund === null
        ? null
        : {
            amount: order.refund.cents === null ? null : amountOf(order.refund.cents),
            currency: order.refund.currency,
            to: order.refund.to,
          },
  };
}

/** POST /sandbox/orders/{id}/airline_cancellation: the airline ends an order itself, and a webhook tells of a change. */
export async function cancelByAirline({ sandbox }: Asked, id: string): Promise<HttpResponse> {
  const order = sandbox.books.orders.get(id);
  if (!order) throw refused('not_found');
  const { id: changeId } = moveFlights(sandbox, order, 0);
  sandbox.books.orders.put(id, { ...order, cancelledAtMs: sandbox.clock.now() });
  return json({ change_id: changeId, order_id: id });
}

/** POST /sandbox/orders/{id}/schedule_change: `{"minutes": 90}` */
export async function changeSchedule(asked: Asked, id: string): Promise<HttpResponse> {
  const order = asked.sandbox.books.orders.get(id);
  if (!order) throw refused('not_found');
  const { minutes } = await asked.data();
  const change = moveFlights(asked.sandbox, order, typeof minutes === 'number' ? Math.round(minutes) : 60);
  return json({ change_id: change.id, order_id: id, minutes: change.movedMinutes });
}
