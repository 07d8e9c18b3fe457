import { bagsToBuy } from '../../kernel/domain/bags.ts';
import { seatsToBuy } from '../../kernel/domain/seats.ts';
import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { isProblem, type Problem, problem } from '../../kernel/problems.ts';
import { OrderRefused, type OrderRequest, type ProviderOrder } from '../provider.ts';
import { type Attempt, CREATION_FAILED, NOT_SENT } from './creations.ts';
import { freshOffer, saleKeyOf } from './offers.ts';
import { orderForm } from './order-form.ts';
import { askOrder, type Found, orderOf, readOrder, referenceOf, seenOrder } from './orders.ts';
import { type Fields, object, offerId, orderId, sameAmount } from './read.ts';
import { seatMapsOf } from './seats.ts';
import {
  type Answer,
  type DuffelPorts,
  failed,
  goneProblem,
  isOk,
  type NoAnswer,
  noAnswer,
  summaryOf,
} from './transport.ts';

type Standing = ProviderOrder | null | 'unknown';

/**
 * Orders at most once. Records the attempt before its only POST, and its verdict after. Never sends an attempt without
 * a verdict again, but looks for its order. Rereads the price just before, and sends nothing if it differs.
 * @throws OrderRefused, Problem `offer_*`, `bags_unavailable`, `seat_unavailable`, `upstream_rate_limited` if nothing
 *   was ordered; Problem `provider_failed` with the airline's request id if the outcome is unknown
 */
export async function createOrder(ports: DuffelPorts, request: OrderRequest): Promise<ProviderOrder> {
  const { reference, offerId } = request;
  // A first attempt looks for no order: if a restored database forgot one, Duffel refuses a second, and it is found
  // then.
  const isFirst = (await ports.attempts.of(reference)).length === 0;
  const known = isFirst ? null : await asOpen(ports, reference, () => findOrder(ports, reference, offerId));
  const last = (await ports.attempts.of(reference)).at(-1);
  if (known === 'unknown') throw outcomeOpen(last);
  if (known) return known;
  // A second POST would only blur this refusal.
  if (isConflict(last?.code ?? null)) throw problem('offer_unavailable');
  if (last?.code === CREATION_FAILED) throw new OrderRefused('provider_failed', false);
  const { raw, offer, saleKey: searchKey, extra } = await pricedOffer(ports, request);
  const form = orderForm(raw, offer, reference, request.passengers, extra);
  await checkUnsold(ports, reference, searchKey);
  const attempt = await ports.attempts.begin({ reference, attempt: (last?.attempt ?? 0) + 1, offerId, searchKey });
  if (!attempt) {
    // Another process was first; nothing was sent here.
    await checkUnsold(ports, reference, searchKey);
    throw outcomeOpen((await ports.attempts.of(reference)).at(-1));
  }
  const post = { operation: 'create_order', method: 'POST', path: '/air/orders', body: form } as const;
  const answer = await ports.transport.send(post);
  return answer.kind === 'answer' ? concluded(ports, request, attempt, answer) : unanswered(ports, attempt, answer);
}

/** Refuses a search that another reference uses, as a search makes one order. */
async function checkUnsold(ports: DuffelPorts, reference: string, searchKey: string): Promise<void> {
  const others = await othersOn(ports, reference, searchKey);
  if (others.some(({ verdict }) => verdict === 'ordered')) throw problem('offer_unavailable');
  if (others.some(({ verdict }) => verdict === 'open')) throw new OrderRefused('provider_failed', true);
}

/**
 * @throws Problem `offer_repriced` with `detail.current_ticket_amount`, `bags_unavailable`, `seat_unavailable`; those
 *   of `freshOffer`
 */
