import type { WithBags } from './bags.ts';

/** The order of offers (spec/flight-service.md, POST /air/search; CONTRACT, section 3), for service and tool. */

export type OfferSort = 'price' | 'duration' | 'departure' | 'emissions';

interface OrderedOffer {
  readonly offer_id: string;
  readonly departing_at: string;
  readonly slices: readonly { readonly duration: string }[];
  /** Atomic units of 6 decimals. */
  readonly total_amount: number;
  readonly total_currency: string;
  readonly total_emissions_kg: number | null;
  readonly with_bags?: Pick<WithBags, 'total_amount'> | undefined;
}

/** Prices compare in US dollars, as escrows do (CONTRACT, section 1). */
export const PRICE_CURRENCY = 'USD';

/** Sorts ascending; unknowns and other currencies come last, ties go by price, then offer id. */
export function sortOffers<T extends OrderedOffer>(offers: readonly T[], sort: OfferSort): T[] {
  const rank = RANKS[sort];
  return offers
    .map((offer) => ({ offer, rank: rank(offer) }))
    .sort((a, b) => compare(a.rank, b.rank) || byPrice(a.offer, b.offer))
    .map(({ offer }) => offer);
}

const RANKS: Record<OfferSort, (offer: OrderedOffer) => number | string> = {
  price: () => 0,
  duration: (offer) => offer.slices.reduce((sum, slice) => sum + minutesOf(slice.duration), 0),
  // One search has one origin, so local times compare.
  departure: (offer) => offer.departing_at,
  emissions: (offer) => offer.total_emissions_kg ?? Number.POSITIVE_INFINITY,
};

type Priced = Pick<OrderedOffer, 'offer_id' | 'total_amount' | 'total_currency' | 'with_bags'>;

/** The price that ranks an offer, with the bags of the search if it had any. */
const ranked = ({ total_amount, with_bags }: Priced): number =>
  with_bags ? (with_bags.total_amount ?? Number.POSITIVE_INFINITY) : total_amount;

export const byPrice = (a: Priced, b: Priced): number =>
  compare(Number(a.total_currency !== PRICE_CURRENCY), Number(b.total_currency !== PRICE_CURRENCY)) ||
  compare(ranked(a), ranked(b)) ||
  compare(a.total_amount, b.total_amount) ||
  compare(a.offer_id, b.offer_id);

const compare = <T extends number | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** Minutes of an ISO 8601 duration such as `P1DT2H5M`. */
export function minutesOf(duration: string): number {
  const [, days, hours, minutes] = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?$/.exec(duration) ?? [];
  return Number(days ?? 0) * 1440 + Number(hours ?? 0) * 60 + Number(minutes ?? 0);
}

export function isoDuration(minutes: number): string {
  const days = Math.floor(minutes / 1440);
  const hours = Math.floor((minutes % 1440) / 60);
  const rest = Math.round(minutes % 60);
  const time = `${hours ? `${hours}H` : ''}${rest ? `${rest}M` : ''}`;
  return `P${days ? `${days}D` : ''}${time ? `T${time}` : days ? '' : 'T0M'}`;
}

/** Groups by physical itinerary (spec/flight-service.md, cheapest_per_itinerary), for the service and the tool. */

interface GroupedOffer extends OrderedOffer {
  readonly comparison_key: string;
  readonly owner_name: string;
  readonly fare_brand_name: string | null;
  readonly total_amount_decimal: string;
  readonly checked_bags_included: number | null;
  readonly conditions: {
    readonly change_allowed: boolean | null;
    readonly change_penalty_amount: string | null;
    readonly change_penalty_currency: string | null;
    readonly refund_allowed: boolean | null;
    readonly refund_penalty_amount: string | null;
    readonly refund_penalty_currency: string | null;
  } | null;
  readonly with_bags?: WithBags | undefined;
  readonly fare_options?: readonly GroupedFare[] | undefined;
}

/** A fare of an itinerary, in the same words as its offer. */
interface GroupedFare {
  offer_id: string;
  owner_name: string;
  fare_brand_name: string | null;
  total_amount_decimal: string;
  total_currency: string;
  refundable: boolean | null;
  refund_penalty_amount: string | null;
  refund_penalty_currency: string | null;
  changeable: boolean | null;
  change_penalty_amount: string | null;
  change_penalty_currency: string | null;
  checked_bags_included: number | null;
  with_bags?: WithBags | undefined;
}

type Entry<T> = T & { fare_options_count: number; fare_options: GroupedFare[] };

/**
 * Keeps the first offer of each `comparison_key`, in order, with all fares in `fare_options`, cheapest first. Grouping
 * the entries again with later offers keeps all fares.
 */
export function groupByItinerary<T extends GroupedOffer>(offers: readonly T[]): Entry<T>[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const offer of offers) {
    const group = groups.get(offer.comparison_key);
    if (group) group.push(offer);
    else groups.set(offer.comparison_key, [offer]);
  }
  return [...groups.values()].map((group) => {
    const [first] = group;
    const fares = group.flatMap((offer) => offer.fare_options ?? [fareOption(offer)]);
    // A repeated offer is one fare.
    const options = cheapestFirst([...new Map(fares.map((fare) => [fare.offer_id, fare])).values()]);
    return { ...first, fare_options_count: options.length, fare_options: options };
  });
}

/** Adds later offers as if they had been in the first answer, which must not be cut by `limit`. */
export function withArrivals<T extends GroupedOffer>(
  first: readonly T[],
  arrived: readonly T[],
  asked: { readonly sort: OfferSort; readonly grouped: boolean },
): T[] {
  const sorted = sortOffers([...first, ...arrived], asked.sort);
  return asked.grouped ? groupByItinerary(sorted) : sorted;
}

const cheapestFirst = (fares: readonly GroupedFare[]): GroupedFare[] =>
  [...fares].sort((a, b) => byPrice(priceOf(a), priceOf(b)));

const priceOf = ({ offer_id, total_currency, total_amount_decimal, with_bags }: GroupedFare): Priced => ({
  offer_id,
  total_currency,
  with_bags,
  total_amount: Math.round(Number(total_amount_decimal) * 1_000_000),
});

function fareOption(offer: GroupedOffer): GroupedFare {
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
    ...(offer.with_bags && { with_bags: offer.with_bags }),
  };
}
