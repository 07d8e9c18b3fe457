import type { PaidCall } from '../../payments/index.ts';
import type { OfferDetailsResponse } from '../../wire/flights/index.ts';
import type { FlightsPorts } from '../base/index.ts';
import { checkUnsold, configured } from './live-offer.ts';
import { isLowcost } from './lowcost.ts';

/** POST /air/offer-details: the price of this moment, and what can be added to the fare. */
export function createOfferDetails(ports: FlightsPorts) {
  /** Problems: `offer_*`, `provider_not_configured`, `provider_failed`, `upstream_rate_limited`. */
  return async function offerDetails(request: { offer_id: string }, url: string, client: string): Promise<PaidCall> {
    if (isLowcost(request.offer_id)) {
      return (await import('./lowcost-offers.ts')).lowcostDetails(ports, request, url, client);
    }
    return {
      resource: 'POST /air/offer-details',
      url,
      request,
      settle: 'after',
      async check() {
        configured(ports.provider);
        return {
          amount: ports.options.offerDetailsPrice,
          payTo: ports.treasury,
          asset: ports.mint,
          description: 'Fresh price and extras of one offer',
        };
      },
      async perform() {
        const live = await configured(ports.provider).offer(request.offer_id);
        await checkUnsold(ports.store, live.saleKey);
        const body: OfferDetailsResponse = { offer: live.offer, available_services: [...live.availableServices] };
        return { status: 200, body };
      },
    };
  };
}
