import type { ClientStore, NotedIntent, PaymentRecord } from '../../client/journal/index.ts';
import { dayAndMonth, isRecord } from '../../terminal/index.ts';
import { notesOf } from '../session/index.ts';

/** Payments and movements in words: what was bought, for which journey. */

/** `LIS → BER 22 Dec` of an intent that this home remembers; its id where nothing is noted of it. */
export function journeyWords(intent: NotedIntent): string {
  const { route, departure_date: date } = notesOf(intent);
  if (route === undefined) return intent.intentId;
  return `${route.replace('-', ' → ')}${date === undefined ? '' : ` ${dayAndMonth(date)}`}`;
}

/** Names what a payment was for, from the request that it paid: `search LIS → BER`, `booking LIS → BER 22 Dec`. */
export async function paidForWords(store: ClientStore, payment: PaymentRecord): Promise<string> {
  const signed = await store.signedPayment(payment.payment_id);
  const body = isRecord(signed?.request.body) ? signed.request.body : {};
  const said = (name: string): string | null => (typeof body[name] === 'string' ? body[name] : null);
  const about = (found: NotedIntent | undefined, otherwise: string | null): string =>
    found ? ` ${journeyWords(found)}` : otherwise === null ? '' : ` ${otherwise}`;
  const byId = async (id: string | null) => (id === null ? undefined : store.intent(id));
  const by = async (what: 'offer' | 'order', id: string | null) =>
    id === null ? undefined : store.notedOf({ by: what, is: [id] });
  const path = payment.resource.replace(/^\w+ /, '').split('?')[0] ?? '';
  switch (path) {
    case '/air/search': {
      const [from, to] = [said('origin_iata'), said('destination_iata')];
      const day = said('depart_date');
      return from && to ? `search ${from} → ${to}${day ? ` ${dayAndMonth(day)}` : ''}` : 'search';
    }
    case '/air/offer-details':
      return `fresh price${about(await by('offer', said('offer_id')), null)}`;
    case '/air/intents':
      return `lock${about(await by('offer', said('offer_id')), null)}`;
    case '/air/book':
      return `booking${about(await byId(said('intent_id')), said('intent_id'))}`;
    case '/air/refund-requests':
      return `refund request${about(await byId(said('intent_id')), said('intent_id'))}`;
    default: {
      const order = /^\/air\/orders\/([^/]+)$/.exec(path)?.[1];
      return order === undefined ? payment.resource : `order details${about(await by('order', order), order)}`;
    }
  }
}
