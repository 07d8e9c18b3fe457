import { isProblem, type Problem, problem } from '../../kernel/problems.ts';
import type { OrderRequest, ProviderOrder } from '../provider.ts';
import { OrderRefused } from '../provider.ts';
import { type Attempt, CREATION_FAILED, NOT_SENT } from './attempts.ts';
import { codeOf, findOrder, isConflict, look, orderWord, othersOn } from './find-order.ts';
import { freshOffer, type OfferPorts } from './live-offer.ts';
import { orderForm } from './order-form.ts';
import { type OrderPorts, orderOf, referenceOf } from './orders.ts';
import { sameAmount } from './read.ts';
import { type Answer, failed, type NoAnswer, noAnswer } from './transport.ts';

export interface OrderingPorts extends OrderPorts, OfferPorts {}

/**
 * Orders at most once. The attempt is on record before the one POST, and its verdict after; an attempt without a verdict
 * is asked about, never sent again. The price is read again right before, and nothing is sent where it differs.
 * @throws OrderRefused, Problem `offer_*`, `upstream_rate_limited`: nothing was ordered. Problem `provider_failed` with
 *   the airline's request id: nobody knows
 */
export async function createOrder(ports: OrderingPorts, request: OrderRequest): Promise<ProviderOrder> {
  const { reference, offerId } = request;
  // Without an attempt on record Duffel itself refuses a second order: one that the database has forgotten is found then.
  const isFirst = (await ports.attempts.of(reference)).length === 0;
  const known = isFirst ? null : await asOpen(ports, reference, () => findOrder(ports, reference, offerId));
  const last = (await ports.attempts.of(reference)).at(-1);
  if (known === 'unknown') throw outcomeOpen(last);
  if (known) return known;
  refuseAgain(last);
  const { raw, saleKey: searchKey } = await pricedOffer(ports, request);
  const form = orderForm(raw, reference, request.passengers);
  await checkUnsold(ports, reference, searchKey);
  const attempt = await ports.attempts.begin({ reference, attempt: (last?.attempt ?? 0) + 1, offerId, searchKey });
  if (!attempt) return beaten(ports, reference, searchKey);
  const answer = await ports.transport.send({
    operation: 'create_order',
    method: 'POST',
    path: '/air/orders',
    body: form,
  });
  return answer.kind === 'answer' ? concluded(ports, request, attempt, answer) : unanswered(ports, attempt, answer);
}

/** A refusal that asking again can't change, and that a second POST would blur. */
function refuseAgain(last: Attempt | undefined): void {
  if (isConflict(last?.code ?? null)) throw problem('offer_unavailable');
  if (last?.code === CREATION_FAILED) throw new OrderRefused('provider_failed', false);
}

/** One search serves one order: it is asked for by one reference at a time. */
async function checkUnsold(ports: OrderingPorts, reference: string, searchKey: string): Promise<void> {
  const others = await othersOn(ports, reference, searchKey);
  if (others.some(({ verdict }) => verdict === 'ordered')) throw problem('offer_unavailable');
  if (others.some(({ verdict }) => verdict === 'open')) throw new OrderRefused('provider_failed', true);
}

/** @throws Problem `offer_repriced` with `detail.current_ticket_amount`, and of `freshOffer` */
async function pricedOffer(ports: OrderingPorts, { offerId, expectedAmountDecimal, passengers }: OrderRequest) {
  const fresh = await freshOffer(ports, offerId);
  const { offer, passengerCount } = fresh;
  if (Date.parse(offer.expires_at) <= ports.clock.now()) throw problem('offer_expired');
  if (passengerCount !== passengers.length) throw new OrderRefused('form_rejected', false);
  if (offer.total_currency !== 'USD' || !sameAmount(offer.total_amount_decimal, expectedAmountDecimal)) {
    throw repriced(expectedAmountDecimal, offer.total_amount_decimal, offer.total_currency);
  }
  return fresh;
}

