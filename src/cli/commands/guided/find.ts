import { join } from 'node:path';
import { instant } from '../../../kernel/clock.ts';
import { isProblem, type Problem } from '../../../kernel/problems.ts';
import { wordsOf } from '../../../kernel/shell-word.ts';
import { counted, fromNow } from '../../../terminal/index.ts';
import type { SearchRequestInput } from '../../../wire/flights/index.ts';
import { toldLines } from '../../interruption/index.ts';
import { gatherOffers } from '../../searching/index.ts';
import { numberedOffers, type SearchTitle } from '../../view/flights/index.ts';
import { openSearchMemory, type SearchMemory, searchRequestOf } from '../search/index.ts';
import { asFound } from './arrangement.ts';
import { type SameCommand, searchCommand } from './commands.ts';
import { paidCall } from './money.ts';
import { type Found, type Searched, type Step, said, type Walk } from './walk.ts';

/** Searches, and waits for the slower sellers; what a search costs is said before it is paid. */
export const searchStep: Step = async (walk) => {
  const { trip, context } = walk;
  const request = requestOf(walk);
  const known = memoryOf(walk).find(request);
  const wanted = await askWanted(walk, known);
  if (wanted === null) return 'back';
  // What was found and chosen before is no longer what is being looked for.
  Object.assign(trip, { found: null, offer: null, offerId: null, marked: null });
  Object.assign(trip.arrangement, asFound());
  try {
    const found = wanted === 'known' && known ? known : await search(walk, request);
    const { list } = found;
    trip.found = found;
    await context.session.recentOffers.remember(list.offers, numberedOffers(list, true));
    if (list.offers.length > 0) return 'itinerary';
    context.terminal.note('No offers match. Try another day.');
    await context.session.paidHere.shown();
    return 'depart';
  } catch (error) {
    if (!isTurnedDown(error)) throw error;
    await sayProblem(walk, error, { name: 'search', line: searchCommand(trip) });
    return 'from';
  }
};

const requestOf = ({ trip }: Walk): SearchRequestInput =>
  searchRequestOf({
    from: trip.from?.iata ?? '',
    to: trip.to?.iata ?? '',
    depart: trip.depart ?? '',
    ...(trip.back !== null && { return: trip.back }),
    adults: trip.adults,
    wait: true,
  });

/** Lists of earlier walks and of this one: the same search is not paid again while one of its offers can be had. */
const memoryOf = ({ context: { session, clock, terminal } }: Walk): SearchMemory<Searched> =>
  openSearchMemory({
    path: join(session.home, 'recent-walks.json'),
    baseUrl: session.baseUrl,
    clock,
    warn: terminal.note,
    goodForMs: Number.POSITIVE_INFINITY,
    alive({ list, ...rest }, nowMs) {
      const offers = list.offers.filter((offer) => Date.parse(offer.expires_at) > nowMs);
      return offers.length === 0 ? null : { ...rest, list: { ...list, offers, total_offers: offers.length } };
    },
  });

async function askWanted({ trip, ask, context: { clock } }: Walk, known: Found | null) {
  const route = `${trip.from?.iata} → ${trip.to?.iata}`;
  const answer = await ask.choose<'known' | 'search' | null>({
    message: known
      ? `You searched ${route} ${fromNow(instant(known.atMs), clock.now())}, and those fares are still available.`
      : `Search ${route}? It costs 0.10 USDC, more at busy times.`,
    lines: [
      ...(known ? [{ name: 'Show them again, free of charge', value: 'known' as const }] : []),
      { name: known ? 'Search again, for 0.10 USDC' : 'Search', value: 'search' },
      { name: 'Change something', value: null },
    ],
  });
  return answer.kind === 'back' ? null : answer.value;
}

async function search(walk: Walk, request: SearchRequestInput): Promise<Found> {
  const { trip, context } = walk;
  const { session, signal, terminal } = context;
  const title: SearchTitle = {
    from: request.origin_iata,
    to: request.destination_iata,
    depart: request.depart_date,
    return: request.return_date ?? undefined,
    adults: trip.adults,
    cabin: 'economy',
    grouped: true,
  };
  const flights = await session.flights();
  const { value, payment } = await paidCall(walk, 'the search', () =>
    flights.search(request, {
      signal,
      onPhase: (phase) => terminal.phase(phase === 'paying' ? 'Paying for the search' : 'Searching'),
    }),
  );
  const limit = Number.POSITIVE_INFINITY;
  const { list, ended } = await gatherOffers(context, flights, { first: value, request, title, limit });
  if (ended.kind === 'interrupted') throw signal.reason;
  terminal.settle();
  const count = counted(list.total_offers, 'itinerary', 'itineraries');
  said(walk, 'Search', `${count}${payment ? `, ${payment.amount} USDC` : ''}`, searchCommand(trip));
  if (ended.kind !== 'complete') terminal.note('Slower sellers may be missing from this list.');
  return memoryOf(walk).remember(request, { request, list, title });
}

/** A refusal that another answer may avoid. */
export const isTurnedDown = (error: unknown): error is Problem =>
  isProblem(error) && [2, 3, 5].includes(error.kind.exit) && !isProblem(error, 'input_required');

/** @param same the command that would have been refused alike */
export async function sayProblem({ context }: Walk, error: Problem, same: SameCommand): Promise<void> {
  const { terminal, session } = context;
  terminal.settle();
  const lines = await toldLines(error, {
    argv: wordsOf(same.line).slice(1),
    invocation: { name: same.name, options: same.options ?? {}, globals: context.globals },
    session,
  });
  for (const line of lines(terminal.asideScreen)) terminal.note(line);
}
