import type { PaymentReceipt } from '../../../client/base/index.ts';
import type { FlightsClient } from '../../../client/index.ts';
import { groupByItinerary, sortOffers } from '../../../kernel/domain/offers.ts';
import { tableLines, type View } from '../../../terminal/index.ts';
import type { Offer, SearchRequestInput, SearchResponse, SearchUpdatesResponse } from '../../../wire/flights/index.ts';
import { followArrivals } from '../../searching/index.ts';
import type { ExitCode } from '../../settings/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { yesNo } from '../../view/flights/index.ts';
import { withPayment } from '../../view/index.ts';
import type * as spec from './spec.ts';

const PAUSE_MS = 500;

/**
 * The offers that landed after the cursor. The search is paid and this is free, so that an interruption loses nothing:
 * the same cursor gives the same offers again.
 */
export const searchUpdates: Run<typeof spec.searchUpdates> = async (context, { searchId, cursor, wait }) => {
  const { terminal, session, signal, clock } = context;
  const flights = await session.flights();
  const landed: Offer[] = [];
  for (let after = cursor; ; ) {
    const request = { search_id: searchId, ...(after !== undefined && { cursor: after }) };
    const answer = await flights.searchUpdates(request, { signal });
    landed.push(...answer.offers);
    if (!wait || answer.status === 'complete') {
      terminal.result({ ...answer, offers: landed }, view);
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
  lines: ({ offers, status, search_id, cursor }, { paint, width }) => [
    ...(offers.length === 0
      ? ['No more offers have arrived.']
      : tableLines(
          [
            'Departs',
            'Arrives',
            { title: 'Fare', cuts: true },
            'Bags',
            { title: 'Price', align: 'right' },
            { title: 'Seller', cuts: true },
            { title: 'Offer', cuts: true },
          ],
          offers.map(cellsOf),
          paint.dim,
          width,
        )),
    ...(status === 'complete'
      ? []
      : ['', `Slower sellers are still quoting. Next: farelock search-updates ${search_id} --cursor ${cursor}`]),
  ],
  rows: ({ offers }) => offers.map((offer) => [offer.offer_id, ...cellsOf(offer).slice(0, -1)]),
};

function cellsOf(offer: Offer): string[] {
  return [
    offer.departing_at.slice(0, 16).replace('T', ' '),
    offer.arriving_at.slice(0, 16).replace('T', ' '),
    offer.fare_brand_name ?? yesNo(null),
    String(offer.checked_bags_included ?? yesNo(null)),
    `${offer.total_amount_decimal} ${offer.total_currency}`,
    offer.owner_name,
    offer.offer_id,
  ];
}

/**
 * `search --ndjson`: a line for each offer as it arrives, each portion in the order that was asked for, then one line
 * with how it ended: `{ status, search_id, total_offers, payment }`. Offers of one itinerary that arrive at different
 * times share their `comparison_key`.
 */
export async function streamOffers(
  context: CommandContext,
  flights: FlightsClient,
  searched: {
    readonly first: SearchResponse;
    readonly payment: PaymentReceipt | null;
    readonly request: SearchRequestInput;
    readonly wait: boolean;
  },
): Promise<ExitCode> {
  const { terminal } = context;
  const { first, request } = searched;
  let total = 0;
  const tell = (offers: readonly Offer[]) => {
    total += offers.length;
    for (const offer of offers) terminal.event(offer, { lines: () => [] });
  };
  tell(first.offers);
  const ended = searched.wait
    ? await followArrivals(context, flights, first, (offers) => {
        const sorted = sortOffers(offers, request.sort ?? 'price');
        tell(request.cheapest_per_itinerary ? groupByItinerary(sorted) : sorted);
      })
    : null;
  const end = {
    status: ended === null ? first.status : ended.kind === 'complete' ? 'complete' : 'enriching',
    ...(first.search_id !== undefined && { search_id: first.search_id }),
    total_offers: total,
    ...(ended?.kind === 'failed' && { error: { code: ended.problem.code, message: ended.problem.message } }),
  };
  terminal.event(withPayment(end, searched.payment), { lines: () => [] });
  return ended?.kind === 'interrupted' ? 130 : 0;
}
