import { byPrice } from './filters.ts';
import type { FareOption, Offer } from './wire.ts';

/**
 * One entry per physical itinerary (`comparison_key`), in the order in which itineraries first appear: the first
 * offer of each, with every fare of the itinerary in `fare_options`, cheapest first. Nothing is lost: each offer
 * given is a fare option of exactly one entry.
 */
export function groupByItinerary(offers: readonly Offer[]): Offer[] {
  const groups = new Map<string, Offer[]>();
  for (const offer of offers) {
    const group = groups.get(offer.comparison_key);
    if (group) group.push(offer);
    else groups.set(offer.comparison_key, [offer]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const options = [...group].sort(byPrice).map(fareOption);
    return [{ ...first, fare_options_count: options.length, fare_options: options }];
  });
}

function fareOption(offer: Offer): FareOption {
  const { conditions } = offer;
  return {
    offer_id: offer.offer_id,
    owner_name: offer.owner_name,
    fare_brand_name: offer.fare_brand_name,
    total_amount_decimal: offer.total_amount_decimal,
    total_currency: offer.total_currency,
    refundable: conditions?.refund_allowed ?? null,
    refund_penalty_amount: conditions?.refund_penalty_amount ?? null,
    refund_penalty_currency: conditions?.refund_penalty_currency ?? null,
    changeable: conditions?.change_allowed ?? null,
    change_penalty_amount: conditions?.change_penalty_amount ?? null,
    change_penalty_currency: conditions?.change_penalty_currency ?? null,
    checked_bags_included: offer.checked_bags_included,
  };
}
