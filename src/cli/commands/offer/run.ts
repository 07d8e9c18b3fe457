import type { OfferDetailsResponse } from '../../../wire/flights/index.ts';
import { linkedOf, loadPaidPlan } from '../../paying/index.ts';
import { shortOf } from '../../session/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { fareMenuLines, offerLines } from '../../view/flights/index.ts';
import { costLines, isLockable, nextLines, quoted, withPayment } from '../../view/index.ts';
import type * as spec from './spec.ts';

/** Fresh price, conditions and extras of one offer; of a lowcost offer the fare menu to choose from. */
export const offer: Run<typeof spec.offer> = async (context, options) => {
  if (options.fares) return (await import('./fares.ts')).offerFares(context, options);
  const { terminal, session, clock, signal } = context;
  const offerId = session.recentOffers.resolve(options.offerId);
  if (context.globals.dryRun) {
    const { planPaid } = await loadPaidPlan();
    return planPaid(context, (flights) => flights.offerDetails(offerId, { signal }), {
      after: ['Show the offer.'],
      facts: { request: { offer_id: offerId } },
    });
  }
  const flights = await session.flights();
  const isLowcost = offerId.startsWith('lowcost:');
  const { value, payment } = await flights.offerDetails(offerId, {
    signal,
    onPhase: (phase) => {
      if (isLowcost) terminal.phase('Opening the fare menu');
      else terminal.phase(phase === 'paying' ? 'Paying for the offer' : 'Reading the offer');
    },
  });
  if (value.fare_menu === undefined) {
    terminal.result(withPayment(value, payment), {
      lines: (details, screen) => offerLines(details, clock.now(), screen),
    });
    terminal.aside([
      '',
      ...costLines(payment, linkedOf(context)),
      ...(isLockable(value.offer)
        ? nextLines(`farelock intent create ${quoted(shortOf(context, offerId))}`)
        : ['Next: choose another offer: only offers in USD can be locked']),
    ]);
    return 0;
  }
  const { fares } = value.fare_menu;
  const numbers = await session.recentOffers.rememberMenu(value.offer, fares);
  terminal.result(withPayment(value, payment), {
    lines: (details, screen) => [
      ...offerLines(details, clock.now(), screen),
      '',
      ...(details.fare_menu ? fareMenuLines(details.fare_menu, numbers, clock.now(), screen) : []),
    ],
  });
  terminal.aside(['', ...costLines(payment, linkedOf(context)), ...afterMenu(context, value, offerId, numbers)]);
  return 0;
};

function afterMenu(
  context: CommandContext,
  { fare_menu: menu }: OfferDetailsResponse,
  offerId: string,
  numbers: Readonly<Record<string, string>>,
): string[] {
  if (menu?.status === 'pending') return nextLines(`farelock offer ${quoted(shortOf(context, offerId))}`);
  if (menu?.status === 'failed') return ['Next: choose another offer, or try this one again later'];
  const [first, second] = menu?.fares ?? [];
  if (!first) return ['Next: choose another offer'];
  const number = numbers[(second ?? first).offer_id];
  const byNumber = context.streams.stdout.isTTY && number !== undefined;
  return [
    ...nextLines(`farelock intent create ${quoted(shortOf(context, first.offer_id))}`),
    ...(byNumber ? [`      farelock intent create ${number}   (a # of the menu)`] : []),
  ];
}
