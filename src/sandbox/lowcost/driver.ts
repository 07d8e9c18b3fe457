import { fareKey, type NothingBought, type Purchase } from '../../airlines/fulfiller.ts';
import { parseUsdc } from '../../kernel/money.ts';
import { decimalOf } from '../airline/prices.ts';
import type { Visit } from './site.ts';

/**
 * Goes through a carrier's website up to the pay button, which it does not press. The fare is found by its content:
 * where it stood in an earlier visit says nothing. Whatever the page ticked of its own is unticked, and the total must
 * be the price that was escrowed, to the cent.
 */
export function goToTill(
  page: Visit,
  { fare, amountDecimal, passengers }: Pick<Purchase, 'fare' | 'amountDecimal' | 'passengers'>,
): NothingBought | { readonly kind: 'ready_to_pay'; readonly totalDecimal: string } {
  const position = page.fares.findIndex((one) => fareKey(one) === fareKey(fare));
  if (position < 0) return { kind: 'offer_gone' };
  page.choose(position);
  for (const { name, ticked } of page.addOns()) if (ticked) page.untick(name);
  const form = page.submit(passengers);
  if (form.kind === 'rejected') return { kind: 'form_rejected', fields: form.fields };
  if (form.kind !== 'ready_to_pay') return form;
  const totalDecimal = decimalOf(page.totalCents());
  if (parseUsdc(totalDecimal) !== parseUsdc(amountDecimal)) {
    return { kind: 'price_differs', foundAmountDecimal: totalDecimal };
  }
  return { kind: 'ready_to_pay', totalDecimal };
}
