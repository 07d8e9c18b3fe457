import { parseUsdc } from '../money.ts';
import { problem } from '../problems.ts';

export interface RefundableFare {
  readonly total_currency: string;
  readonly conditions: {
    readonly refund_allowed: boolean | null;
    readonly refund_penalty_amount: string | null;
    readonly refund_penalty_currency: string | null;
  } | null;
}

/** The allowed refund of a captured amount (atomic units). */
export interface RefundRule {
  /** `undisclosed`: ask the airline. `cancelled_by_airline`: the fare's rule for customers does not apply. */
  readonly kind: 'refundable' | 'non_refundable' | 'undisclosed' | 'cancelled_by_airline';
  /** The carrier's share; null while undisclosed. */
  readonly penalty: bigint | null;
  /** The payout without an operator's decision; null while undisclosed. */
  readonly payout: bigint | null;
}

/**
 * The refund rule of payouts and forecasts. The penalty is for all travellers together, at most the fare. A
 * non-refundable fare keeps everything, an airline's own cancellation nothing. A penalty in another currency counts as
 * undisclosed.
 */
export function refundRuleOf(fare: RefundableFare, captured: bigint, cancelledBy: 'airline' | null = null): RefundRule {
  if (cancelledBy === 'airline') return { kind: 'cancelled_by_airline', penalty: 0n, payout: captured };
  const { conditions } = fare;
  if (conditions?.refund_allowed === false) {
    return { kind: 'non_refundable', penalty: captured, payout: 0n };
  }
  const amount = conditions?.refund_penalty_amount ?? null;
  const isFree = amount !== null && parseUsdc(amount) === 0n;
  const sameCurrency = isFree || conditions?.refund_penalty_currency === fare.total_currency;
  if (conditions?.refund_allowed !== true || amount === null || !sameCurrency) {
    return { kind: 'undisclosed', penalty: null, payout: null };
  }
  const penalty = parseUsdc(amount) < captured ? parseUsdc(amount) : captured;
  return { kind: 'refundable', penalty, payout: captured - penalty };
}

/** An airline's cancellation quote; null is unknown, never zero. */
export interface AirlineQuote {
  /** Null if the airline takes no cancellation here. */
  readonly quote_id: string | null;
  readonly refund_amount_decimal: string | null;
  readonly refund_currency: string | null;
  /** The airline's word: `balance`, `voucher`, `airline_credits`, … */
  readonly refund_to: string | null;
  readonly expires_at: string | null;
  readonly quoted_at: string;
}

/** Refund targets that are money, unlike vouchers and credits. */
const MONEY = ['balance', 'original_form_of_payment'];

export const isMoney = ({ refund_to: to }: AirlineQuote): boolean => to !== null && MONEY.includes(to);

export function quoteText(quote: AirlineQuote): string {
  if (quote.quote_id === null) return 'no cancellation here: cancel it with the airline yourself';
  const { refund_amount_decimal: amount, refund_currency: currency, refund_to: to, expires_at } = quote;
  const back = amount === null ? 'an amount that it does not say' : `${amount} ${currency ?? '(no currency)'}`;
  const where = to === null ? ', it does not say where to' : ` to ${to.replaceAll('_', ' ')}`;
  const kind = to !== null && !isMoney(quote) ? ', which is not money' : '';
  const until = expires_at === null ? '' : `, until ${expires_at.slice(0, 16).replace('T', ' ')} UTC`;
  return back + where + kind + until;
}

/** The refund in decimal US dollars; null if unknown or not money. */
export const quotedDollars = (quote: AirlineQuote | null): string | null =>
  quote?.refund_currency === 'USD' && isMoney(quote) ? quote.refund_amount_decimal : null;

/** Refuses a plan that pays nothing: the ticket would be lost for nothing. */
export function nothingToPay(quote: AirlineQuote | null) {
  const back = quotedDollars(quote);
  if (back === null || parseUsdc(back) === 0n) return problem('payout_is_zero');
  return problem('payout_is_zero', {
    message: `By the fare rule nothing would be paid out, but the airline gives back ${back} USD.`,
    fix: 'Set an amount to pay out, with a note. The ticket may still be in its void window, in which airlines charge no penalty.',
  });
}