async function pricedOffer(ports: DuffelPorts, request: OrderRequest) {
  const { offerId, expectedAmountDecimal, passengers, bags: wanted } = request;
  const fresh = await freshOffer(ports, offerId);
  const { offer, passengerCount } = fresh;
  if (Date.parse(offer.expires_at) <= ports.clock.now()) throw problem('offer_expired');
  if (passengerCount !== passengers.length) throw new OrderRefused('form_rejected', false);
  const found = wanted ? bagsToBuy(fresh.bags, offer.total_currency, wanted) : { amount: 0n, bought: [] };
  if (!found) throw problem('bags_unavailable');
  const seats = request.seats && seatsToBuy(await seatMapsOf(ports, fresh.raw), offer.total_currency, request.seats);
  if (seats && seats.missing.length > 0) throw problem('seat_unavailable');
  const total = formatUsdc(parseUsdc(offer.total_amount_decimal) + found.amount + (seats?.amount ?? 0n));
  if (offer.total_currency !== 'USD' || !sameAmount(total, expectedAmountDecimal)) {
    throw repriced(expectedAmountDecimal, total, offer.total_currency);
  }
  const services = [
    ...found.bought.flatMap(({ bag, quantity }) => bag.ids.map((id) => ({ id, quantity }))),
    ...(seats?.bought ?? []).map(({ sold }) => ({ id: sold.id, quantity: 1 })),
  ];
  return { ...fresh, extra: { services, totalDecimal: services.length > 0 ? total : fresh.raw.total_amount } };
}

const repriced = (expected: string, current: string, currency: string): Problem =>
  problem('offer_repriced', {
    detail: {
      expected_ticket_amount: expected,
      current_ticket_amount: current,
      ...(currency !== 'USD' && { current_ticket_currency: currency }),
    },
  });

async function unanswered(ports: DuffelPorts, attempt: Attempt, failure: NoAnswer): Promise<never> {
  if (failure.kind === 'lost') return leftOpen(ports, attempt, { code: 'no_answer' });
  await ports.attempts.endInNone(attempt, { code: NOT_SENT });
  const why = noAnswer(failure);
  throw failure.retryAfter === undefined ? new OrderRefused('provider_failed', true, why) : why;
}

async function leftOpen(
  { attempts, log }: DuffelPorts,
  attempt: Attempt,
  word: { readonly code: string; readonly request_id?: string | null },
): Promise<never> {
  await attempts.note(attempt, word);
  log('error', 'duffel_order_unknown', { reference: attempt.reference, ...word });
  throw outcomeOpen({ ...attempt, ...word });
}

async function concluded(
  ports: DuffelPorts,
  request: OrderRequest,
  attempt: Attempt,
  answer: Answer,
): Promise<ProviderOrder> {
  const word = orderWord(answer, request);
  const written = { code: codeOf(answer), request_id: answer.requestId };
  switch (word.kind) {
    case 'ordered': {
      const theirs = referenceOf(word.raw);
      if (theirs !== null && theirs !== attempt.reference) break;
      await ports.attempts.endInOrder(attempt, word.id, written);
      return orderOf(ports, { raw: word.raw, answer }, request.reference);
    }
    case 'none':
      await ports.attempts.endInNone(attempt, written);
      throw word.error;
    case 'repriced':
      await ports.attempts.endInNone(attempt, written);
      // Throws the current price, or the reason why it can't be read; if it looks unchanged, the next line throws.
      await pricedOffer(ports, request);
      throw repriced(request.expectedAmountDecimal, request.expectedAmountDecimal, 'USD');
    case 'conflict':
      await ports.attempts.note(attempt, written);
      return afterConflict(ports, { ...attempt, ...written });
    case 'unknown':
      break;
  }
  return leftOpen(ports, attempt, written);
}

/** Looks for the order that Duffel says exists: ours, another's, or an invisible one. */
async function afterConflict(ports: DuffelPorts, attempt: Attempt): Promise<ProviderOrder> {
  const standing = await asOpen(ports, attempt.reference, () => look(ports, attempt));
  if (standing === null) throw problem('offer_unavailable');
  if (standing !== 'unknown') return standing;
  ports.log('error', 'duffel_order_unknown', { reference: attempt.reference, code: attempt.code });
  throw outcomeOpen(attempt);
}

