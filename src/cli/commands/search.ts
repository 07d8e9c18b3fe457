import type { SearchRequestInput } from '../../flights/wire.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import type { Command } from '../context.ts';
import { parseDate } from '../dates.ts';
import { printPlan } from '../plan.ts';
import { costLines, nextLines, withPayment } from '../view/payment.ts';
import { numberedOffers, type SearchTitle, searchView } from '../view/search.ts';

export interface SearchOptions {
  readonly from: string;
  readonly to: string;
  readonly depart: string;
  readonly return?: string;
  readonly adults?: number;
  readonly cabin?: NonNullable<SearchRequestInput['cabin_class']>;
  readonly maxStops?: number;
  readonly departAfter?: string;
  readonly departBefore?: string;
  readonly maxPrice?: bigint;
  readonly sort?: NonNullable<SearchRequestInput['sort']>;
  readonly limit?: number;
  readonly allFares?: true;
}

const SHOWN = 20;

/** The request that the options mean. @throws Problem `usage` for a date that is none */
export function searchRequestOf(options: SearchOptions, nowMs: number): SearchRequestInput {
  const depart = parseDate(options.depart, nowMs);
  const back = options.return === undefined ? undefined : parseDate(options.return, nowMs);
  if (back !== undefined && back < depart) {
    throw problem('usage', {
      message: `The flight back (${back}) is before the departure (${depart}).`,
      fix: 'Give a --return that is not before --depart.',
    });
  }
  if (options.from === options.to) {
    throw problem('usage', { message: 'Origin and destination are the same.', fix: 'Give two airports.' });
  }
  return {
    origin_iata: options.from,
    destination_iata: options.to,
    depart_date: depart,
    ...(back !== undefined && { return_date: back }),
    ...(options.adults !== undefined && { adults: options.adults }),
    ...(options.cabin !== undefined && { cabin_class: options.cabin }),
    ...(options.maxStops !== undefined && { max_stops: options.maxStops }),
    ...(options.departAfter !== undefined && { departure_after: options.departAfter }),
    ...(options.departBefore !== undefined && { departure_before: options.departBefore }),
    ...(options.maxPrice !== undefined && { max_price: formatUsdc(options.maxPrice) }),
    ...(options.sort !== undefined && { sort: options.sort }),
    limit: options.limit ?? SHOWN,
    cheapest_per_itinerary: !options.allFares,
  };
}

/** Searches, shows a line per itinerary, and remembers the numbers on the screen for the commands that follow. */
export const search: Command<SearchOptions> = async (context, options) => {
  const { terminal, session, clock, signal } = context;
  const request = searchRequestOf(options, clock.now());
  if (context.globals.dryRun) {
    printPlan(terminal, ['Pay for and send POST /air/search.'], { request });
    return 0;
  }
  const flights = await session.flights();
  const { value, payment } = await flights.search(request, {
    signal,
    onPhase: (phase) => terminal.phase(phase === 'paying' ? 'Paying for the search' : 'Searching'),
  });
  const grouped = request.cheapest_per_itinerary === true;
  const title: SearchTitle = {
    from: options.from,
    to: options.to,
    depart: request.depart_date,
    return: request.return_date,
    adults: options.adults ?? 1,
    cabin: options.cabin ?? 'economy',
    grouped,
  };
  terminal.result(withPayment(value, payment), searchView(title));
  await session.recentOffers.remember(value.offers, numberedOffers(value, grouped));
  const [first] = value.offers;
  const next = first
    ? nextLines(`farelock intent create ${first.offer_id}`)
    : ['Next: try another day, or fewer filters'];
  const byNumber =
    value.offers.length > 1 && context.streams.stdout.isTTY
      ? ['farelock intent create 2   (a # of the list)']
      : [];
  terminal.aside(['', ...costLines(payment), ...next, ...byNumber.map((line) => `      ${line}`)]);
  return 0;
};
