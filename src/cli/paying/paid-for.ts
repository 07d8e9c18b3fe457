import type { ClientStore, NotedIntent, PaymentRecord } from '../../client/journal/index.ts';
import { dayAndMonth, isRecord } from '../../terminal/index.ts';
import { notesOf, type Session } from '../session/index.ts';

/** `LIS → BER 22 Dec`, or the id of an intent whose route was not noted. */
export function journeyWords(intent: NotedIntent): string {
  const { route, departure_date: date } = notesOf(intent);
  return route === undefined ? intent.intentId : routeWords(route, date);
}

const routeWords = (route: string, date?: string): string =>
  `${route.replace('-', ' → ')}${date === undefined ? '' : ` ${dayAndMonth(date)}`}`;

/**
 * Names what a payment was for, from the request that it paid: `search LIS → BER`, `booking LIS → BER 22 Dec`. The
 * journey of an offer that was not locked comes from the last lists.
 */
export async function paidForWords(
  store: ClientStore,
  { recentOffers }: Pick<Session, 'recentOffers'>,
  payment: PaymentRecord,
): Promise<string> {
  const signed = await store.signedPayment(payment.payment_id);
  const body = isRecord(signed?.request.body) ? signed.request.body : {};
  const said = (name: string): string | null => (typeof body[name] === 'string' ? body[name] : null);
  const about = (found: NotedIntent | undefined, otherwise: string | null): string =>
    found ? ` ${journeyWords(found)}` : otherwise === null ? '' : ` ${otherwise}`;
  const by = async (what: 'offer' | 'order', id: string | null) =>
    id === null ? undefined : store.notedOf({ by: what, is: [id] });
  const path = payment.resource.replace(/^\w+ /, '').split('?')[0] ?? '';
  switch (path) {
    case '/air/search': {
      const [from, to] = [said('origin_iata'), said('destination_iata')];
      if (Array.isArray(body.slices)) return `search ${citiesOf(body.slices)}`;
      const day = said('depart_date');
      return from && to ? `search ${from} → ${to}${day ? ` ${dayAndMonth(day)}` : ''}` : 'search';
    }
    case '/air/offer-details':
    case '/air/intents': {
      const offerId = said('offer_id');
      const listed = offerId === null ? null : recentOffers.journey(offerId);
      const journey = listed && routeWords(listed.route, listed.departureDate);
      const bought = path === '/air/intents' ? 'lock' : readingOf(offerId);
      return `${bought}${about(await by('offer', offerId), journey)}`;
    }
    case '/air/book':
    case '/air/refund-requests': {
      const intentId = said('intent_id');
      const intent = intentId === null ? undefined : await store.intent(intentId);
      return `${path === '/air/book' ? 'booking' : 'refund request'}${about(intent, intentId)}`;
    }
    default: {
      const order = /^\/air\/orders\/([^/]+)$/.exec(path)?.[1];
      return order === undefined ? payment.resource : `order details${about(await by('order', order), order)}`;
    }
  }
}

/** The same call sells the fare menu of a low-cost offer and the fresh price of any other. */
const readingOf = (offerId: string | null): string =>
  offerId === null ? 'offer details' : offerId.startsWith('lowcost:') ? 'fare menu' : 'fresh price';

/** `LIS → BER → FCO`, or `LIS → BER, FCO → LIS` if a flight starts in another city. */
function citiesOf(slices: readonly unknown[]): string {
  let [text, last] = ['', ''];
  for (const slice of slices.filter(isRecord)) {
    const [from, to] = [String(slice.origin), String(slice.destination)];
    text += text === '' ? from : last === from ? '' : `, ${from}`;
    text += ` → ${to}`;
    last = to;
  }
  return text;
}
