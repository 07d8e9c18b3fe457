import type { ProviderOrder } from '../../airlines/index.ts';
import { DAY_MS } from '../../kernel/clock.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import { type BookingRow, type FlightsPorts, type IntentRow, pageAlone, type Store, type Tx } from '../base/index.ts';
import { isLowcost, knownAs } from '../offers/index.ts';
import { MOST_QUESTIONS, type Next, NOT_TICKETED, stuck } from './machine.ts';
import { purchaseOrder } from './order-record.ts';

/** The airline's answer. `none`: it has no order. `unknown`: it does not answer. */
export type AirlineWord = ProviderOrder | 'none' | 'unknown';

/** Asks the airline, or the web site that sold the ticket, about an intent's order. */
export async function askAirline(ports: FlightsPorts, intent: IntentRow): Promise<AirlineWord> {
  try {
    if (!isLowcost(intent.offer_id)) {
      if (!ports.provider) return 'unknown';
      return (await ports.provider.findOrder(intent.intent_id, intent.offer_id)) ?? 'none';
    }
    if (!ports.lowcost) return 'unknown';
    const outcome = await ports.lowcost.find(intent.intent_id);
    return outcome ? purchaseOrder(intent, outcome) : 'none';
  } catch (error) {
    ports.log('warn', 'airline_silent', {
      intent_id: intent.intent_id,
      error_code: isProblem(error) ? error.code : error instanceof Error ? error.name : 'unknown',
    });
    return 'unknown';
  }
}

export const statusOf = (word: AirlineWord): ProviderOrder['status'] | 'none' | 'unknown' =>
  typeof word === 'string' ? word : word.status;

/** The last attempt at an order, with any outcome. There are few, so sorting them here needs no index. */
async function lastOrderEffect(on: Store, intentId: string) {
  const attempts = await on
    .selectFrom('effects')
    .select(['effect_id', 'state', 'attempt'])
    .where('subject', '=', intentId)
    .where('kind', '=', 'airline_order')
    .execute();
  return attempts.sort((a, b) => a.attempt - b.attempt).at(-1);
}

/** Ends the last order attempt of an intent, if any, after a person's decision or a late confirmation. */
export async function concludeOrderEffect(
  tx: Tx,
  intentId: string,
  made: { readonly orderId: string } | null,
  nowMs: number,
): Promise<void> {
  const last = await lastOrderEffect(tx, intentId);
  if (!last) return;
  const ended = made
    ? ({ state: 'done', live_key: `airline_order:${intentId}`, result: made.orderId, error: null } as const)
    : ({ state: 'failed', live_key: null, error: 'decided_not_ticketed' } as const);
  await tx
    .updateTable('effects')
    .set({ ...ended, updated_at_ms: nowMs })
    .where('effect_id', '=', last.effect_id)
    .execute();
}

/**
 * Asks the airline before a refund of a booking without a known order, or after a person decided that no ticket exists.
 * A found order wins, but after a person's decision an unticketed one is cancelled first. A silent airline keeps the
 * money of a refused order in escrow, but not that of a booking never ordered. @returns null if the refund can go on
 * @throws Problem `provider_failed` while the airline does not answer
 */
export async function lateTicket(
  ports: FlightsPorts,
  booking: BookingRow,
  intent: IntentRow,
  fence: () => Promise<void>,
): Promise<Next<'ticketing' | 'stuck'> | null> {
  const byPerson = booking.refund_reason === NOT_TICKETED;
  const last = await lastOrderEffect(ports.store, intent.intent_id);
  if (!byPerson && last !== undefined && last.state !== 'failed') return null;
  if ((await ports.effects.standing('refund', intent.intent_id)) !== 'none') return null;
  const word = await askAirline(ports, intent);
  if (word === 'none' || (word === 'unknown' && (byPerson || last === undefined))) return null;
  if (word === 'unknown') return askedAgain(booking, 'outcome_unknown');
  await fence();
  const order = byPerson ? await cancelled(ports, word) : word;
  if (order.status === 'cancelled' || order.status === 'failed') return null;
  if (byPerson && order.status !== 'ticketed') {
    // A carrier does not show an unconfirmed purchase on its web site as an order.
    const isShown = order.status === 'confirmed' || !isLowcost(intent.offer_id);
    return isShown ? askedAgain(booking, 'order_not_cancelled') : null;
  }
  ports.log('warn', 'late_confirmation', { intent_id: intent.intent_id });
  return {
    to: 'ticketing',
    change: { refund_reason: null, provider_order_id: order.providerOrderId },
    also: (tx) => concludeOrderEffect(tx, intent.intent_id, { orderId: order.providerOrderId }, ports.clock.now()),
  };
}

/** Keeps the money where it is. After enough questions a person decides. */
function askedAgain({ attempts }: BookingRow, why: string): Next<'stuck'> {
  if (attempts >= MOST_QUESTIONS) return stuck(why);
  throw problem('provider_failed');
}

/** How long after a refund we check that the airline has no order after all. */
const LOOKED_FOR_MS = 3 * DAY_MS;

/** Cancels an unticketed order found after a refund, and pages about a ticket, a loss. @returns true to stop looking */
export async function lookForLateTicket(ports: FlightsPorts, intent: IntentRow, endedForMs: number): Promise<boolean> {
  const word = await askAirline(ports, intent);
  const isLast = endedForMs >= LOOKED_FOR_MS;
  if (word === 'none') return isLast;
  if (word === 'unknown') {
    if (isLast) await tell(ports, intent, 'does not say whether it holds an order. Check with the airline', null);
    return isLast;
  }
  const order = await cancelled(ports, word);
  if (order.status === 'cancelled' || order.status === 'failed') return isLast;
  ports.log('error', 'ticket_after_refund', { intent_id: intent.intent_id, status: order.status });
  const held = `now holds ${knownAs(order.providerOrderId)} (${order.status}). Cancel it with the airline`;
  await tell(ports, intent, held, order);
  // A ticket was paged, and is left to a person. An order without a ticket is cancelled again next time.
  return order.status === 'ticketed' || isLast;
}

const tell = (ports: FlightsPorts, { intent_id }: IntentRow, what: string, order: ProviderOrder | null) =>
  pageAlone(ports, 'ticket_after_refund', intent_id, {
    intentId: intent_id,
    text: `The money of ${intent_id} has gone back, and the airline ${what}.`,
    fields: { intent_id, provider_order_id: order?.providerOrderId ?? null, status: order?.status ?? null },
  });

/** Tries to cancel an order that may still be ticketed. Returns its latest known state. */
async function cancelled(ports: FlightsPorts, order: ProviderOrder): Promise<ProviderOrder> {
  const isOpen = order.status === 'pending' || order.status === 'confirmed';
  if (!isOpen || !ports.provider) return order;
  try {
    return await ports.provider.cancel(order.providerOrderId);
  } catch (error) {
    if (!isProblem(error)) throw error;
    ports.log('warn', 'order_not_cancelled', { intent_id: order.reference, error_code: error.code });
    return order;
  }
}
