import { problem } from '../../kernel/problems.ts';
import { OrderRefused, type ProviderOrder } from '../provider.ts';
import { type Attempt, NOT_SENT } from './attempts.ts';
import { goneProblem, saleKeyOf } from './live-offer.ts';
import { askOrder, type OrderPorts, orderOf, readOrder, referenceOf, seenOrder } from './orders.ts';
import { type Fields, object, offerId, orderId } from './read.ts';
import { type Answer, failed, isOk, told } from './transport.ts';

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
async function forgottenOrder(ports: OrderPorts, reference: string, offer: string): Promise<ProviderOrder | null> {
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
  const found = (await namedOrder(ports, attempt)) ?? (await seenOrder(ports, attempt.offer_id, attempt.reference));
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

/** The meaning of an answer to POST /air/orders. */
type OrderWord =
  | { readonly kind: 'ordered'; readonly raw: Fields; readonly id: string }
  /** Nothing was ordered, for certain. */
  | { readonly kind: 'none'; readonly error: Error }
  /** The price is another one now, and nothing was ordered. */
  | { readonly kind: 'repriced' }
  /** An order was made before: perhaps by this very attempt. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unknown' };

/** Duffel's codes for an order that exists already. */
const CONFLICTS = ['offer_request_already_booked', 'order_creation_already_attempted', 'duplicate_booking'];

const REPRICED = ['price_changed', 'payment_amount_does_not_match_order_amount'];

/** Passenger faults that only the traveller can mend, whatever error type Duffel gives them. */
const FORM_CODES = ['duplicate_passenger_name', 'validation_required', 'invalid_loyalty_card'];

export const isConflict = (code: string | null): boolean => code !== null && CONFLICTS.includes(code);

/** The code that is written down for an answer. */
export const codeOf = (answer: Answer): string =>
  answer.codes.find(isConflict) ?? told(answer).code ?? `http_${answer.status}`;

/**
 * Reads an answer to an order (docs/duffel.md has the table). A refusal is believed where Duffel says in its own form that
 * nothing comes of it; everything else leaves the outcome open: a 429, any answer of a gateway, an undocumented code.
 */
export function orderWord(answer: Answer): OrderWord {
  const { status, codes, types, isRefusal } = answer;
  if (status === 200 || status === 201) {
    const raw = object(answer.data);
    const id = orderId(raw?.id);
    return raw && id !== null ? { kind: 'ordered', raw, id } : { kind: 'unknown' };
  }
  const refused = (reason: string, mayPass: boolean) => none(new OrderRefused(reason, mayPass, failed(answer)));
  if (!isRefusal || status === 429) return { kind: 'unknown' };
  if (status === 401 || status === 403 || status === 503) return refused('provider_failed', true);
  if (status === 502 && codes.includes('order_not_created')) {
    return refused('provider_failed', true);
  }
  if (status < 400 || status >= 500) return { kind: 'unknown' };
  if (codes.some(isConflict)) return { kind: 'conflict' };
  if (codes.some((code) => REPRICED.includes(code))) return { kind: 'repriced' };
  if (codes.includes('insufficient_balance')) return refused('provider_balance_low', true);
  const gone = goneProblem(answer);
  if (gone) return none(gone.code === 'offer_not_found' ? problem('offer_unavailable') : gone);
  const isForm = types.includes('validation_error') || codes.some((code) => FORM_CODES.includes(code));
  if (isForm || (status === 400 && types.includes('invalid_request_error'))) {
    return refused('form_rejected', false);
  }
  return { kind: 'unknown' };
}

const none = (error: Error): OrderWord => ({ kind: 'none', error });
