import { problem } from '../../../kernel/problems.ts';
import type { FareMenu, OfferDetailsResponse } from '../../../wire/flights/index.ts';
import { linkedOf, loadPaidPlan } from '../../paying/index.ts';
import { askedBags, bagFlags, bagsIn } from '../../searching/index.ts';
import { shortOf } from '../../session/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { loadSeatView, offerLines } from '../../view/flights/index.ts';
import { costLines, isLockable, lockCommand, nextLines, quoted, withPayment } from '../../view/index.ts';
import type * as spec from './spec.ts';

export const offer: Run<typeof spec.offer> = async (context, options) => {
  if (options.fares && options.seats) {
    throw problem('usage', { message: '--fares and --seats are two different views.', fix: 'Give one of them.' });
  }
  if (options.fares) return (await import('./fares.ts')).offerFares(context, options);
  const { terminal, session, clock, signal } = context;
  const offerId = session.recentOffers.resolve(options.offerId);
  const bags = askedBags(bagsIn(options) ?? session.recentOffers.bagsOf(options.offerId));
  const asked = { ...bags, ...(options.seats && { seats: true as const }) };
  if (context.globals.dryRun) {
    const { planPaid } = await loadPaidPlan();
    return planPaid(context, (flights) => flights.offerDetails(offerId, { signal, ...asked }), {
      after: [options.seats ? 'Show its seats.' : 'Show the offer.'],
      facts: { request: { offer_id: offerId, ...asked } },
    });
  }
  const flights = await session.flights();
  const isLowcost = offerId.startsWith('lowcost:');
  const { value, payment } = await flights.offerDetails(offerId, {
    signal,
    ...asked,
    onPhase: (phase) => {
      if (isLowcost) terminal.phase('Opening the fare menu');
      else terminal.phase(phase === 'paying' ? 'Paying for the offer' : 'Reading the offer');
    },
  });
  const { fare_menu: menu } = value;
  const numbers = menu ? await session.recentOffers.rememberMenu(value.offer, menu.fares) : {};
  if (options.seats && !value.seat_maps) terminal.note('This service shows no seats.');
  const seatLines = value.seat_maps && (await loadSeatView()).seatMapLines;
  terminal.result(withPayment(value, payment), {
    lines: (details, screen) =>
      seatLines
        ? seatLines(details.seat_maps ?? [], details.offer.total_currency, screen)
        : offerLines(details, numbers, clock.now(), screen),
  });
  const flags = [...bagFlags(asked.bags), ...(await seatToLock(value))];
  const lock = nextLines(lockCommand(shortOf(context, offerId), flags));
  const only = ['Next: choose another offer: only offers in USD can be locked'];
  const next = menu ? afterMenu(context, menu, offerId, bagFlags(asked.bags)) : isLockable(value.offer) ? lock : only;
  terminal.aside(['', ...costLines(payment, linkedOf(context)), ...next]);
  return 0;
};

/** The cheapest seat of the first flight for the first traveller, as an example. */
async function seatToLock({ seat_maps: [map] = [] }: OfferDetailsResponse): Promise<string[]> {
  if (!map) return [];
  const { cheapestSeat } = await loadSeatView();
  const seat = cheapestSeat(map, 0);
  return seat === null ? [] : ['--seats', `${'-/'.repeat(map.segment_index)}${seat}`];
}

function afterMenu(context: CommandContext, menu: FareMenu, offerId: string, bags: readonly string[]): string[] {
  if (menu.status === 'pending') return nextLines(`farelock offer ${quoted(shortOf(context, offerId))}`);
  if (menu.status === 'failed') return ['Next: choose another offer, or try this one again later'];
  const [first] = menu.fares;
  if (!first) return ['Next: choose another offer'];
  return nextLines(lockCommand(shortOf(context, first.offer_id), bags));
}
