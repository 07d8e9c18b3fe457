import { problem } from '../../kernel/problems.ts';
import { OrderRefused } from '../order-refused.ts';
import { goneProblem } from './live-offer.ts';
import { type Fields, object, orderId } from './read.ts';
import { type Answer, failed, told } from './transport.ts';

/** What an answer to POST /air/orders says about the order. */
export type OrderWord =
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
/** What a person has to change in the passengers, whatever type Duffel gives it. */
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
  const refused = (reason: string, mayPass: boolean) =>
    none(new OrderRefused(reason, mayPass, failed(answer)));
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
