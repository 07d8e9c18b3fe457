import { problem } from '../kernel/problems.ts';
import { sameSecret } from '../kernel/secrets.ts';
import type { PaidCall } from '../payments/terms.ts';
import { supportCodeHmac } from './intents.ts';
import { configured } from './live-offer.ts';
import { orderRecord } from './order-record.ts';
import type { FlightsPorts } from './ports.ts';

const MOST_WRONG = 5;
const WINDOW_MS = 15 * 60_000;
/** Wrong tries of a day make the window longer, up to four hours: guessing slows down, its owner gets in again. */
const REMEMBERED_MS = 24 * 3_600_000;
const MOST_DOUBLINGS = 4;

/** GET /air/orders/{order_id}: how the airline's order stands now. */
export function createOrders(ports: FlightsPorts) {
  const { store, clock, secrets } = ports;

  /**
   * Problems, all before settlement: `support_code_required`, `order_not_found`, `support_code_mismatch`,
   * `too_many_attempts`, `provider_failed`, `upstream_rate_limited`.
   */
  return function order(orderId: string, code: string | null, url: string): PaidCall {
    const find = () =>
      store
        .selectFrom('orders')
        .innerJoin('intents', 'intents.intent_id', 'orders.intent_id')
        .select([
          'orders.order_id',
          'orders.provider_order_id',
          'intents.intent_id',
          'intents.passenger_count',
          'intents.support_code_hmac',
        ])
        .where('orders.order_id', '=', orderId)
        .where('intents.status', '=', 'booked')
        .executeTakeFirst();
    return {
      resource: `GET /air/orders/${orderId}`,
      url,
      // The code decides the answer, so a payment is bound to it; only its keyed hash goes further.
      request: { order_id: orderId, support_code: supportCodeHmac(secrets, normalised(code ?? '')) },
      settle: 'after',
      async check() {
        if (code === null || code.trim() === '') throw problem('support_code_required');
        const row = await find();
        if (!row) throw problem('order_not_found');
        await checkAttempts(row.intent_id);
        if (!sameSecret(row.support_code_hmac, supportCodeHmac(secrets, normalised(code)))) {
          await noteWrong(row.intent_id);
          throw problem('support_code_mismatch');
        }
        return {
          amount: ports.options.orderPrice,
          payTo: ports.treasury,
          asset: ports.mint,
          description: 'Status of one airline order',
        };
      },
      async perform() {
        const row = await find();
        if (!row) throw problem('order_not_found');
        const fresh = await configured(ports.provider).order(row.provider_order_id);
        const body = orderRecord(row.order_id, row.passenger_count, fresh);
        await store
          .updateTable('orders')
          .set({ document: JSON.stringify(body), updated_at_ms: clock.now() })
          .where('order_id', '=', row.order_id)
          .execute();
        return { status: 200, body };
      },
    };
  };

  /** @throws Problem `too_many_attempts`, until enough of the wrong tries lie far enough back */
  async function checkAttempts(intentId: string): Promise<void> {
    const nowMs = clock.now();
    const wrong = await store
      .selectFrom('wrong_codes')
      .select('at_ms')
      .where('subject', '=', intentId)
      .where('at_ms', '>', nowMs - REMEMBERED_MS)
      .orderBy('at_ms', 'desc')
      .limit(MOST_WRONG * (MOST_DOUBLINGS + 1))
      .execute();
    const oldest = wrong[MOST_WRONG - 1];
    if (!oldest) return;
    const doublings = Math.floor(wrong.length / MOST_WRONG) - 1;
    const waitMs = oldest.at_ms + WINDOW_MS * 2 ** doublings - nowMs;
    if (waitMs > 0) throw problem('too_many_attempts', { retryAfter: Math.ceil(waitMs / 1000) });
  }

  async function noteWrong(intentId: string): Promise<void> {
    const nowMs = clock.now();
    await store
      .deleteFrom('wrong_codes')
      .where('at_ms', '<=', nowMs - REMEMBERED_MS)
      .execute();
    await store
      .insertInto('wrong_codes')
      .values({ id: ports.ids.next('req'), subject: intentId, at_ms: nowMs })
      .execute();
  }
}

/** A code read aloud or typed: case and spaces don't count. */
const normalised = (code: string): string => code.trim().toUpperCase();
