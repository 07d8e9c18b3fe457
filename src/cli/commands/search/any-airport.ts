import { join } from 'node:path';
import { type FlightsClient, freeCall, type PaymentReceipt } from '../../../client/base/index.ts';
import { instant } from '../../../kernel/clock.ts';
import { findAirports } from '../../../kernel/domain/airports.ts';
import { metropolitanArea } from '../../../kernel/domain/metropolitan-areas.ts';
import { withArrivals } from '../../../kernel/domain/offers.ts';
import { formatUsdc, parseUsdc } from '../../../kernel/money.ts';
import { isProblem, problem } from '../../../kernel/problems.ts';
import { counted, type View } from '../../../terminal/index.ts';
import type { Offer, SearchResponse } from '../../../wire/flights/index.ts';
import { followArrivals } from '../../searching/index.ts';
import { shortOf } from '../../session/index.ts';
import type { ExitCode } from '../../settings/index.ts';
import type { CommandContext } from '../../spec/index.ts';
import { incompleteText, numberedOffers, searchView } from '../../view/flights/index.ts';
import { firstOfferLines, printPlan } from '../../view/index.ts';
import {
  agreeTotal,
  costFacts,
  costOf,
  costText,
  type Gap,
  openShares,
  type SearchesDone,
  searchMany,
  searchPrice,
} from './many-days.ts';
import { openSearchMemory, type Remembered, type SearchMemory } from './prices.ts';
import { limitOf, searchRequestOf, titleOf, type WaitingOptions } from './request.ts';

/** From an airport of a city to another one. */
interface Route {
  readonly origin_iata: string;
  readonly destination_iata: string;
}

/** The answer of a route with what landed after it. */
interface FoundAnswer {
  readonly answer: SearchResponse;
}

type FoundRoute = Route & Remembered<FoundAnswer> & { readonly status: 'found' };

/** The printed result: the offers of all airports as of one search, and how the search of each route ended. */
interface AnyAirportDocument extends SearchResponse {
  readonly routes: readonly (Route &
    (
      | Gap
      | {
          readonly status: 'found';
          readonly searched_at: string;
          readonly is_complete: boolean;
          readonly total_offers: number;
        }
    ))[];
  readonly searches: number;
  readonly paid_amount: string;
  readonly payments: readonly PaymentReceipt[];
}

/**
 * `search LON BER`: any airport of a city. A service that takes cities is asked once. Another one knows airports alone: then
 * this is a paid search for each of them, and how many there are and what they cost together is shown, and agreed to,
 * before the first one (days/agree.ts). The result is one list, shown however the command ends. Searches that are still
 * valid are kept, and not paid for again.
 */
export async function searchAnyAirport(context: CommandContext, options: WaitingOptions): Promise<ExitCode> {
  const { session, globals, terminal } = context;
  const airports = airportsOf(options.from).flatMap((origin_iata) =>
    airportsOf(options.to)
      .filter((one) => one !== origin_iata)
      .map((destination_iata): Route => ({ origin_iata, destination_iata })),
  );
  if (airports.length === 0)
    throw problem('usage', { message: 'Origin and destination are the same.', fix: 'Give two cities.' });
  const requestOf = ({ origin_iata, destination_iata }: Route) =>
    searchRequestOf({ ...options, from: origin_iata, to: destination_iata });
  terminal.phase('Asking what a search costs');
  const cities = { origin_iata: options.from, destination_iata: options.to };
  const routes = (await takes(context, requestOf(cities))) ? [cities] : airports;
  const memory = memoryOf(context);
  const known = routes.flatMap((route): FoundRoute[] => {
    const found = memory.find(requestOf(route));
    // A search that did not wait is no answer for one that does.
    return found && (found.answer.status === 'complete' || !options.wait)
      ? [{ ...route, ...found, status: 'found' }]
      : [];
  });
  const done = new Map<string, FoundRoute | (Route & Gap)>(known.map((one) => [routeText(one), one]));
  const asked = routes.filter((one) => !done.has(routeText(one)));
  const price = asked[0] ? await searchPrice(context, requestOf(asked[0])) : 0n;
  const cost = costOf(asked.length, price, freeCall(session.profile.limits));
  if (globals.dryRun) {
    const pays =
      asked.length === 0 ? 'Pay nothing: every route is known.' : `Pay ${costText(cost, globals.maxPayment)}.`;
    printPlan(terminal, [pays, 'Show all offers as one list.'], {
      request: requestOf(routes[0] ?? cities),
      routes,
      ...costFacts(cost, globals.maxPayment),
    });
    return 0;
  }
  terminal.settle();
  terminal.note(`Any airport: ${routes.map(routeText).join(', ')}`);
  if (known.length > 0)
    terminal.note(`${counted(known.length, 'route')} known from the last 10 minutes: not paid again.`);
  const total = asked.length === 0 ? 0n : await agreeTotal(context, cost);
  if (asked.length > 0) terminal.phase(`Searching ${counted(asked.length, 'route')}`);
  const ended = await searchMany<Route, FoundRoute>(context, {
    asked,
    requestOf,
    flights: (amount) => session.flights({ agreed: { kind: 'call', amount } }),
    shares: openShares(total, asked.length),
    async found(route, first, within, flights) {
      const answer = options.wait ? await whole(within, flights, first, options) : first;
      return { ...route, ...memory.remember(requestOf(route), { answer }), status: 'found' };
    },
    told({ done: one, risen }) {
      if (one) done.set(routeText(one), one);
      const waits = risen ? `; a search costs ${risen.to} USDC now` : '';
      terminal.phase(`${done.size} of ${counted(routes.length, 'route')} searched${waits}`);
    },
  });
  terminal.settle();
  const all = routes.map((one) => done.get(routeText(one)) ?? { ...one, status: 'not_searched' as const });
  return tell(context, options, all, ended);
}