/**
 * Turns a rate limit during a look for a possible order into an unknown outcome, as a rate limit alone means that
 * nothing was ordered.
 */
async function asOpen<T>(ports: DuffelPorts, reference: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isProblem(error, 'upstream_rate_limited')) throw error;
    throw outcomeOpen((await ports.attempts.of(reference)).at(-1));
  }
}

/** The problem of an unknown outcome, with what the airline's support needs. */
const outcomeOpen = (attempt: Attempt | undefined): Problem =>
  problem('provider_failed', {
    message: 'It is not known yet whether the airline took the order.',
    detail: {
      airline_request_id: attempt?.request_id ?? null,
      airline_code: attempt?.code ?? null,
      offer_id: attempt?.offer_id ?? null,
      asked_at: attempt ? new Date(attempt.begun_at_ms).toISOString() : null,
    },
  });

/**
 * Finds the order that Duffel shows with a reference, even without recorded attempts: a restored database may have
 * forgotten them.
 * @returns null if all recorded attempts were refused and Duffel lists no order; `unknown` if an attempt has no
 *   verdict: not being listed proves nothing, as the airline may know more than Duffel
 * @throws Problem `upstream_rate_limited`, `provider_failed`
 */
export async function findOrder(ports: DuffelPorts, reference: string, offer: string): Promise<Standing> {
  const past = await ports.attempts.of(reference);
  const ordered = past.find(({ verdict }) => verdict === 'ordered');
  if (ordered?.order_id) return (await readOrder(ports, ordered.order_id)).order;
  const last = past.at(-1);
  if (last === undefined) return forgottenOrder(ports, reference, offer);
  return last.verdict === 'none' ? refusedOrder(ports, past) : look(ports, last);
}

/** Finds the order of a forgotten attempt, and records it again. */
async function forgottenOrder(ports: DuffelPorts, reference: string, offer: string): Promise<ProviderOrder | null> {
  const found = offerId(offer) === null ? null : await seenOrder(ports, offer, reference);
  if (!found) return null;
  ports.log('error', 'duffel_order_forgotten', { reference, order_id: orderId(found.raw.id) });
  const first = { reference, attempt: 1 };
  await ports.attempts.begin({ ...first, offerId: offer, searchKey: saleKeyOf(found.raw) });
  return foundOrder(ports, first, found);
}

/** Checks refused attempts for an order, because their refusals decide what is sent and paid next. */
async function refusedOrder(ports: DuffelPorts, past: readonly Attempt[]): Promise<ProviderOrder | null> {
  const sent = past.filter(({ code }) => code !== NOT_SENT).at(-1);
  const found = sent && (await seenOrder(ports, sent.offer_id, sent.reference));
  if (!found) return null;
  const { reference, code, request_id } = sent;
  ports.log('error', 'duffel_order_against_verdict', { reference, code, request_id });
  return foundOrder(ports, sent, found);
}

async function look(ports: DuffelPorts, attempt: Attempt): Promise<Standing> {
  const found = (await namedOrder(ports, attempt)) ?? (await seenOrder(ports, attempt.offer_id, attempt.reference));
  if (found) return foundOrder(ports, attempt, found);
  if (!(await isSoldToAnother(ports, attempt))) return 'unknown';
  await ports.attempts.endInNone(attempt, {});
  return null;
}

/** Reads the order that a webhook named for this attempt; null if it lacks our reference. */
async function namedOrder(ports: DuffelPorts, attempt: Attempt): Promise<Found | null> {
  const id = orderId(attempt.order_id);
  if (id === null) return null;
  const answer = await askOrder(ports, id);
  const raw = object(answer.data);
  return isOk(answer) && raw && referenceOf(raw) === attempt.reference ? { raw, answer } : null;
}

