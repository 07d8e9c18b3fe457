import type { FlightsClient } from '../../client/types.ts';
import { withArrivals } from '../../domain/offer-groups.ts';
import type { Offer, SearchRequestInput, SearchResponse } from '../../wire/flights/index.ts';
import type { CommandContext } from '../spec/command.ts';
import type { SearchTitle } from '../view/flights/search.ts';
import { type ArrivalsEnd, followArrivals } from './arrivals.ts';
import { showQuoting } from './quoting.ts';

interface Gathering {
  /** The whole first answer, without a limit. */
  readonly first: SearchResponse;
  readonly request: SearchRequestInput;
  readonly title: SearchTitle;
  readonly limit: number;
}

/**
 * Waits for the slower offers and puts them where the service would have put them: sorted, grouped and limited
 * together with the first ones. `list` has what landed until the end, whatever it was.
 */
export async function gatherOffers(
  context: CommandContext,
  flights: FlightsClient,
  { first, request, title, limit }: Gathering,
): Promise<{ list: SearchResponse; ended: ArrivalsEnd }> {
  const quoting = showQuoting(context, title);
  const asked = { sort: request.sort ?? 'price', grouped: title.grouped };
  const arrived: Offer[] = [];
  const { poll_after_ms: _pause, ...answer } = first;
  const listNow = (status: SearchResponse['status']): SearchResponse => {
    const offers = withArrivals<Offer>(first.offers, arrived, asked);
    return { ...answer, status, offers: offers.slice(0, limit), total_offers: offers.length };
  };
  quoting.show(listNow('enriching'), 0);
  try {
    const ended = await followArrivals(context, flights, first, (offers) => {
      arrived.push(...offers);
      quoting.show(listNow('enriching'), arrived.length);
    });
    return { list: listNow(ended.kind === 'complete' ? 'complete' : 'enriching'), ended };
  } finally {
    await quoting.stop();
  }
}
