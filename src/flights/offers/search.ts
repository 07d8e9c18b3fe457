import type { Provider } from '../../airlines/index.ts';
import { DAY_MS, localDate } from '../../kernel/clock.ts';
import { metropolitanArea } from '../../kernel/domain/metropolitan-areas.ts';
import { isRealDate } from '../../kernel/domain/passengers.ts';
import { problem } from '../../kernel/problems.ts';
import type { PaidCall } from '../../payments/index.ts';
import type { SearchRequest, SearchResponse } from '../../wire/flights/index.ts';
import type { FlightsPorts } from '../base/index.ts';
import { configured } from './live-offer.ts';
import type { Pricing } from './pricing.ts';
import { groupByItinerary, partedOffers, queryOf, sortOffers } from './query.ts';

const MOST_DAYS_AHEAD = 360;

/** POST /air/search: filters, then sort, then grouping, then limit (spec/flight-service.md). */
export function createSearch(ports: FlightsPorts, pricing: Pricing) {
  /** Problems: `invalid_request`, `provider_not_configured`, `provider_failed`, `upstream_rate_limited`. */
  return function search(request: SearchRequest, url: string, requestId: string): PaidCall {
    return {
      resource: 'POST /air/search',
      url,
      request,
      settle: 'after',
      async check() {
        const provider = configured(ports.provider);
        checkTrip(request, provider, ports.clock.now());
        const ages = provider.leastAge === undefined ? '' : ` for travellers of ${provider.leastAge} and over`;
        return {
          amount: () => pricing.searchPrice(),
          payTo: ports.treasury,
          asset: ports.mint,
          description: `Search ${request.origin_iata} to ${request.destination_iata}${ages}`,
        };
      },
      async perform(payment) {
        const provider = configured(ports.provider);
        const query = queryOf(request);
        const found = await provider.search(query);
        const { passed, otherCurrency } = partedOffers(found, request);
        const sorted = sortOffers(passed, request.sort);
        const offers = request.cheapest_per_itinerary ? groupByItinerary(sorted) : sorted;
        const enriching = ports.lowcost?.serves(query) === true;
        const searchId = enriching && (await (await import('./search-updates.ts')).keepSearch(ports, request));
        await pricing.completed(payment.key);
        const body: SearchResponse = {
          request_id: requestId,
          status: searchId === false ? 'complete' : 'enriching',
          ...(searchId === false ? {} : { search_id: searchId, poll_after_ms: ports.options.pollAfterMs }),
          offers: offers.slice(0, request.limit),
          total_offers: offers.length,
          ...(otherCurrency > 0 ? { other_currency_offers: otherCurrency } : {}),
        };
        return { status: 200, body };
      },
      undo: (payment) => pricing.forget(payment.key),
    };
  };
}

/** Says why a code is no airport; for the code of a city, names its airports. */
function notAnAirport(code: string, provider: Provider): string {
  const area = metropolitanArea(code);
  if (area === null) return 'is not an airport we know.';
  const known = area.airports.filter((iata) => provider.airport(iata));
  const choice = known.length === 0 ? '' : `; its airports: ${known.join(', ')}`;
  return `is a city code (${area.city})${choice}.`;
}

/** Where a day ends last: of an airport whose zone is not known, no day is called past too early. */
const WHERE_DAYS_END = 'Etc/GMT+12';

/**
 * Checks what the schema can't: airports that are known, dates that exist and are neither past (where the journey
 * begins) nor too far ahead.
 * @throws Problem `invalid_request` with every issue
 */
function checkTrip(request: SearchRequest, provider: Provider, nowMs: number): void {
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
    if (!isRealDate(date)) issues.push({ path, message: 'is not a real date.' });
    else if (date < earliest) issues.push({ path, message: 'is in the past.' });
    else if (date > latest) issues.push({ path, message: `is more than ${MOST_DAYS_AHEAD} days ahead.` });
  }
  if (request.return_date !== undefined && request.return_date < request.depart_date) {
    issues.push({ path: 'return_date', message: 'is before depart_date.' });
  }
  const { departure_after: after, departure_before: before } = request;
  if (after !== undefined && before !== undefined && before < after) {
    issues.push({ path: 'departure_before', message: 'is before departure_after, so no flight fits.' });
  }
  if (issues.length > 0) throw problem('invalid_request', { detail: { issues } });
}

/**
 * The first and the last day that are sold, by the calendar of the zone. A zone's calendar is at most a day from
 * UTC's: it is only asked, which costs 15 ms, when a day of the request is that near to an end.
 */
function daysToSell(request: SearchRequest, nowMs: number, timeZone: string): [earliest: string, latest: string] {
  const days = [request.depart_date, request.return_date ?? request.depart_date];
  const utcDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const clear = days.every(
    (day) => day > utcDay(nowMs + DAY_MS) && day < utcDay(nowMs + (MOST_DAYS_AHEAD - 1) * DAY_MS),
  );
  const today = clear ? utcDay(nowMs) : localDate(nowMs, timeZone);
  return [today, utcDay(Date.parse(today) + MOST_DAYS_AHEAD * DAY_MS)];
}
