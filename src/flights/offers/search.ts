import { type Fulfiller, type OfferQuery, type Provider, type QuerySlice, roundTripOf } from '../../airlines/index.ts';
import { DAY_MS, localDate } from '../../kernel/clock.ts';
import { wantsBags } from '../../kernel/domain/bags.ts';
import { metropolitanArea } from '../../kernel/domain/metropolitan-areas.ts';
import { filterOffers, lookupFor } from '../../kernel/domain/offer-filters.ts';
import { groupByItinerary, sortOffers } from '../../kernel/domain/offers.ts';
import { isRealDate } from '../../kernel/domain/passengers.ts';
import { agesFault } from '../../kernel/domain/travel-ages.ts';
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
import { configured, loadBags } from './live-offer.ts';
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
      const isOfAge = provider.leastAge !== undefined && childAgesOf(request).length === 0;
      const ages = isOfAge ? ` for travellers of ${provider.leastAge} and over` : '';
      const journey = slicesOf(request).map(({ origin, destination }) => `${origin} to ${destination}`);
      return toTreasury(ports, () => pricing.searchPrice(), `Search ${routeText(journey, request)}${ages}`);
    },
    async perform(payment) {
      const query = queryOf(request);
      const provider = configured(ports.provider);
      const { passed, ...left } = await suiting(provider, await provider.search(query), request);
      const offers = arranged(passed, request);
      const trip = roundTripOf(query);
      const isEnriching = trip !== null && ports.lowcost?.serves(trip) === true;
      const leftOut = trip === null ? leftOutOf(ports.lowcost, query) : null;
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
        ...(leftOut && { sellers_left_out: [leftOut] }),
      };
      return { status: 200, body };
    },
    undo: (payment) => pricing.forget(payment.key),
  };
}

/** Records a search, so that any process can report what the slower tier finds later. @returns the search id */
async function keepSearch({ store, clock, ids }: FlightsPorts, request: SearchRequest): Promise<string> {
  const nowMs = clock.now();
  const search_id = ids.next('sch');
  // Need not wait for the disk: its payment is written after it, and does.
  await regained(store)
    .insertInto('searches')
    .values({ search_id, request: JSON.stringify(request), started_at_ms: nowMs, expires_at_ms: nowMs + KEPT_MS })
    .execute();
  return search_id;
}

/** POST /air/search-updates, free: offers after the cursor, which counts unfiltered offers, alike in all processes. */
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
  const trip = roundTripOf(queryOf(request));
  if (!trip) throw problem('search_not_found');
  const found = await lowcost.quote(trip, row.started_at_ms);
  // The cursor never goes back, even if this process's clock is behind and shows fewer offers.
  const seen = Number(cursor ?? 0);
  const { passed, hidden } = await suiting(lowcost, found.offers.slice(seen), request);
  const offers = arranged(passed, request);
  // The `limit` best offers overall are among the `limit` best of each answer.
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

/** Names of the request fields that hold a direction's places and day. */
type Place = Readonly<Record<keyof QuerySlice, string>>;

/** Each direction with the request fields that name it. Without `slices`, the return swaps the places. */
function directionsOf(request: SearchRequest): { readonly slice: QuerySlice; readonly at: Place }[] {
  if (request.slices) {
    return request.slices.map(({ origin, destination, departure_date: departDate }, index) => ({
      slice: { origin, destination, departDate },
      at: {
        origin: `slices.${index}.origin`,
        destination: `slices.${index}.destination`,
        departDate: `slices.${index}.departure_date`,
      },
    }));
  }
  const { origin_iata: origin = '', destination_iata: destination = '', depart_date: departDate = '' } = request;
  const at = { origin: 'origin_iata', destination: 'destination_iata', departDate: 'depart_date' };
  const there = { slice: { origin, destination, departDate }, at };
  const { return_date: back } = request;
  if (back === undefined) return [there];
  const home = {
    slice: { origin: destination, destination: origin, departDate: back },
    at: { ...at, departDate: 'return_date' },
  };
  return [there, home];
}

const slicesOf = (request: SearchRequest): QuerySlice[] => directionsOf(request).map(({ slice }) => slice);

const childAgesOf = (request: SearchRequest): readonly number[] => request.child_ages ?? [];

/** Names a round trip by its outbound route. */
const routeText = (journey: readonly string[], { slices }: SearchRequest): string =>
  slices ? journey.join(', ') : (journey[0] ?? '');

/** The sellers that serve one of the directions for adults but cannot sell this query, and why; null if none. */
function leftOutOf(lowcost: FlightsPorts['lowcost'], { slices, adults, childAges, cabinClass }: OfferQuery) {
  const isFlown = slices.some((slice) => lowcost?.serves({ ...slice, adults, cabinClass }));
  if (!isFlown) return null;
  return { sellers: 'lowcost', because: childAges.length > 0 ? 'child_ages' : 'slices' } as const;
}

const queryOf = (request: SearchRequest): OfferQuery => ({
  slices: slicesOf(request),
  adults: request.adults,
  childAges: childAgesOf(request),
  cabinClass: request.cabin_class,
});

/** The offers that pass the filters, and how many each filter hid; `max_price` compares US dollars only. */
async function suiting(seller: Pick<Provider | Fulfiller, 'bagsOf'>, offers: readonly Offer[], request: SearchRequest) {
  const { passed, hidden } = await filtered(seller, offers, request);
  const others = hidden.find(({ filter }) => filter === 'max_price')?.unknown ?? 0;
  return { passed, ...(others > 0 ? { other_currency_offers: others } : {}), ...(hidden.length > 0 ? { hidden } : {}) };
}