/** Records a found order before it is used. */
async function foundOrder(
  ports: DuffelPorts,
  attempt: Pick<Attempt, 'reference' | 'attempt'>,
  found: Found,
): Promise<ProviderOrder> {
  const { reference } = attempt;
  const id = orderId(found.raw.id);
  await ports.attempts.endInOrder(attempt, id ?? '', {});
  ports.log('info', 'duffel_order_found', { reference, order_id: id });
  return orderOf(ports, found, reference);
}

/**
 * True if a first attempt certainly made no order: Duffel refused it because one exists, and another reference of ours
 * has the search's only order.
 */
async function isSoldToAnother(ports: DuffelPorts, attempt: Attempt): Promise<boolean> {
  if (attempt.attempt !== 1 || !isConflict(attempt.code)) return false;
  const others = await othersOn(ports, attempt.reference, attempt.search_key);
  return others.some(({ verdict }) => verdict === 'ordered');
}

/** Attempts of other references on any offer of the same search. */
const othersOn = async ({ attempts }: DuffelPorts, reference: string, searchKey: string): Promise<Attempt[]> =>
  (await attempts.bySearch(searchKey)).filter((one) => one.reference !== reference);

/**
 * Meanings of an answer to POST /air/orders. `none`, `repriced`: certainly nothing was ordered. `conflict`: an order
 * exists, perhaps by this very attempt.
 */
type OrderWord =
  | { readonly kind: 'ordered'; readonly raw: Fields; readonly id: string }
  | { readonly kind: 'none'; readonly error: Error }
  | { readonly kind: 'repriced' | 'conflict' | 'unknown' };

/** Duffel's codes for an existing order. */
const CONFLICTS = ['offer_request_already_booked', 'order_creation_already_attempted', 'duplicate_booking'];
const REPRICED = ['price_changed', 'payment_amount_does_not_match_order_amount'];

/** Passenger faults that only the traveller can correct, under any error type. */
const FORM_CODES = ['duplicate_passenger_name', 'validation_required', 'invalid_loyalty_card'];

const isConflict = (code: string | null): boolean => code !== null && CONFLICTS.includes(code);

const codeOf = (answer: Answer): string =>
  answer.codes.find(isConflict) ?? summaryOf(answer).code ?? `http_${answer.status}`;

/**
 * Reads an answer to an order (docs/duffel.md has the table). Only a refusal in Duffel's own form counts; a 429, a
 * gateway's answer and an undocumented code leave the outcome open.
 */
function orderWord(answer: Answer, { seats }: Pick<OrderRequest, 'seats'>): OrderWord {
  const { status, codes, types, isRefusal } = answer;
  if (status === 200 || status === 201) {
    const raw = object(answer.data);
    const id = orderId(raw?.id);
    return raw && id !== null ? { kind: 'ordered', raw, id } : { kind: 'unknown' };
  }
  const none = (error: Error): OrderWord => ({ kind: 'none', error });
  const refused = (reason: string, mayPass: boolean) => none(new OrderRefused(reason, mayPass, failed(answer)));
  if (!isRefusal || status === 429) return { kind: 'unknown' };
  if (status === 401 || status === 403 || status === 503) return refused('provider_failed', true);
  if (status === 502 && codes.includes('order_not_created')) return refused('provider_failed', true);
  if (status < 400 || status >= 500) return { kind: 'unknown' };
  if (codes.some(isConflict)) return { kind: 'conflict' };
  if (codes.some((code) => REPRICED.includes(code))) return { kind: 'repriced' };
  if (codes.includes('ancillary_service_not_available'))
    return none(problem(seats ? 'seat_unavailable' : 'bags_unavailable'));
  if (codes.includes('insufficient_balance')) return refused('provider_balance_low', true);
  const gone = goneProblem(answer);
  if (gone) return none(gone.code === 'offer_not_found' ? problem('offer_unavailable') : gone);
  const isForm = types.includes('validation_error') || codes.some((code) => FORM_CODES.includes(code));
  const isInvalid = status === 400 && types.includes('invalid_request_error');
  return isForm || isInvalid ? refused('form_rejected', false) : { kind: 'unknown' };
}
