import { isProblem, type Problem } from '../../kernel/problems.ts';
import { searchRequestOf } from '../commands/search/request.ts';
import { gatherOffers } from '../searching/gathering.ts';
import { numberedOffers, type SearchTitle } from '../view/flights/search.ts';
import { problemLines } from '../view/problem.ts';
import { counted } from '../view/text.ts';
import { searchCommand } from './commands.ts';
import { paidCall } from './money.ts';
import { type Step, said, type Walk } from './walk.ts';

const SHOWN = 20;

/** Searches, and waits for the slower sellers; what a search costs is said before it is paid. */
export const searchStep: Step = async (walk) => {
  const { trip, context, ask } = walk;
  const { session, signal, terminal } = context;
  const answer = await ask.choose({
    message: `Search ${trip.from?.iata} → ${trip.to?.iata}? It costs 0.10 USDC, more when many search.`,
    lines: [
      { name: 'Search', value: true },
      { name: 'Change something', value: false },
    ],
  });
  if (answer.kind === 'back' || !answer.value) return 'back';
  const asked = {
    from: trip.from?.iata ?? '',
    to: trip.to?.iata ?? '',
    depart: trip.depart ?? '',
    ...(trip.back !== null && { return: trip.back }),
    adults: trip.adults,
    wait: true,
  };
  const request = searchRequestOf(asked);
  const title: SearchTitle = {
    from: asked.from,
    to: asked.to,
    depart: request.depart_date,
    return: request.return_date ?? undefined,
    adults: trip.adults,
    cabin: 'economy',
    grouped: true,
  };
  // What was found and chosen before is no longer what is being looked for.
  Object.assign(trip, { found: null, offer: null, offerId: null, position: 0 });
  const flights = await session.flights();
  try {
    const { value, payment } = await paidCall(walk, 'the search', () =>
      flights.search(request, {
        signal,
        onPhase: (phase) => terminal.phase(phase === 'paying' ? 'Paying for the search' : 'Searching'),
      }),
    );
    const { list, ended } = await gatherOffers(context, flights, {
      first: value,
      request,
      title,
      limit: SHOWN,
    });
    if (ended.kind === 'interrupted') throw signal.reason;
    terminal.settle();
    trip.found = { list, title };
    await session.recentOffers.remember(list.offers, numberedOffers(list, true));
    const cost = payment ? `, ${payment.amount} USDC` : '';
    said(
      walk,
      'Search',
      `${counted(list.total_offers, 'itinerary', 'itineraries')}${cost}`,
      searchCommand(trip),
    );
    if (ended.kind !== 'complete') terminal.note('Slower sellers may be missing from this list.');
    if (list.offers.length > 0) return 'itinerary';
    terminal.note('No offers match. Another day may have some.');
    await session.paidHere.shown();
    return 'depart';
  } catch (error) {
    if (!isTurnedDown(error)) throw error;
    sayProblem(walk, error);
    return 'from';
  }
};

/** A refusal that another answer may avoid. */
export const isTurnedDown = (error: unknown): error is Problem =>
  isProblem(error) && [2, 3, 5].includes(error.kind.exit) && !isProblem(error, 'input_required');

export function sayProblem({ context: { terminal } }: Walk, error: Problem): void {
  terminal.settle();
  for (const line of problemLines(error, terminal.asideScreen)) terminal.note(line);
}