/** True where the service takes the codes of cities; asking is free. */
async function takes(context: CommandContext, request: ReturnType<typeof searchRequestOf>): Promise<boolean> {
  try {
    await searchPrice(context, request);
    return true;
  } catch (error) {
    if (isProblem(error, 'invalid_request')) return false;
    throw error;
  }
}

/** Answers whose offers have not all expired. */
const memoryOf = ({ session, clock, terminal }: CommandContext): SearchMemory<FoundAnswer> =>
  openSearchMemory<FoundAnswer>({
    path: join(session.home, 'recent-routes.json'),
    baseUrl: session.baseUrl,
    clock,
    warn: terminal.note,
    alive({ answer }, nowMs) {
      const offers = answer.offers.filter((offer) => Date.parse(offer.expires_at) > nowMs);
      if (offers.length === 0 && answer.offers.length > 0) return null;
      return {
        answer: { ...answer, offers, total_offers: answer.total_offers - answer.offers.length + offers.length },
      };
    },
  });

/** The airports of a city that are known by name; an airport is its own. */
const airportsOf = (code: string): string[] =>
  metropolitanArea(code) === null ? [code] : findAirports(code).map(({ airport }) => airport.iata);

const routeText = ({ origin_iata, destination_iata }: Route): string => `${origin_iata} → ${destination_iata}`;

const orderOf = (options: WaitingOptions) => ({ sort: options.sort ?? 'price', grouped: !options.allFares });

/** The first answer with what landed after it. */
async function whole(
  context: CommandContext,
  flights: FlightsClient,
  first: SearchResponse,
  options: WaitingOptions,
): Promise<SearchResponse> {
  const arrived: Offer[] = [];
  const ended = await followArrivals(context, flights, first, (offers) => arrived.push(...offers));
  const offers = withArrivals<Offer>(first.offers, arrived, orderOf(options));
  const status = ended.kind === 'complete' ? 'complete' : 'enriching';
  return { ...first, status, offers, total_offers: offers.length };
}

async function tell(
  context: CommandContext,
  options: WaitingOptions,
  routes: readonly (FoundRoute | (Route & Gap))[],
  { payments, stoppedBy }: SearchesDone,
): Promise<ExitCode> {
  const { terminal, signal, session, streams } = context;
  const answers = routes.flatMap((one) => (one.status === 'found' ? [one.answer] : []));
  const [first] = answers;
  if (!first) {
    if (signal.aborted) throw signal.reason;
    const [failed] = routes.flatMap((one) => (one.status === 'failed' ? [one.error] : []));
    throw stoppedBy ?? problem(failed?.code ?? 'payment_above_cap', failed && { message: failed.message });
  }
  const title = titleOf(options);
  const offers = withArrivals<Offer>(
    [],
    answers.flatMap((one) => one.offers),
    orderOf(options),
  );
  const isWhole = answers.length === routes.length && answers.every(({ status }) => status === 'complete');
  const others = answers.reduce((sum, one) => sum + (one.other_currency_offers ?? 0), 0);
  const document: AnyAirportDocument = {
    request_id: first.request_id,
    status: isWhole ? 'complete' : 'enriching',
    offers: offers.slice(0, limitOf(options)),
    total_offers: answers.reduce((sum, one) => sum + one.total_offers, 0),
    ...(others > 0 ? { other_currency_offers: others } : {}),
    routes: routes.map((one) =>
      one.status === 'found'
        ? {
            origin_iata: one.origin_iata,
            destination_iata: one.destination_iata,
            status: 'found',
            searched_at: instant(one.atMs),
            is_complete: one.answer.status === 'complete',
            total_offers: one.answer.total_offers,
          }
        : one,
    ),
    searches: payments.length,
    paid_amount: formatUsdc(payments.reduce((sum, one) => sum + parseUsdc(one.amount), 0n)),
    payments,
  };
  const drawn: View<AnyAirportDocument> = searchView(title);
  terminal.result(document, drawn);
  await session.recentOffers.remember(document.offers, numberedOffers(document, title.grouped));
  const incomplete = incompleteText(document, title);
  if (incomplete && (terminal.settings.json || !streams.stdout.isTTY)) terminal.note(incomplete);
  const gaps = routes.filter((one) => one.status !== 'found');
  if (gaps.length > 0) {
    const why = signal.aborted ? 'Interrupted: ' : stoppedBy ? `${stoppedBy.message} ` : '';
    terminal.note(`${why}Not searched: ${gaps.map(routeText).join(', ')}.`);
  }
  terminal.aside([
    '',
    payments.length === 0
      ? 'Nothing was paid.'
      : `Paid ${document.paid_amount} USDC for ${counted(payments.length, 'search', 'searches')}`,
    ...firstOfferLines(document.offers, (id) => shortOf(context, id)),
  ]);
  return signal.aborted && !isProblem(signal.reason, 'timed_out') ? 130 : 0;
}
