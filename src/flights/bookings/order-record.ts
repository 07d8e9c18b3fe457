import type { ProviderOrder } from '../../airlines/index.ts';
import { instant } from '../../kernel/clock.ts';
import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { regained } from '../../store/base/index.ts';
import type { Order } from '../../wire/flights/index.ts';
import type { FlightsPorts, IntentRow } from '../base/index.ts';

/** The order as the wire shows it (CONTRACT, section 7): no names. */
export function orderRecord(orderId: string, passengerCount: number, order: ProviderOrder): Order {
  return {
    order_id: orderId,
    booking_reference: order.bookingReference,
    // A failed order is one that the airline no longer holds.
    status: order.status === 'failed' ? 'cancelled' : order.status,
    passenger_count: passengerCount,
    total_amount_decimal: formatUsdc(parseUsdc(order.totalAmountDecimal)),
    total_currency: order.totalCurrency,
    documents: order.documents.map(({ type, number }) => ({ type, number })),
    slices: [...order.slices],
    created_at: instant(order.createdAtMs),
    updated_at: instant(order.updatedAtMs),
  };
}

/** The orders that bookings ended in: one an intent. */
export function createOrderBook({ store, ids, clock }: Pick<FlightsPorts, 'store' | 'ids' | 'clock'>) {
  return {
    /** Writes a ticketed order down, in a transaction when one is given; again is harmless. */
    async keep(intent: IntentRow, order: ProviderOrder, on: FlightsPorts['store'] = store): Promise<void> {
      const orderId = ids.next('ord');
      const nowMs = clock.now();
      // The airline tells it again, until the booking's own end is on the disk.
      await regained(on)
        .insertInto('orders')
        .values({
          order_id: orderId,
          intent_id: intent.intent_id,
          provider_order_id: order.providerOrderId,
          document: JSON.stringify(orderRecord(orderId, intent.passenger_count, order)),
          created_at_ms: nowMs,
          updated_at_ms: nowMs,
        })
        .onConflict((conflict) => conflict.column('intent_id').doNothing())
        .execute();
    },

    /** The order as it was kept. */
    async of(intent: Pick<IntentRow, 'intent_id'>): Promise<Order> {
      const row = await store
        .selectFrom('orders')
        .select('document')
        .where('intent_id', '=', intent.intent_id)
        .executeTakeFirstOrThrow();
      return JSON.parse(row.document) as Order;
    },
  };
}
