import { parseUsdc } from '../money.ts';
import { problem } from '../problems.ts';

/** A fare as its refund depends on it: an offer of the wire, or what the tool has kept of one. */
interface RefundableFare {
  readonly total_currency: string;
  readonly conditions: {
    readonly refund_allowed: boolean | null;
    readonly refund_penalty_amount: string | null;
    readonly refund_penalty_currency: string | null;
  } | null;
}

/** The refund that a fare allows, and what follows from it for one captured amount (atomic units). */
interface RefundRule {
  /**
   * `undisclosed`: the airline did not say; a person has to ask it. `cancelled_by_airline`: the fare's rule is for
   * customers who cancel, and this order was cancelled by the airline.
   */
  readonly kind: 'refundable' | 'non_refundable' | 'undisclosed' | 'cancelled_by_airline';
  /** What the carrier keeps; null while undisclosed. */
  readonly penalty: bigint | null;
  /** What is paid out unless an operator decides otherwise; null while undisclosed. */
  readonly payout: bigint | null;
}

/**
 * The rule of a fare, by which the service pays out and the tool says what to expect. The penalty is for all travellers
 * together and never more than the fare. A non-refundable fare keeps everything. A penalty in another currency than the
 * fare's can't be computed: undisclosed. Where the airline cancelled the order itself, nothing is kept.
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

/** An airline's quote for a cancellation. null means unknown, never zero. */
export interface AirlineQuote {
  /** null: the airline takes no cancellation of this order here. */
  readonly quote_id: string | null;
  readonly refund_amount_decimal: string | null;
  readonly refund_currency: string | null;
  /** In the airline's word: `balance`, `voucher`, `airline_credits`, … */
  readonly refund_to: string | null;
  readonly expires_at: string | null;
  readonly quoted_at: string;
}

/** Refund targets that are money. Vouchers and credits are not. */
const MONEY = ['balance', 'original_form_of_payment'];

export const isMoney = ({ refund_to: to }: AirlineQuote): boolean => to !== null && MONEY.includes(to);

/** `120.00 EUR to balance, until 2026-11-21 10:00 UTC` */
export function quoteText(quote: AirlineQuote): string {
  if (quote.quote_id === null) return 'no cancellation here: cancel it with the airline yourself';
  const { refund_amount_decimal: amount, refund_currency: currency, refund_to: to, expires_at } = quote;
  const back = amount === null ? 'an amount that it does not say' : `${amount} ${currency ?? '(no currency)'}`;
  const where = to === null ? ', it does not say where to' : ` to ${to.replaceAll('_', ' ')}`;
  const kind = to !== null && !isMoney(quote) ? ', which is not money' : '';
  const until = expires_at === null ? '' : `, until ${expires_at.slice(0, 16).replace('T', ' ')} UTC`;
  return back + where + kind + until;
}

/** The money that comes back, in US dollars as decimal text; null where that is not known. */
export const quotedDollars = (quote: AirlineQuote | null): string | null =>
  quote?.refund_currency === 'USD' && isMoney(quote) ? quote.refund_amount_decimal : null;

/** Refuses a plan that pays nothing out: the ticket would be lost. */
export function nothingToPay(quote: AirlineQuote | null) {
  const back = quotedDollars(quote);
  if (back === null || parseUsdc(back) === 0n) return problem('payout_is_zero');
  return problem('payout_is_zero', {
    message: `By the fare rule nothing would be paid out, but the airline gives back ${back} USD.`,
    fix: 'Set an amount to pay out, with a note. The ticket may still be in its void window, in which airlines charge no penalty.',
  });
}
