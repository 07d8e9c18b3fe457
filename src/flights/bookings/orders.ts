import { problem } from '../../kernel/problems.ts';
import type { PaidCall } from '../../payments/index.ts';
import { createAttempts, type FlightsPorts } from '../base/index.ts';
import { configured } from '../offers/index.ts';
import { isCodeOf, normalisedCode, supportCodeHmac } from './identity.ts';
import { keepCurrent } from './order-changes.ts';

/** GET /air/orders/{order_id}: how the airline's order stands now. */
export function createOrders(ports: FlightsPorts) {
  const { store, secrets } = ports;
  const judge = createAttempts(ports);

  /**
   * Problems, all before settlement: `support_code_required`, `order_not_found`, `support_code_mismatch`,
   * `too_many_attempts`, `provider_failed`, `upstream_rate_limited`.
   */
  return function order(orderId: string, code: string | null, url: string, client: string): PaidCall {
    const find = () =>
      store
        .selectFrom('orders')
        .innerJoin('intents', 'intents.intent_id', 'orders.intent_id')
        .select([
          'orders.order_id',
          'orders.provider_order_id',
          'orders.document',
          'orders.changed_at_ms',
          'orders.cancelled_by',
          'intents.intent_id',
          'intents.passenger_count',
          'intents.support_code_hmac',
        ])
        .where('orders.order_id', '=', orderId)
        // A refunded one had a ticket, and shows that it is cancelled; one that is not captured yet is not shown.
        .where('intents.status', 'in', ['booked', 'refunded'])
        .executeTakeFirst();
    return {
      resource: `GET /air/orders/${orderId}`,
      url,
      // The code decides the answer, so a payment is bound to it; only its keyed hash goes further.
      request: { order_id: orderId, support_code: supportCodeHmac(secrets, normalisedCode(code ?? '')) },
      settle: 'after',
      async check() {
        if (code === null || code.trim() === '') throw problem('support_code_required');
        const row = await find();
        if (!row) throw problem('order_not_found');
        const isRight = await judge({ intentId: row.intent_id, client }, () => isCodeOf(secrets, row, code));
        if (!isRight) throw problem('support_code_mismatch');
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
        return { status: 200, body: await keepCurrent(ports, row, fresh) };
      },
    };
  };
}
