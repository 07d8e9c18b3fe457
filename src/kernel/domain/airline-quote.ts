import { parseUsdc } from '../money.ts';
import { problem } from '../problems.ts';

/** An airline's quote for giving an order back, as an operator is shown it. null is "not told", never zero. */
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

/** Where a refund is money of the seller's again. Vouchers and credits are not. */
const MONEY = ['balance', 'original_form_of_payment'];

export const isMoney = ({ refund_to: to }: AirlineQuote): boolean => to !== null && MONEY.includes(to);

/** `120.00 EUR to balance, until 2026-11-21 10:00 UTC` */
export function quoteText(quote: AirlineQuote): string {
  if (quote.quote_id === null) return 'no cancellation here: cancel it with the airline yourself';
  const { refund_amount_decimal: amount, refund_currency: currency, refund_to: to, expires_at } = quote;
  const back =
    amount === null ? 'an amount that it does not say' : `${amount} ${currency ?? '(no currency)'}`;
  const where = to === null ? ', it does not say where to' : ` to ${to.replaceAll('_', ' ')}`;
  const kind = to !== null && !isMoney(quote) ? ', which is not money' : '';
  const until = expires_at === null ? '' : `, until ${expires_at.slice(0, 16).replace('T', ' ')} UTC`;
  return back + where + kind + until;
}

/** The money that comes back, in US dollars as decimal text; null where that is not known. */
export const quotedDollars = (quote: AirlineQuote | null): string | null =>
  quote?.refund_currency === 'USD' && isMoney(quote) ? quote.refund_amount_decimal : null;

/** A plan that pays nothing out is not carried out: the ticket would be lost. */
export function nothingToPay(quote: AirlineQuote | null) {
  const back = quotedDollars(quote);
  if (back === null || parseUsdc(back) === 0n) return problem('payout_is_zero');
  return problem('payout_is_zero', {
    message: `By the fare rule nothing would be paid out, but the airline gives back ${back} USD.`,
    fix: 'Set an amount to pay out, with a note. The ticket may still be in its void window, in which airlines charge no penalty.',
  });
}
