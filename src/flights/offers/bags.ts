import type { Fulfiller, LiveOffer, Provider } from '../../airlines/index.ts';
import {
  alike,
  type Bags,
  bagsToBuy,
  includesBags,
  type TravellerBags,
  type WithBags,
} from '../../kernel/domain/bags.ts';
import { byPrice } from '../../kernel/domain/offers.ts';
import { asInteger, formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import type { MenuFare, Offer } from '../../wire/flights/index.ts';
import type { LockedBags, LockedSeats } from '../base/index.ts';

/** A live offer, priced with the bags and seats that are locked with it. */
export interface OfferToLock extends LiveOffer {
  readonly lockedBags: LockedBags | null;
  readonly lockedSeats: LockedSeats | null;
}

type Included = Pick<Offer, 'checked_bags_included' | 'carry_on_bags_included'>;
type Carrying = Included & Pick<Offer, 'total_amount_decimal' | 'total_currency'>;

const UNKNOWN: WithBags = { way: 'unknown', bags_amount_decimal: null, total_amount: null, total_amount_decimal: null };

/** Prices a fare with the wanted bags. Without `travellers`, only the included bags are known. */
export function priceWithBags(
  fare: Carrying,
  travellers: readonly TravellerBags[] | undefined,
  wanted: Bags,
): WithBags {
  const found = bagsToBuy(travellers ?? alike(1, fare, []), fare.total_currency, wanted);
  if (!found) return UNKNOWN;
  const total = parseUsdc(fare.total_amount_decimal) + found.amount;
  return {
    way: found.bought.length === 0 ? 'included' : 'service',
    bags_amount_decimal: formatUsdc(found.amount),
    total_amount: asInteger(total),
    total_amount_decimal: formatUsdc(total),
  };
}

/** Marks a fare that includes the bags if a cheaper fare of its itinerary lacks them. */
const orDearer = (price: WithBags, total: number, cheapest: number | undefined): WithBags =>
  price.way === 'included' && cheapest !== undefined && cheapest < total ? { ...price, way: 'fare' } : price;

/** The bags that a fare of a carrier's menu includes, and those that the carrier sells with it. */
export const bagsWithFare = ({ bags }: LiveOffer, fare: Included): TravellerBags[] | undefined =>
  bags && alike(bags.length, fare, []).map(({ included }, at) => ({ included, sold: bags[at]?.sold ?? [] }));

/** Adds the price with bags to the fares of a menu. */
export function carriedMenu(live: LiveOffer, fares: readonly MenuFare[], wanted: Bags): MenuFare[] {
  const bare = fares.filter((fare) => !includesBags(fare, wanted)).map(({ total_amount }) => total_amount);
  const [cheapest] = bare.toSorted((a, b) => a - b);
  return fares.map((fare) => ({
    ...fare,
    with_bags: orDearer(priceWithBags(fare, bagsWithFare(live, fare), wanted), fare.total_amount, cheapest),
  }));
}

export const carried = ({ offer, bags }: LiveOffer, wanted: Bags): Offer => ({
  ...offer,
  with_bags: priceWithBags(offer, bags, wanted),
});

/** Adds the bags to a live offer's total. @throws Problem `bags_unavailable` */
export function withLockedBags(live: LiveOffer, { checked, carry_on }: Bags): OfferToLock {
  const { offer } = live;
  const wanted = { checked, carry_on };
  const found = bagsToBuy(live.bags ?? alike(1, offer, []), offer.total_currency, wanted);
  if (!found) throw problem('bags_unavailable');
  const total = parseUsdc(offer.total_amount_decimal) + found.amount;
  return {
    ...live,
    offer: { ...offer, total_amount: asInteger(total), total_amount_decimal: formatUsdc(total) },
    lockedBags: { ...wanted, amount: asInteger(found.amount) },
    lockedSeats: null,
  };
}

/** Adds the price with bags to the offers of a search. */
export async function carriedOffers(
  seller: Pick<Provider | Fulfiller, 'bagsOf'>,
  offers: readonly Offer[],
  wanted: Bags,
): Promise<Offer[]> {
  const open = offers.filter((offer) => !includesBags(offer, wanted));
  const sold = (await seller.bagsOf?.(promisingFirst(open))) ?? new Map<string, readonly TravellerBags[]>();
  const cheapest = new Map(
    open
      .toSorted(byPrice)
      .toReversed()
      .map((offer) => [itineraryOf(offer), offer]),
  );
  return offers.map((offer) => {
    const price = priceWithBags(offer, sold.get(offer.offer_id), wanted);
    const bare = cheapest.get(itineraryOf(offer));
    return { ...offer, with_bags: orDearer(price, offer.total_amount, bare?.total_amount) };
  });
}

const itineraryOf = ({ comparison_key, total_currency }: Offer): string => `${total_currency} ${comparison_key}`;

/** Sorts by price, but puts the cheapest fare of every itinerary before all others. */
function promisingFirst(offers: readonly Offer[]): Offer[] {
  const seen = new Set<string>();
  const first = new Set<Offer>();
  const sorted = offers.toSorted(byPrice);
  for (const offer of sorted) {
    if (seen.has(itineraryOf(offer))) continue;
    seen.add(itineraryOf(offer));
    first.add(offer);
  }
  return [...first, ...sorted.filter((offer) => !first.has(offer))];
}
