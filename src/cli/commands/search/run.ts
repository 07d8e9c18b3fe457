import type { PaymentReceipt } from '../../../client/types.ts';
import { metropolitanArea } from '../../../domain/metropolitan-areas.ts';
import type { SearchRequestInput, SearchResponse } from '../../../flights/wire.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { problem } from '../../../kernel/problems.ts';
import { linkedOf } from '../../paying/explorer.ts';
import type { ArrivalsEnd } from '../../searching/arrivals.ts';
import { parseDate } from '../../searching/dates.ts';
import type { Command, CommandContext } from '../../spec/command.ts';
import type { ExitCode } from '../../spec/globals.ts';
import { incompleteText, numberedOffers, type SearchTitle, searchView } from '../../view/flights/search.ts';
import { costLines, nextLines, offerCommand, withPayment } from '../../view/payment.ts';

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
  /** true under --wait, false under --no-wait. */
  readonly wait?: boolean;
  readonly ndjson?: true;
  /** Days either side of both dates. */
  readonly flex?: number;
  readonly cheapestDay?: true;
}

const SHOWN = 20;

/**
 * The request that the options mean. Who waits for slower offers asks for the whole answer, for one of them may bring
 * an itinerary into the list that the first answer would have cut off; the list is limited when it is complete.
 * @throws Problem `usage` for a date that is none */
export function searchRequestOf(options: WaitingOptions, nowMs: number): SearchRequestInput {
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
    ...limitAsked(options),
    cheapest_per_itinerary: !options.allFares,
  };
}

/**
 * A person waits for slower offers and sees them arrive. A program gets the service's own answer at once, with the
 * `search_id` to ask on; it waits when it says so.
 */
interface WaitingOptions extends SearchOptions {
  readonly wait: boolean;
}

const limitOf = (options: SearchOptions): number => options.limit ?? SHOWN;

/** A stream has no best few: only a limit that was given is passed on, for the first answer. */
function limitAsked(options: WaitingOptions): { limit?: number } {
  if (options.ndjson) return options.limit === undefined ? {} : { limit: options.limit };
  return options.wait ? {} : { limit: limitOf(options) };
}

/**
 * Searches, waits for the slower offers, shows a line per itinerary, and remembers the numbers on the screen for the
 * commands that follow. What was paid for is shown, however the waiting ends.
 */
export const search: Command<SearchOptions> = async (context, given) => {
  if (given.flex !== undefined || given.cheapestDay) {
    const { searchByDay } = await import('./days.ts');
    return searchByDay(context, await withCodes(context, given));
  }
  const { terminal, session, clock, signal, globals } = context;
  const options = { ...(await withCodes(context, given)), wait: given.wait ?? globals.json === undefined };
  if (options.ndjson && globals.json !== undefined) {
    throw problem('usage', { message: '--json and --ndjson exclude each other.', fix: 'Give one of them.' });
  }
  const request = searchRequestOf(options, clock.now());
  if (globals.dryRun) {
    const { planPaid } = await import('../../paying/paid-plan.ts');
    return planPaid(context, (flights) => flights.search(request, { signal }), {
      after: ['Show what is found.'],
      facts: { request },
    });
  }
  const flights = await session.flights();
  const { value, payment } = await flights.search(request, {
    signal,
    onPhase: (phase) => terminal.phase(phase === 'paying' ? 'Paying for the search' : 'Searching'),
  });
  if (options.ndjson) {
    const { streamOffers } = await import('./stream.ts');
    return streamOffers(context, flights, { first: value, payment, request, wait: options.wait });
  }
  const title: SearchTitle = {
    from: options.from,
    to: options.to,
    depart: request.depart_date,
    return: request.return_date ?? undefined,
    adults: options.adults ?? 1,
    cabin: options.cabin ?? 'economy',
    grouped: request.cheapest_per_itinerary === true,
  };
  const limit = limitOf(options);
  if (options.wait && value.status === 'enriching') {
    const { gatherOffers } = await import('../../searching/gathering.ts');
    const { list, ended } = await gatherOffers(context, flights, { first: value, request, title, limit });
    await show(context, list, payment, title);
    return sayEnd(context, ended);
  }
  await show(context, { ...value, offers: value.offers.slice(0, limit) }, payment, title);
  return 0;
};

/** With the codes of airports that were given by name or by city code; the names are loaded for those alone. */
export async function withCodes<T extends Pick<SearchOptions, 'from' | 'to'>>(
  context: CommandContext,
  given: T,
): Promise<T> {
  const isCode = (text: string) => /^[A-Z]{3}$/.test(text) && metropolitanArea(text) === null;
  if (isCode(given.from) && isCode(given.to)) return given;
  const { airportCode } = await import('../../searching/airports.ts');
  const from = isCode(given.from) ? given.from : await airportCode(context, 'from', given.from);
  return { ...given, from, to: isCode(given.to) ? given.to : await airportCode(context, 'to', given.to) };
}

async function show(
  context: CommandContext,
  list: SearchResponse,
  payment: PaymentReceipt | null,
  title: SearchTitle,
): Promise<void> {
  const { terminal, session, streams } = context;
  terminal.result(withPayment(list, payment), searchView(title));
  await session.recentOffers.remember(list.offers, numberedOffers(list, title.grouped));
  // Off a terminal the result is for a program: what the list does not prove is said beside it.
  const incomplete = incompleteText(list, title);
  if (incomplete && (terminal.settings.json || !streams.stdout.isTTY)) terminal.note(incomplete);
  const [first] = list.offers;
  const next = first ? nextLines(offerCommand(first.offer_id)) : ['Next: try another day, or fewer filters'];
  const byNumber =
    list.offers.length > 1 && streams.stdout.isTTY ? ['farelock intent create 2   (a # of the list)'] : [];
  terminal.aside([
    '',
    ...costLines(payment, linkedOf(context)),
    ...next,
    ...byNumber.map((line) => `      ${line}`),
  ]);
}

function sayEnd({ terminal }: CommandContext, ended: ArrivalsEnd): ExitCode {
  if (ended.kind === 'complete') return 0;
  const why = {
    interrupted: 'Interrupted',
    timed_out: 'The time was up',
    failed: ended.kind === 'failed' ? ended.problem.message.replace(/\.$/, '') : '',
  }[ended.kind];
  terminal.note(`${why}: slower offers may be missing from this list.`);
  terminal.note('It is paid, and its numbers stand; a search once more is paid once more.');
  return ended.kind === 'interrupted' ? 130 : 0;
}
