import type { Command } from '../context.ts';
import { printPlan } from '../plan.ts';
import { offerLines } from '../view/offer.ts';
import { costLines, nextLines, withPayment } from '../view/payment.ts';

export interface OfferOptions {
  /** An offer id, or a number of the last search. */
  readonly offerId: string;
}

/** Fresh price, conditions and extras of one offer. */
export const offer: Command<OfferOptions> = async (context, options) => {
  const { terminal, session, clock, signal } = context;
  const offerId = session.recentOffers.resolve(options.offerId);
  if (context.globals.dryRun) {
    printPlan(terminal, ['Pay for and send POST /air/offer-details.'], { request: { offer_id: offerId } });
    return 0;
  }
  const flights = await session.flights();
  const { value, payment } = await flights.offerDetails(offerId, {
    signal,
    onPhase: (phase) => terminal.phase(phase === 'paying' ? 'Paying for the offer' : 'Reading the offer'),
  });
  terminal.result(withPayment(value, payment), {
    lines: (details, screen) => offerLines(details, clock.now(), screen),
  });
  terminal.aside(['', ...costLines(payment), ...nextLines(`farelock intent create ${offerId}`)]);
  return 0;
};
