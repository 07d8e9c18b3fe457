import type { FlightsClient } from '../../client/index.ts';
import { hiddenTogether } from '../../kernel/domain/offer-filters.ts';
import { withArrivals } from '../../kernel/domain/offers.ts';
import { isProblem, type Problem } from '../../kernel/problems.ts';
import { canDrawLive, harmlessDocument, openLiveSign, screenWidth } from '../../terminal/index.ts';
import type { Offer, SearchRequestInput, SearchResponse } from '../../wire/flights/index.ts';
import type { CommandContext } from '../spec/index.ts';
import { listLines, type SearchTitle } from '../view/flights/index.ts';

/** How the wait for slower offers ended. The search is paid in any case, so the offers that have landed are shown. */
export type ArrivalsEnd =
  | { readonly kind: 'complete' }
  | { readonly kind: 'interrupted' }
  /** By --timeout, or after LONGEST_WAIT_MS. */
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'failed'; readonly problem: Problem };

const PAUSE_MS = 500;
const SHORTEST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;
const LONGEST_WAIT_MS = 120_000;
const MOST_FAILURES = 5;

/**
 * Polls for the offers that land after the first answer (POST /air/search-updates, free) until there are no more. Hands
 * each portion to `landed` once, with what the filters hid of it. Retries while the service is briefly away.
 */
export async function followArrivals(
  { clock, signal }: CommandContext,
  flights: FlightsClient,
  first: SearchResponse,
  landed: (offers: readonly Offer[], hidden: SearchResponse['hidden']) => void,
): Promise<ArrivalsEnd> {
  if (first.status === 'complete' || first.search_id === undefined) return { kind: 'complete' };
  const deadlineMs = clock.now() + LONGEST_WAIT_MS;
  const seen = new Set<string>();
  let cursor: string | undefined;
  let pauseMs = first.poll_after_ms ?? PAUSE_MS;
  for (let failures = 0; ; ) {
    await clock.sleep(Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, pauseMs)), signal);
    const cut = cutOff(signal);
    if (cut) return cut;
    if (clock.now() > deadlineMs) return { kind: 'timed_out' };
    try {
      const request = { search_id: first.search_id, ...(cursor !== undefined && { cursor }) };
      const updates = await flights.searchUpdates(request, { signal });
      failures = 0;
      // If an answer was lost, its offers come again, together with those that have landed since.
      const fresh = updates.offers.filter((offer) => fareIds(offer).some((id) => !seen.has(id)));
      for (const id of fresh.flatMap(fareIds)) seen.add(id);
      if (fresh.length > 0 || updates.hidden) landed(fresh, updates.hidden);
      if (updates.status === 'complete') return { kind: 'complete' };
      if (updates.cursor !== '') cursor = updates.cursor;
      pauseMs = updates.poll_after_ms ?? pauseMs;
    } catch (error) {
      const cutMeanwhile = cutOff(signal);
      if (cutMeanwhile) return cutMeanwhile;
      if (!isProblem(error)) throw error;
      if (error.kind.retryable !== true || ++failures >= MOST_FAILURES) return { kind: 'failed', problem: error };
      pauseMs = error.retryAfter === undefined ? pauseMs * 2 : error.retryAfter * 1000;
    }
  }
}

const fareIds = (offer: Offer): string[] => offer.fare_options?.map((fare) => fare.offer_id) ?? [offer.offer_id];

function cutOff(signal: AbortSignal): ArrivalsEnd | null {
  if (!signal.aborted) return null;
  return { kind: isProblem(signal.reason, 'timed_out') ? 'timed_out' : 'interrupted' };
}

/**
 * Waits for the slower offers, and sorts, groups and limits them together with the first ones, as the service would
 * have. `list` has all offers that landed, however the wait ended. On a terminal a provisional list is redrawn on
 * stderr as they land, a line an itinerary, and removed before the result is printed. Elsewhere a line or a spinner
 * shows the wait.
 */
export async function gatherOffers(
  context: CommandContext,
  flights: FlightsClient,
  given: {
    /** The whole first answer, without a limit. */
    readonly first: SearchResponse;
    readonly request: SearchRequestInput;
    readonly title: SearchTitle;
    readonly limit: number;
  },
): Promise<{ list: SearchResponse; ended: ArrivalsEnd }> {
  const { first, request, title, limit } = given;
  const { terminal, streams } = context;
  const sign = canDrawLive(context) ? openLiveSign(context) : null;
  const asked = { sort: request.sort ?? 'price', grouped: title.grouped };
  const arrived: Offer[] = [];
  let hidden = first.hidden;
  const { poll_after_ms: _pause, ...answer } = first;
  const listNow = (status: SearchResponse['status']): SearchResponse => {
    const offers = withArrivals<Offer>(first.offers, arrived, asked);
    return {
      ...answer,
      status,
      offers: offers.slice(0, limit),
      total_offers: offers.length,
      ...(hidden && { hidden }),
    };
  };
  const show = () => {
    const text = `Still quoting lowcost…${arrived.length > 0 ? ` ${arrived.length} more so far` : ''}`;
    if (sign === null) return terminal.phase(streams.stderr.isTTY ? text : 'Waiting for slower offers');
    const screen = { paint: terminal.asideScreen.paint, width: screenWidth(streams.stderr) };
    const lines = listLines(harmlessDocument(compact(listNow('enriching'))), title, screen);
    sign.show(fitted(lines, (streams.stderr.rows ?? 24) - 3, screen.paint.dim), text);
  };
  show();
  try {
    const ended = await followArrivals(context, flights, first, (offers, more) => {
      arrived.push(...offers);
      if (more) hidden = hiddenTogether(hidden, more);
      show();
    });
    return { list: listNow(ended.kind === 'complete' ? 'complete' : 'enriching'), ended };
  } finally {
    if (sign === null) terminal.settle();
    else await sign.stop();
  }
}

/** Leaves out the fare families, which only the final list shows: one line for each direction remains. */
const compact = (response: SearchResponse): SearchResponse => ({
  ...response,
  offers: response.offers.map(({ fare_options: _options, fare_options_count: _count, ...offer }): Offer => offer),
});

function fitted(lines: readonly string[], room: number, dim: (text: string) => string): string[] {
  if (lines.length <= room) return [...lines];
  const shown = Math.max(1, room - 1);
  return [...lines.slice(0, shown), dim(`… ${lines.length - shown} more lines`)];
}
