import type { CreatedIntent, OfferDetailsResponse, SearchUpdatesResponse } from '../../src/wire/flights/index.ts';
import { PASSENGER, type World } from './world.ts';

/** A traveller with the documents that the slower tier asks for. */
export const TRAVELLER = {
  ...PASSENGER,
  nationality: 'PT',
  passport_number: 'AB123456',
  passport_expiry: '2031-05-01',
};

/** An intent on the second fare of the first offer that lands on a route, in a world that was opened with lowcostMs. */
export async function lowcostIntent(world: World, origin: string, destination: string): Promise<CreatedIntent> {
  const search = await world.search({ origin_iata: origin, destination_iata: destination });
  world.clock.advance(60_000);
  const landed = await world.call<SearchUpdatesResponse>('/air/search-updates', { search_id: search.search_id });
  const offerId = landed.body.offers[0]?.offer_id;
  const details = () => world.paid<OfferDetailsResponse>('/air/offer-details', { offer_id: offerId });
  await details();
  world.clock.advance(30_000);
  const fare = (await details()).body.fare_menu?.fares[1];
  if (!fare) throw new Error('no fare menu');
  return world.intent(fare.offer_id);
}
