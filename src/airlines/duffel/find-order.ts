import type { ProviderOrder } from '../provider.ts';
import { type Attempt, NOT_SENT } from './attempts.ts';
import { saleKeyOf } from './live-offer.ts';
import { isConflict } from './order-answers.ts';
import { askOrder, type OrderPorts, orderOf, readOrder, referenceOf, seenOrder } from './orders.ts';
import { type Fields, object, offerId, orderId } from './read.ts';
import { type Answer, failed, isOk } from './transport.ts';

type Standing = ProviderOrder | null | 'unknown';

/**
 * How a reference stands. null: an attempt is on record before it is sent, each one was refused, and Duffel lists no order
 * for it. Without any attempt the list is asked, too: a database that was put back has forgotten what it ordered. An order
 * is believed where Duffel shows it with our reference. After an attempt without a verdict, a list without the order proves
 * nothing, because the airline may know more than Duffel: `unknown`, until Duffel says something definite.
 * @throws Problem `upstream_rate_limited`, `provider_failed`
 */
export async function findOrder(ports: OrderPorts, reference: string, offer: string): Promise<Standing> {
  const past = await ports.attempts.of(reference);
  const ordered = past.find(({ verdict }) => verdict === 'ordered');
  if (ordered?.order_id) return (await readOrder(ports, ordered.order_id)).order;
  const last = past.at(-1);
  if (last === undefined) return forgottenOrder(ports, reference, offer);
  return last.verdict === 'none' ? refusedOrder(ports, past) : look(ports, last);
}

/** The order of an attempt that is no longer on record; it goes on record again. */
async function forgottenOrder(
  ports: OrderPorts,
  reference: string,
  offer: string,
): Promise<ProviderOrder | null> {
  const found = offerId(offer) === null ? null : await seenOrder(ports, offer, reference);
  if (!found) return null;
  ports.log('error', 'duffel_order_forgotten', { reference, order_id: orderId(found.raw.id) });
  const first = { reference, attempt: 1 };
  await ports.attempts.begin({ ...first, offerId: offer, searchKey: saleKeyOf(found.raw) });
  return foundOrder(ports, first, found);
}

/** The order of attempts that were refused. Their refusals decide what is sent and paid next, so its orders are listed. */
async function refusedOrder(ports: OrderPorts, past: readonly Attempt[]): Promise<ProviderOrder | null> {
  const sent = past.filter(({ code }) => code !== NOT_SENT).at(-1);
  const found = sent && (await seenOrder(ports, sent.offer_id, sent.reference));
  if (!found) return null;
  const { reference, code, request_id } = sent;
  ports.log('error', 'duffel_order_against_verdict', { reference, code, request_id });
  return foundOrder(ports, sent, found);
}

/** Looks for the order of an attempt that has no verdict. */
export async function look(ports: OrderPorts, attempt: Attempt): Promise<Standing> {
  const found =
    (await namedOrder(ports, attempt)) ?? (await seenOrder(ports, attempt.offer_id, attempt.reference));
  if (found) return foundOrder(ports, attempt, found);
  if (!(await isSoldToAnother(ports, attempt))) return 'unknown';
  await ports.attempts.endInNone(attempt, {});
  return null;
}

/** The order that a webhook named for this attempt, once it is read and has our reference. */
async function namedOrder(ports: OrderPorts, attempt: Attempt) {
  const id = orderId(attempt.order_id);
  if (id === null) return null;
  const answer = await askOrder(ports, id);
  const raw = object(answer.data);
  return isOk(answer) && raw && referenceOf(raw) === attempt.reference ? { raw, answer } : null;
}

/** Writes an order down that was found, before anything else is made of it. */
async function foundOrder(
  ports: OrderPorts,
  attempt: Pick<Attempt, 'reference' | 'attempt'>,
  { raw, answer }: { raw: Fields; answer: Answer },
): Promise<ProviderOrder> {
  await ports.attempts.endInOrder(attempt, orderId(raw.id) ?? '', {});
  ports.log('info', 'duffel_order_found', { reference: attempt.reference, order_id: orderId(raw.id) });
  const order = orderOf(ports, raw, attempt.reference);
  if (!order) throw failed(answer, "The airline's order can't be read.");
  return order;
}

/**
 * Duffel answered the first POST of this reference that an order exists, and we know whose: another reference of ours has
 * one on the same search, and a search serves one order. So this attempt made none.
 */
async function isSoldToAnother({ attempts }: OrderPorts, attempt: Attempt): Promise<boolean> {
  if (attempt.attempt !== 1 || !isConflict(attempt.code)) return false;
  const others = await othersOn({ attempts }, attempt.reference, attempt.search_key);
  return others.some(({ verdict }) => verdict === 'ordered');
}

/** Attempts of other references on the same search: on its offers, whichever. */
export async function othersOn(
  { attempts }: Pick<OrderPorts, 'attempts'>,
  reference: string,
  searchKey: string,
): Promise<Attempt[]> {
  return (await attempts.bySearch(searchKey)).filter((one) => one.reference !== reference);
}
