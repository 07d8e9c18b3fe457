import { instant } from '../../../kernel/clock.ts';
import { findAirports } from '../../../kernel/domain/airports.ts';
import { metropolitanArea } from '../../../kernel/domain/metropolitan-areas.ts';
import { hiddenTogether } from '../../../kernel/domain/offer-filters.ts';
import { withArrivals } from '../../../kernel/domain/offers.ts';
import { isProblem, problem } from '../../../kernel/problems.ts';
import { counted } from '../../../terminal/index.ts';
import type { Offer, SearchResponse } from '../../../wire/flights/index.ts';
import { shortOf } from '../../session/index.ts';
import type { ExitCode } from '../../settings/index.ts';
import type { CommandContext } from '../../spec/index.ts';
import { suitingText } from '../../view/flights/index.ts';
import { firstOfferLines } from '../../view/index.ts';
import { filtersOf, limitOf, openSearchMemory, searchRequestOf, showOffers, type WaitingOptions } from './index.ts';
import { type Ended, searchMany } from './many.ts';
import { searchPrice } from './price.ts';
import type { AnyAirportDocument } from './result.ts';

interface Route {
  readonly origin_iata: string;
  readonly destination_iata: string;
}

/** The answer for a route, with the offers that arrived after it. */
type FoundAnswer = { readonly answer: SearchResponse };

/**
 * `search LON BER`: searches all airports of a city. One paid search is enough for a service that takes cities; others
 * need one for each pair of airports. Shows one list however the command ends. Searches that are still valid are not
 * paid for again.
 */
export async function searchAnyAirport(context: CommandContext, options: WaitingOptions): Promise<ExitCode> {
  const airports = airportsOf(options.from).flatMap((origin_iata) =>
    airportsOf(options.to)
      .filter((one) => one !== origin_iata)
      .map((destination_iata): Route => ({ origin_iata, destination_iata })),
  );
  if (airports.length === 0)
    throw problem('usage', { message: 'Origin and destination are the same.', fix: 'Choose two cities.' });
  const requestOf = ({ origin_iata, destination_iata }: Route) =>
    searchRequestOf({ ...options, from: origin_iata, to: destination_iata });
  const cities = { origin_iata: options.from, destination_iata: options.to };
  const routes = (await takes(context, requestOf(cities))) ? [cities] : airports;
  const ended = await searchMany<Route, FoundAnswer>(context, {
    noun: 'route',
    cells: routes,
    requestOf,
    waits: options.wait,
    // An answer is dropped once all of its offers have expired.
    memory: openSearchMemory(context, 'recent-routes.json', ({ answer }, nowMs) => {
      const offers = answer.offers.filter((offer) => Date.parse(offer.expires_at) > nowMs);
      if (offers.length === 0 && answer.offers.length > 0) return null;
      return {
        answer: { ...answer, offers, total_offers: answer.total_offers - answer.offers.length + offers.length },
      };
    }),
    keep(first, landed, isComplete) {
      if (!options.wait) return { answer: first };
      const offers = withArrivals<Offer>(first.offers, landed, orderOf(options));
      const status = isComplete ? 'complete' : 'enriching';
      return { answer: { ...first, status, offers, total_offers: offers.length } };
    },
    isComplete: ({ answer }) => answer.status === 'complete',
    plan: {
      step: `Show all offers${suitingText(filtersOf(options))} as one list.`,
      facts: { request: requestOf(routes[0] ?? cities), routes },
    },
    heading: `Any airport: ${routes.map(routeText).join(', ')}`,
    progress({ size }, risen) {
      const waits = risen ? `; a search costs ${context.terminal.usdc(risen.to)} now` : '';
      context.terminal.phase(`${size} of ${counted(routes.length, 'route')} searched${waits}`);
    },
  });
  return ended === null ? 0 : show(context, options, routes, ended);
}

/** True if the service takes the codes of cities; asking is free. */
async function takes(context: CommandContext, request: ReturnType<typeof searchRequestOf>): Promise<boolean> {
  try {
    await searchPrice(context, request);
    return true;
  } catch (error) {
    if (isProblem(error, 'invalid_request')) return false;
    throw error;
  }
}

/** The airports of a city that are known by name; for an airport, the airport itself. */
const airportsOf = (code: string): string[] =>
  metropolitanArea(code) === null ? [code] : findAirports(code).map(({ airport }) => airport.iata);

const routeText = ({ origin_iata, destination_iata }: Route): string => `${origin_iata} → ${destination_iata}`;

const orderOf = (options: WaitingOptions) => ({ sort: options.sort ?? 'price', grouped: !options.allFares });

async function show(
  context: CommandContext,
  options: WaitingOptions,
  routes: readonly Route[],
  { results, paid, paidText, stoppedBy, why, exit }: Ended<Route, FoundAnswer>,
): Promise<ExitCode> {
  const { terminal } = context;
  const all = routes.map((route) => ({ route, result: results.get(route) ?? ({ status: 'not_searched' } as const) }));
  const answers = all.flatMap(({ result }) => (result.status === 'kept' ? [result.answer] : []));
  const [first] = answers;
  if (!first) {
    const [failed] = all.flatMap(({ result }) => (result.status === 'failed' ? [result.error] : []));
    throw stoppedBy ?? problem(failed?.code ?? 'payment_above_cap', failed && { message: failed.message });
  }
  const found = answers.flatMap((one) => one.offers);
  const isWhole = answers.length === routes.length && answers.every(({ status }) => status === 'complete');
  const others = answers.reduce((sum, one) => sum + (one.other_currency_offers ?? 0), 0);
  const hidden = hiddenTogether(...answers.map((one) => one.hidden));
  const document: AnyAirportDocument = {
    request_id: first.request_id,
    status: isWhole ? 'complete' : 'enriching',
    offers: withArrivals<Offer>([], found, orderOf(options)).slice(0, limitOf(options)),
    total_offers: answers.reduce((sum, one) => sum + one.total_offers, 0),
    ...(others > 0 ? { other_currency_offers: others } : {}),
    ...(hidden.length > 0 ? { hidden } : {}),
    routes: all.map(({ route, result }) => {
      if (result.status !== 'kept') return { ...route, ...result };
      const { answer, atMs } = result;
      const { total_offers } = answer;
      const is_complete = answer.status === 'complete';
      return { ...route, status: 'found', searched_at: instant(atMs), is_complete, total_offers };
    }),
    ...paid,
  };
  await showOffers(context, document, options);
  const gaps = all.flatMap(({ route, result }) => (result.status === 'kept' ? [] : [routeText(route)]));
  if (gaps.length > 0) terminal.note(`${why}Not searched: ${gaps.join(', ')}.`);
  terminal.aside([
    '',
    paidText ?? 'Nothing was paid.',
    ...firstOfferLines(document.offers, (id) => shortOf(context, id)),
  ]);
  return exit;
}
