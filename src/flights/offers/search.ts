import type { OfferQuery, Provider } from '../../airlines/index.ts';
import { DAY_MS, localDate } from '../../kernel/clock.ts';
import { metropolitanArea } from '../../kernel/domain/metropolitan-areas.ts';
import { filterOffers, lookupFor } from '../../kernel/domain/offer-filters.ts';
import { groupByItinerary, sortOffers } from '../../kernel/domain/offers.ts';
import { isRealDate } from '../../kernel/domain/passengers.ts';
import { didYouMeanOneOf } from '../../kernel/nearest.ts';
import { problem } from '../../kernel/problems.ts';
import type { PaidCall } from '../../payments/index.ts';
import { regained } from '../../store/base/index.ts';
import type {
  Offer,
  SearchRequest,
  SearchResponse,
  SearchUpdatesRequest,
  SearchUpdatesResponse,
} from '../../wire/flights/index.ts';
import type { Asked, FlightsPorts } from '../base/index.ts';
import { toTreasury } from '../base/index.ts';
import { configured } from './live-offer.ts';
import type { Pricing } from './pricing.ts';

const MOST_DAYS_AHEAD = 360;
/** How long a search is kept (CONTRACT, section 3). */
const KEPT_MS = 30 * 60_000;
const LEAST_POLL_MS = 100;

/** POST /air/search: filters, then sort, then grouping, then limit (spec/flight-service.md). */
export function searchCall(
  ports: FlightsPorts,
  pricing: Pricing,
  { body: request, url }: Asked<SearchRequest>,
  requestId: string,
): PaidCall {
  return {
    resource: 'POST /air/search',
    url,
    request,
    settle: 'after',
    async check() {
      const provider = configured(ports.provider);
      await checkTrip(request, provider, ports.clock.now());
      const ages = provider.leastAge === undefined ? '' : ` for travellers of ${provider.leastAge} and over`;
      return toTreasury(
        ports,
        () => pricing.searchPrice(),
        `Search ${request.origin_iata} to ${request.destination_iata}${ages}`,
      );
    },
    async perform(payment) {
      const query = queryOf(request);
      const found = await configured(ports.provider).search(query);
      const { passed, ...left } = await suiting(found, request);
      const offers = arranged(passed, request);
      const isEnriching = ports.lowcost?.serves(query) === true;
      const progress = isEnriching
        ? { search_id: await keepSearch(ports, request), poll_after_ms: ports.options.pollAfterMs }
        : {};
      await pricing.completed(payment.key);
      const body: SearchResponse = {
        request_id: requestId,
        status: isEnriching ? 'enriching' : 'complete',
        ...progress,
        offers: offers.slice(0, request.limit),
        total_offers: offers.length,
        ...left,
      };
      return { status: 200, body };
    },
    undo: (payment) => pricing.forget(payment.key),
  };
}

/** Records a search, so that any process can tell what the slower tier has found since. @returns the search id */
async function keepSearch({ store, clock, ids }: FlightsPorts, request: SearchRequest): Promise<string> {
  const nowMs = clock.now();
  const search_id = ids.next('sch');
  // Its payment is written down after it, and waits for the disk.
  await regained(store)
    .insertInto('searches')
    .values({ search_id, request: JSON.stringify(request), started_at_ms: nowMs, expires_at_ms: nowMs + KEPT_MS })
    .execute();
  return search_id;
}

/** POST /air/search-updates, free: offers after the cursor, which counts them before filters, alike everywhere. */
export async function searchUpdates(
  ports: FlightsPorts,
  { search_id, cursor }: SearchUpdatesRequest,
): Promise<SearchUpdatesResponse> {
  const { store, clock, lowcost, options } = ports;
  const row = await store
    .selectFrom('searches')
    .selectAll()
    .where('search_id', '=', search_id)
    .where('expires_at_ms', '>', clock.now())
    .executeTakeFirst();
  if (!row || !lowcost) throw problem('search_not_found');
  const request = JSON.parse(row.request) as SearchRequest;
  const found = await lowcost.quote(queryOf(request), row.started_at_ms);
  // A cursor that is ahead of this process's clock stays where it is.
  const seen = Number(cursor ?? 0);
  const { passed, hidden } = await suiting(found.offers.slice(seen), request);
  const offers = arranged(passed, request);
  // Cutting each answer to `limit` keeps the `limit` best of all.
  const answer = {
    search_id,
    offers: offers.slice(0, request.limit),
    cursor: String(Math.max(seen, found.offers.length)),
    ...(hidden && { hidden }),
  };
  if (found.kind === 'quoted') return { ...answer, status: 'complete' };
  const waitMs = Math.min(options.pollAfterMs, found.nextAtMs - clock.now());
  return { ...answer, status: 'enriching', poll_after_ms: Math.max(LEAST_POLL_MS, waitMs) };
}

const queryOf = (request: SearchRequest): OfferQuery => ({
  origin: request.origin_iata,
  destination: request.destination_iata,
  departDate: request.depart_date,
  returnDate: request.return_date,
  adults: request.adults,
  cabinClass: request.cabin_class,
});

