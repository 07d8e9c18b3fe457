import { isProblem } from '../kernel/problems.ts';
import { askAirline } from './airline-word.ts';
import type { Next } from './claims.ts';
import { concludeOrderEffect } from './order-effect.ts';
import type { FlightsPorts } from './ports.ts';
import type { ProviderOrder } from './providers/provider.ts';
import type { IntentRow } from './rows.ts';

/**
 * A person said that there is no ticket; the airline is asked once more before the refund is signed, and what it still
 * holds is cancelled. A confirmation that came meanwhile wins: the booking goes on to its ticket.
 * @returns null when the money may go back
 */
export async function lateTicket(ports: FlightsPorts, intent: IntentRow): Promise<Next | null> {
  if ((await ports.effects.standing('refund', intent.intent_id)) !== 'none') return null;
  const word = await askAirline(ports, intent);
  if (typeof word === 'string') return null;
  const order = await cancelled(ports, word);
  if (order.status !== 'ticketed') return null;
  ports.log('warn', 'late_confirmation', { intent_id: intent.intent_id });
  return {
    booking: {
      state: 'ticketing',
      refund_reason: null,
      provider_order_id: order.providerOrderId,
    },
    also: (tx) =>
      concludeOrderEffect(tx, intent.intent_id, { orderId: order.providerOrderId }, ports.clock.now()),
  };
}

/** An order that may still be ticketed is cancelled first, where the airline does that. */
async function cancelled(ports: FlightsPorts, order: ProviderOrder): Promise<ProviderOrder> {
  const isOpen = order.status === 'pending' || order.status === 'confirmed';
  if (!isOpen || !ports.provider) return order;
  try {
    return await ports.provider.cancel(order.providerOrderId);
  } catch (error) {
    if (!isProblem(error)) throw error;
    // The operator's word stands: the airline was asked by a person, and its interface is of no use here.
    ports.log('warn', 'order_not_cancelled', {
      intent_id: order.reference,
      error_code: error.code,
    });
    return order;
  }
}