const repriced = (expected: string, current: string, currency: string): Problem =>
  problem('offer_repriced', {
    detail: {
      expected_ticket_amount: expected,
      current_ticket_amount: current,
      ...(currency !== 'USD' && { current_ticket_currency: currency }),
    },
  });

/** Another process was first. Nothing was sent here. */
async function beaten(ports: OrderingPorts, reference: string, searchKey: string): Promise<never> {
  await checkUnsold(ports, reference, searchKey);
  throw outcomeOpen((await ports.attempts.of(reference)).at(-1));
}

async function unanswered(ports: OrderingPorts, attempt: Attempt, failure: NoAnswer): Promise<never> {
  if (failure.kind === 'unsent') {
    await ports.attempts.endInNone(attempt, { code: NOT_SENT });
    const why = noAnswer(failure);
    throw failure.retryAfter === undefined ? new OrderRefused('provider_failed', true, why) : why;
  }
  const word = { code: 'no_answer' };
  await ports.attempts.note(attempt, word);
  ports.log('error', 'duffel_order_unknown', { reference: attempt.reference, ...word });
  throw outcomeOpen({ ...attempt, ...word });
}

async function concluded(
  ports: OrderingPorts,
  request: OrderRequest,
  attempt: Attempt,
  answer: Answer,
): Promise<ProviderOrder> {
  const word = orderWord(answer);
  const written = { code: codeOf(answer), request_id: answer.requestId };
  switch (word.kind) {
    case 'ordered': {
      const theirs = referenceOf(word.raw);
      if (theirs !== null && theirs !== attempt.reference) break;
      await ports.attempts.endInOrder(attempt, word.id, written);
      return readMade(ports, request, word.raw, answer);
    }
    case 'none':
      await ports.attempts.endInNone(attempt, written);
      throw word.error;
    case 'repriced':
      await ports.attempts.endInNone(attempt, written);
      // The price of this moment, which may look unchanged; where it can't be read, its own problem says why.
      await pricedOffer(ports, request);
      throw repriced(request.expectedAmountDecimal, request.expectedAmountDecimal, 'USD');
    case 'conflict':
      await ports.attempts.note(attempt, written);
      return afterConflict(ports, { ...attempt, ...written });
    case 'unknown':
      break;
  }
  await ports.attempts.note(attempt, written);
  ports.log('error', 'duffel_order_unknown', { reference: attempt.reference, ...written });
  throw outcomeOpen({ ...attempt, ...written });
}

function readMade(
  ports: OrderingPorts,
  { reference }: OrderRequest,
  raw: Parameters<typeof orderOf>[1],
  answer: Answer,
): ProviderOrder {
  const order = orderOf(ports, raw, reference);
  if (!order) throw failed(answer, "The airline's order can't be read.");
  return order;
}

/** Duffel says that there is an order: ours, somebody else's, or one that nobody can see. */
async function afterConflict(ports: OrderingPorts, attempt: Attempt): Promise<ProviderOrder> {
  const standing = await asOpen(ports, attempt.reference, () => look(ports, attempt));
  if (standing === null) throw problem('offer_unavailable');
  if (standing !== 'unknown') return standing;
  ports.log('error', 'duffel_order_unknown', { reference: attempt.reference, code: attempt.code });
  throw outcomeOpen(attempt);
}

/**
 * A limit that keeps a question back, where there may be an order: raised as it is, it would say that nothing was ordered.
 */
async function asOpen<T>(ports: OrderingPorts, reference: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isProblem(error, 'upstream_rate_limited')) throw error;
    throw outcomeOpen((await ports.attempts.of(reference)).at(-1));
  }
}

/** For the operator: what support asks for. */
const outcomeOpen = (attempt: Attempt | undefined): Problem =>
  problem('provider_failed', {
    message: 'Nobody can say yet what the airline made of the order.',
    detail: {
      airline_request_id: attempt?.request_id ?? null,
      airline_code: attempt?.code ?? null,
      offer_id: attempt?.offer_id ?? null,
      asked_at: attempt ? new Date(attempt.begun_at_ms).toISOString() : null,
    },
  });