/** The offers that pass the filters, and how many each filter hid; `max_price` compares US dollars alone. */
async function suiting(offers: readonly Offer[], request: SearchRequest) {
  const { passed, hidden } = filterOffers(offers, request, await lookupFor(request));
  const others = hidden.find(({ filter }) => filter === 'max_price')?.unknown ?? 0;
  return { passed, ...(others > 0 ? { other_currency_offers: others } : {}), ...(hidden.length > 0 ? { hidden } : {}) };
}

function arranged(offers: readonly Offer[], request: SearchRequest): Offer[] {
  const sorted = sortOffers(offers, request.sort);
  return request.cheapest_per_itinerary ? groupByItinerary(sorted) : sorted;
}

/** Checks codes of airlines, and times that exclude each other, before anything is charged. */
async function filterIssues(request: SearchRequest): Promise<{ path: string; message: string }[]> {
  const issues: { path: string; message: string }[] = [];
  const excludes = (path: 'departure' | 'arrival') => {
    const [after, before] = [request[`${path}_after`], request[`${path}_before`]];
    if (after === undefined || before === undefined || dayAndTime(before) >= dayAndTime(after)) return;
    issues.push({ path: `${path}_before`, message: `is before ${path}_after, so no flight fits.` });
  };
  excludes('departure');
  excludes('arrival');
  const named = (['airlines', 'not_airlines'] as const).flatMap((path) =>
    (request[path] ?? []).map((code) => ({ path, code })),
  );
  if (named.length === 0) return issues;
  const { airlineByCode, airlinesNear } = await import('../../kernel/domain/airline-table.ts');
  for (const { path, code } of named) {
    if (airlineByCode(code)) continue;
    const near = airlinesNear(code).map((one) => `${one.code} (${one.name})`);
    const hint = didYouMeanOneOf(near) || 'Give its two-letter code, as in a flight number.';
    issues.push({ path, message: `names an unknown airline: ${code}. ${hint}` });
  }
  return issues;
}

/** `18:00+1` after every time of the day before. */
const dayAndTime = (time: string): string => `${time.split('+')[1] ?? '0'} ${time.slice(0, 5)}`;

/** Says why a code is no airport; for the code of a city, names its airports. */
function notAnAirport(code: string, provider: Provider): string {
  const area = metropolitanArea(code);
  if (area === null) return 'is not an airport we know. Check its three-letter code.';
  const known = area.airports.filter((iata) => provider.airport(iata));
  const choice = known.length === 0 ? '' : `; its airports: ${known.join(', ')}`;
  return `is a city code (${area.city})${choice}.`;
}

/** The latest time zone: avoids calling a day past too early where an airport's zone is unknown. */
const WHERE_DAYS_END = 'Etc/GMT+12';

/** Checks airports, and real dates neither past nor too far ahead. @throws Problem `invalid_request`, every issue */
async function checkTrip(request: SearchRequest, provider: Provider, nowMs: number): Promise<void> {
  const issues: { path: string; message: string }[] = [];
  const origin = provider.airport(request.origin_iata);
  for (const path of ['origin_iata', 'destination_iata'] as const) {
    const code = request[path];
    const isOther = metropolitanArea(code) === null ? provider.takesAnyAirport : provider.takesCities;
    const mayBe = provider.airport(code) !== null || isOther;
    if (!mayBe) issues.push({ path, message: notAnAirport(code, provider) });
  }
  if (request.origin_iata === request.destination_iata) {
    issues.push({ path: 'destination_iata', message: 'is the same as the origin.' });
  }
  const [earliest, latest] = daysToSell(request, nowMs, origin?.timeZone ?? WHERE_DAYS_END);
  for (const path of ['depart_date', 'return_date'] as const) {
    const date = request[path];
    if (date === undefined) continue;
    if (!isRealDate(date)) issues.push({ path, message: 'is not a real date. Write it as 2026-12-20.' });
    else if (date < earliest) issues.push({ path, message: 'is in the past. Choose today or later.' });
    else if (date > latest)
      issues.push({ path, message: `is more than ${MOST_DAYS_AHEAD} days ahead. Choose an earlier day.` });
  }
  if (request.return_date !== undefined && request.return_date < request.depart_date) {
    issues.push({ path: 'return_date', message: 'is before depart_date.' });
  }
  issues.push(...(await filterIssues(request)));
  if (issues.length > 0) throw problem('invalid_request', { detail: { issues } });
}

/** The first and last day sold, by the zone's calendar: looked up (15 ms) only for days within a day of either end. */
function daysToSell(request: SearchRequest, nowMs: number, timeZone: string): [earliest: string, latest: string] {
  const days = [request.depart_date, request.return_date ?? request.depart_date];
  const utcDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const clear = days.every(
    (day) => day > utcDay(nowMs + DAY_MS) && day < utcDay(nowMs + (MOST_DAYS_AHEAD - 1) * DAY_MS),
  );
  const today = clear ? utcDay(nowMs) : localDate(nowMs, timeZone);
  return [today, utcDay(Date.parse(today) + MOST_DAYS_AHEAD * DAY_MS)];
}
