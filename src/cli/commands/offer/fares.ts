import type { PaymentReceipt } from '../../../client/types.ts';
import { formatUsdc, parseUsdc } from '../../../kernel/money.ts';
import { isProblem } from '../../../kernel/problems.ts';
import { counted } from '../../../terminal/text.ts';
import type { MenuFare, OfferDetailsResponse } from '../../../wire/flights/index.ts';
import { shortOf } from '../../session/recent.ts';
import type { Command } from '../../spec/command.ts';
import {
  bagFor,
  type ComparedFare,
  comparisonView,
  type FareComparison,
} from '../../view/flights/fare-comparison.ts';
import { nextLines, offerCommand } from '../../view/payment.ts';

/** So many that they can still be told apart on a screen. */
const MOST_FARES = 8;

/**
 * `offer <id> --fares`: the fares of an itinerary beside each other, each asked for anew (0.01 USDC each), with the
 * price of a bag. Of a lowcost offer the fares are those of its menu, which one call opens.
 */
export const offerFares: Command<{ readonly offerId: string }> = async (context, options) => {
  const { terminal, session, signal } = context;
  const wanted = session.recentOffers.fareFamily(options.offerId).slice(0, MOST_FARES);
  if (context.globals.dryRun) {
    const { planPaid } = await import('../../paying/paid-plan.ts');
    const [first] = wanted;
    return planPaid(
      context,
      (flights) => flights.offerDetails(first?.offerId ?? options.offerId, { signal }),
      {
        after: [
          ...(wanted.length > 1
            ? [`Do the same for ${counted(wanted.length - 1, 'more fare')} of the itinerary.`]
            : []),
          'Show them side by side.',
        ],
        facts: { offer_ids: wanted.map(({ offerId }) => offerId) },
      },
    );
  }
  const flights = await session.flights();
  const found: { details: OfferDetailsResponse; number: string | null }[] = [];
  const payments: PaymentReceipt[] = [];
  const gone: string[] = [];
  for (const { offerId, number } of wanted) {
    terminal.phase(`Reading ${counted(wanted.length, 'fare')}`);
    try {
      const { value, payment } = await flights.offerDetails(offerId, { signal });
      if (payment) payments.push(payment);
      found.push({ details: value, number });
    } catch (error) {
      // One fare that is sold out does not hide the others; a single one is the whole question.
      if (wanted.length === 1 || !isProblem(error) || (error.kind.exit !== 3 && error.kind.exit !== 5))
        throw error;
      gone.push(`${number ?? offerId}: ${error.message}`);
    }
  }
  const [first] = found;
  const menu = first?.details.fare_menu;
  const numbers =
    menu && first ? await session.recentOffers.rememberMenu(first.details.offer, menu.fares) : {};
  const fares = found
    .flatMap(({ details, number }) =>
      details.fare_menu
        ? details.fare_menu.fares.map((fare) => menuFare(details, fare, numbers[fare.offer_id] ?? null))
        : [offeredFare(details, number)],
    )
    .toSorted(
      (a, b) =>
        Number(a.total_currency !== 'USD') - Number(b.total_currency !== 'USD') ||
        Number(a.total_amount_decimal) - Number(b.total_amount_decimal),
    );
  const comparison: FareComparison = {
    origin_iata: first?.details.offer.origin_iata ?? '',
    destination_iata: first?.details.offer.destination_iata ?? '',
    departing_at: first?.details.offer.departing_at ?? '',
    fares,
  };
  if (menu && menu.status !== 'ready') terminal.note('The fare menu is not open yet; nothing was charged.');
  const paid = payments.reduce((sum, one) => sum + parseUsdc(one.amount), 0n);
  terminal.result(
    { ...comparison, paid_amount: formatUsdc(paid), payments },
    fares.length === 0 ? { lines: () => ['No fares.'] } : comparisonView,
  );
  for (const line of gone) terminal.note(line);
  const [cheapest] = fares;
  terminal.aside([
    '',
    ...(payments.length > 0 ? [`Paid ${formatUsdc(paid)} USDC`] : []),
    ...(cheapest ? nextLines(offerCommand(cheapest.offer_id, shortOf(context, cheapest.offer_id))) : []),
  ]);
  return 0;
};

function offeredFare(
  { offer, available_services }: OfferDetailsResponse,
  number: string | null,
): ComparedFare {
  const { offer_id, fare_brand_name, owner_name, cabin_class, conditions } = offer;
  const { total_amount_decimal, total_currency, checked_bags_included, carry_on_bags_included } = offer;
  return {
    number,
    offer_id,
    fare_brand_name,
    owner_name,
    cabin_class,
    total_amount_decimal,
    total_currency,
    checked_bags_included,
    carry_on_bags_included,
    conditions,
    ...bagFor(offer, available_services),
  };
}

function menuFare(
  { offer, available_services }: OfferDetailsResponse,
  fare: MenuFare,
  number: string | null,
): ComparedFare {
  const { offer_id, fare_brand_name, total_amount_decimal, total_currency, conditions } = fare;
  return {
    number,
    offer_id,
    fare_brand_name,
    owner_name: offer.owner_name,
    cabin_class: offer.cabin_class,
    total_amount_decimal,
    total_currency,
    checked_bags_included: fare.checked_bags_included,
    carry_on_bags_included: fare.carry_on_bags_included,
    conditions,
    ...bagFor(fare, available_services),
  };
}
