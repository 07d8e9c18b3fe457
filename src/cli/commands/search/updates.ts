import type { PaymentReceipt } from '../../../client/base/index.ts';
import type { FlightsClient } from '../../../client/index.ts';
import { hiddenTogether } from '../../../kernel/domain/offer-filters.ts';
import { groupByItinerary, sortOffers } from '../../../kernel/domain/offers.ts';
import { type ListColumn, listLines, type View } from '../../../terminal/index.ts';
import type { Offer, SearchRequestInput, SearchResponse, SearchUpdatesResponse } from '../../../wire/flights/index.ts';
import { followArrivals } from '../../searching/index.ts';
import type { ExitCode } from '../../settings/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { hiddenLines, yesNo } from '../../view/flights/index.ts';
import { withPayment } from '../../view/index.ts';
import type * as spec from './spec.ts';

const PAUSE_MS = 500;

/** The same cursor gives the same offers again, free of charge: an interruption loses nothing. */
export const searchUpdates: Run<typeof spec.searchUpdates> = async (context, { searchId, cursor, wait }) => {
  const { terminal, session, signal, clock } = context;
  const flights = await session.flights();
  const landed: Offer[] = [];
  let hidden: SearchUpdatesResponse['hidden'];
  for (let after = cursor; ; ) {
    const request = { search_id: searchId, ...(after !== undefined && { cursor: after }) };
    const answer = await flights.searchUpdates(request, { signal });
    landed.push(...answer.offers);
    if (answer.hidden) hidden = hiddenTogether(hidden, answer.hidden);
    if (!wait || answer.status === 'complete') {
      terminal.result({ ...answer, offers: landed, ...(hidden && { hidden }) }, view);
      return 0;
    }
    after = answer.cursor;
    terminal.phase('Waiting for slower offers');
    await clock.sleep(answer.poll_after_ms ?? PAUSE_MS, signal);
    signal.throwIfAborted();
  }
};

const view: View<SearchUpdatesResponse> = {
  list: 'offers',
  lines: ({ offers, status, search_id, cursor, hidden }, screen) => [
    ...(offers.length === 0 ? ['No more offers have arrived.'] : listLines(screen, offers, COLUMNS)),
    ...hiddenLines(hidden, screen),
    ...(status === 'complete'
      ? []
      : ['', `Some sellers have not answered yet. Next: farelock search updates ${search_id} --cursor ${cursor}`]),
  ],
  rows: ({ offers }) =>
    offers.map((offer) => [offer.offer_id, ...COLUMNS.slice(0, -1).map(({ cell }, index) => cell(offer, index))]),
};

const minuteOf = (local: string): string => local.slice(0, 16).replace('T', ' ');

const COLUMNS: readonly ListColumn<Offer>[] = [
  { title: 'Departs', cell: (offer) => minuteOf(offer.departing_at) },
  { title: 'Arrives', cell: (offer) => minuteOf(offer.arriving_at) },
  { title: 'Fare', cuts: true, cell: (offer) => offer.fare_brand_name ?? yesNo(null) },
  { title: 'Bags', cell: (offer) => String(offer.checked_bags_included ?? yesNo(null)) },
  { title: 'Price', align: 'right', cell: (offer) => `${offer.total_amount_decimal} ${offer.total_currency}` },
  { title: 'Seller', cuts: true, cell: (offer) => offer.owner_name },
  { title: 'Offer', cuts: true, cell: (offer) => offer.offer_id },
];

/**
 * `search --ndjson`: a line for each offer as it arrives, each portion sorted as asked, then a line for the end:
 * `{ status, search_id, total_offers, payment }`. Offers of one itinerary that arrive at different times share their
 * `comparison_key`.
 */
export async function streamOffers(
  context: CommandContext,
  flights: FlightsClient,
  first: SearchResponse,
  payment: PaymentReceipt | null,
  request: SearchRequestInput,
  wait: boolean,
): Promise<ExitCode> {
  const { terminal } = context;
  let total = 0;
  let { hidden } = first;
  const tell = (offers: readonly Offer[]) => {
    total += offers.length;
    for (const offer of offers) terminal.event(offer, { lines: () => [] });
  };
  tell(first.offers);
  const ended = wait
    ? await followArrivals(context, flights, first, (offers, more) => {
        if (more) hidden = hiddenTogether(hidden, more);
        const sorted = sortOffers(offers, request.sort ?? 'price');
        tell(request.cheapest_per_itinerary ? groupByItinerary(sorted) : sorted);
      })
    : null;
  const end = {
    status: ended === null ? first.status : ended.kind === 'complete' ? 'complete' : 'enriching',
    ...(first.search_id !== undefined && { search_id: first.search_id }),
    total_offers: total,
    ...(hidden && { hidden }),
    ...(ended?.kind === 'failed' && { error: { code: ended.problem.code, message: ended.problem.message } }),
  };
  terminal.event(withPayment(end, payment), { lines: () => [] });
  return ended?.kind === 'interrupted' ? 130 : 0;
}
