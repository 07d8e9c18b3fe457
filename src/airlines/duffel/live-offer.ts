import { problem } from '../../kernel/problems.ts';
import type { LiveOffer } from '../provider.ts';
import type { Attempts } from './attempts.ts';
import { readOffer } from './offers.ts';
import { documentRule } from './order-form.ts';
import { type Fields, list, object, offerId, text } from './read.ts';
import { readServices } from './services.ts';
import { type Answer, dataOf, failed, isOk, type Transport } from './transport.ts';
import type { Zones } from './zones.ts';

export interface OfferPorts {
  readonly transport: Transport;
  readonly zones: Zones;
}

interface FreshOffer extends LiveOffer {
  readonly saleKey: string;
  /** As Duffel gave it. */
  readonly raw: Fields;
}

/**
 * Reads an offer with its price of this moment. Seats are not promised by it.
 * @throws Problem `offer_not_found`, `offer_unavailable`, `offer_expired`, `upstream_rate_limited`, `provider_failed`
 */
export async function freshOffer({ transport, zones }: OfferPorts, id: string): Promise<FreshOffer> {
  // An id of another provider, or of nobody: Duffel need not be asked.
  if (offerId(id) === null) throw problem('offer_not_found');
  const answer = await transport.ask({
    operation: 'offer',
    method: 'GET',
    path: `/air/offers/${id}?return_available_services=true`,
    isRefusable: true,
  });
  if (!isOk(answer)) throw goneProblem(answer) ?? failed(answer);
  const raw = dataOf(answer);
  const gaps: string[] = [];
  const offer = readOffer(raw, {
    zones,
    missing(field) {
      gaps.push(field);
      return null;
    },
  });
  const passengerCount = list(raw.passengers)?.length ?? 0;
  if (offer?.offer_id !== id || passengerCount === 0) {
    throw failed(answer, `The airline's offer can't be read: ${gaps[0] ?? 'passengers'}.`);
  }
  return { offer, passengerCount, availableServices: readServices(raw), saleKey: saleKeyOf(raw), raw };
}

/** Offers of one search, and the order of it, have the same travellers, by Duffel's ids. */
export const saleKeyOf = (raw: Fields): string =>
  text(object((list(raw.passengers) ?? [])[0])?.id) ?? String(raw.id);

/**
 * The same, for somebody who has no order on its search yet.
 * @throws Problem `offer_unavailable` where an order was made, or may have been made, from one of its offers; those of
 *   `freshOffer`
 */
export async function unsoldOffer(
  ports: OfferPorts & { readonly attempts: Attempts },
  id: string,
): Promise<LiveOffer> {
  const { raw, ...live } = await freshOffer(ports, id);
  const attempts = await ports.attempts.bySearch(live.saleKey);
  if (attempts.some(({ verdict }) => verdict !== 'none')) throw problem('offer_unavailable');
  const { required, supported } = documentRule(raw);
  return { ...live, isUnpayable: required && !supported };
}

/** The problem of an offer that can't be had any more; null for any other answer. */
export function goneProblem({ status, codes }: Answer) {
  if (codes.includes('offer_expired')) return problem('offer_expired');
  if (codes.includes('offer_no_longer_available')) return problem('offer_unavailable');
  return status === 404 && codes.includes('not_found') ? problem('offer_not_found') : null;
}