/** Filters offers. Bag prices, if the search has bags, are asked only for offers that pass the other filters. */
async function filtered(
  seller: Pick<Provider | Fulfiller, 'bagsOf'>,
  offers: readonly Offer[],
  request: SearchRequest,
) {
  const lookup = await lookupFor(request);
  const { bags, max_price, ...others } = request;
  if (!wantsBags(bags)) return filterOffers(offers, request, lookup);
  const { passed, hidden } = filterOffers(offers, others, lookup);
  const priced = filterOffers(await (await loadBags()).carriedOffers(seller, passed, bags), { max_price });
  return { passed: priced.passed, hidden: [...hidden, ...priced.hidden] };
}

function arranged(offers: readonly Offer[], request: SearchRequest): Offer[] {
  const sorted = sortOffers(offers, request.sort);
  return request.cheapest_per_itinerary ? groupByItinerary(sorted) : sorted;
}

/** Checks for unknown airline codes and times that exclude each other, before anything is charged. */
async function filterIssues(request: SearchRequest, { isSandbox }: Provider): Promise<Issue[]> {
  const issues: Issue[] = [];
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
    // The table has most real airlines, but not all.
    if (airlineByCode(code) || (!isSandbox && /^[A-Z\d]{2}$/.test(code))) continue;
    const near = airlinesNear(code).map((one) => `${one.code} (${one.name})`);
    const hint = didYouMeanOneOf(near) || 'Give its two-letter code, as in a flight number.';
    issues.push({ path, message: `names an unknown airline: ${code}. ${hint}` });
  }
  return issues;
}

/** Sort key that puts `18:00+1` after every time of the day before. */
const dayAndTime = (time: string): string => `${time.split('+')[1] ?? '0'} ${time.slice(0, 5)}`;

/** Says why a code is no airport; for the code of a city, names its airports. */
function notAnAirport(code: string, provider: Provider): string {
  const area = metropolitanArea(code);
  if (area === null) return 'is not an airport we know. Check its three-letter code.';
  const known = area.airports.filter((iata) => provider.airport(iata));
  const choice = known.length === 0 ? '' : `; its airports: ${known.join(', ')}`;
  return `is a city code (${area.city})${choice}.`;
}

/** The latest time zone, for airports with an unknown zone: avoids calling a day past too early. */
const WHERE_DAYS_END = 'Etc/GMT+12';

type Issue = { path: string; message: string };

/** Checks airports, dates and ages. @throws Problem `invalid_request` with every issue */
async function checkTrip(request: SearchRequest, provider: Provider, nowMs: number): Promise<void> {
  const missing = missingIssues(request);
  const issues = [...missing, ...agesIssues(request)];
  const directions = missing.length > 0 ? [] : directionsOf(request);
  const isReturn = request.return_date !== undefined;
  for (const [index, { slice, at }] of directions.entries()) {
    // A return has the places of the outbound direction.
    if (!(isReturn && index > 0)) issues.push(...placeIssues(slice, at, provider));
  }
  const zone = provider.airport(directions[0]?.slice.origin ?? '')?.timeZone ?? WHERE_DAYS_END;
  const [earliest, latest] = daysToSell(
    directions.map(({ slice }) => slice.departDate),
    nowMs,
    zone,
  );
  for (const [index, { slice, at }] of directions.entries()) {
    const { departDate: date } = slice;
    const path = at.departDate;
    if (!isRealDate(date)) issues.push({ path, message: 'is not a real date. Write it as 2026-12-20.' });
    else if (date < earliest) issues.push({ path, message: 'is in the past. Choose today or later.' });
    else if (date > latest)
      issues.push({ path, message: `is more than ${MOST_DAYS_AHEAD} days ahead. Choose an earlier day.` });
    const before = directions[index - 1];
    if (before && date < before.slice.departDate) issues.push({ path, message: `is before ${before.at.departDate}.` });
  }
  issues.push(...(await filterIssues(request, provider)));
  if (issues.length > 0) throw problem('invalid_request', { detail: { issues } });
}

const JOURNEY = ['origin_iata', 'destination_iata', 'depart_date'] as const;

/** A journey needs either these fields or `slices`. */
function missingIssues(request: SearchRequest): Issue[] {
  const message = request.slices ? 'says what slices says: leave it out.' : 'is missing.';
  return [...JOURNEY, ...(request.slices ? (['return_date'] as const) : [])]
    .filter((path) => (request[path] === undefined) === (request.slices === undefined))
    .map((path) => ({ path, message }));
}

function agesIssues(request: SearchRequest): Issue[] {
  const message = agesFault(request.adults, childAgesOf(request));
  return message === null ? [] : [{ path: 'child_ages', message }];
}

function placeIssues({ origin, destination }: QuerySlice, at: Place, provider: Provider): Issue[] {
  const issues: Issue[] = [];
  for (const [code, path] of [
    [origin, at.origin],
    [destination, at.destination],
  ] as const) {
    const isOther = metropolitanArea(code) === null ? provider.takesAnyAirport : provider.takesCities;
    const mayBe = provider.airport(code) !== null || isOther;
    if (!mayBe) issues.push({ path, message: notAnAirport(code, provider) });
  }
  if (origin === destination) issues.push({ path: at.destination, message: 'is the same as the origin.' });
  return issues;
}

/** First and last day on sale in the time zone, which is looked up (15 ms) only for days within a day of either end. */
function daysToSell(days: readonly string[], nowMs: number, timeZone: string): [earliest: string, latest: string] {
  const utcDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const clear = days.every(
    (day) => day > utcDay(nowMs + DAY_MS) && day < utcDay(nowMs + (MOST_DAYS_AHEAD - 1) * DAY_MS),
  );
  const today = clear ? utcDay(nowMs) : localDate(nowMs, timeZone);
  return [today, utcDay(Date.parse(today) + MOST_DAYS_AHEAD * DAY_MS)];
}
