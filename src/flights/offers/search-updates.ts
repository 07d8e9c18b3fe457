import { problem } from '../../kernel/problems.ts';
import { regained } from '../../store/base/index.ts';
import type { SearchRequest, SearchUpdatesRequest, SearchUpdatesResponse } from '../../wire/flights/index.ts';
import type { FlightsPorts } from '../base/index.ts';
import { filterOffers, groupByItinerary, queryOf, sortOffers } from './query.ts';

/** How long a search is kept (CONTRACT, section 3). */
const KEPT_MS = 30 * 60_000;
const LEAST_POLL_MS = 100;

/**
 * Puts a search on record, so that any process can tell what the slower tier has found for it since.
 * @returns the search id
 */
export async function keepSearch(ports: FlightsPorts, request: SearchRequest): Promise<string> {
  const nowMs = ports.clock.now();
  const searchId = ports.ids.next('sch');
  // Its payment is written down after it, and waits for the disk.
  await regained(ports.store)
    .insertInto('searches')
    .values({
      search_id: searchId,
      request: JSON.stringify(request),
      started_at_ms: nowMs,
      expires_at_ms: nowMs + KEPT_MS,
    })
    .execute();
  return searchId;
}

/**
 * POST /air/search-updates, free: the offers that landed after the cursor, filtered, sorted, grouped and limited as
 * the search was. A cursor counts what has landed, whatever the filters left of it, so that it means the same to
 * every process. Cutting each answer to `limit` loses nothing of the `limit` best of all of them together.
 * @throws Problem `search_not_found`, `provider_failed`
 */
export async function searchUpdates(
  ports: FlightsPorts,
  { search_id: searchId, cursor }: SearchUpdatesRequest,
): Promise<SearchUpdatesResponse> {
  const { store, clock, lowcost, options } = ports;
  const row = await store
    .selectFrom('searches')
    .selectAll()
    .where('search_id', '=', searchId)
    .where('expires_at_ms', '>', clock.now())
    .executeTakeFirst();
  if (!row || !lowcost) throw problem('search_not_found');
  const request = JSON.parse(row.request) as SearchRequest;
  const found = await lowcost.quote(queryOf(request), row.started_at_ms);
  // A cursor that is ahead of this process's clock stays where it is.
  const seen = Number(cursor ?? 0);
  const fresh = sortOffers(filterOffers(found.offers.slice(seen), request), request.sort);
  const offers = request.cheapest_per_itinerary ? groupByItinerary(fresh) : fresh;
  const answer = {
    search_id: searchId,
    offers: offers.slice(0, request.limit),
    cursor: String(Math.max(seen, found.offers.length)),
  };
  if (found.kind === 'quoted') return { ...answer, status: 'complete' };
  const waitMs = Math.min(options.pollAfterMs, found.nextAtMs - clock.now());
  return { ...answer, status: 'enriching', poll_after_ms: Math.max(LEAST_POLL_MS, waitMs) };
}
