import type { FlightsClient, PaymentReceipt } from '../../../client/base/index.ts';
import { groupByItinerary } from '../../../kernel/domain/offer-groups.ts';
import { sortOffers } from '../../../kernel/domain/offer-order.ts';
import type { Offer, SearchRequestInput, SearchResponse } from '../../../wire/flights/index.ts';
import { followArrivals } from '../../searching/index.ts';
import type { ExitCode } from '../../settings/index.ts';
import type { CommandContext } from '../../spec/index.ts';
import { withPayment } from '../../view/index.ts';

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
