/**
 * The order of offers (spec/flight-service.md, POST /air/search; CONTRACT, section 3). The service sorts a search by
 * it, and the tool the offers that arrive after the first answer: one text, so that they can't disagree.
 */

export type OfferSort = 'price' | 'duration' | 'departure' | 'emissions';

/** The fields that sorting reads; an offer of the wire has them. */
export interface OrderedOffer {
  readonly offer_id: string;
  readonly departing_at: string;
  readonly slices: readonly { readonly duration: string }[];
  /** Atomic units of 6 decimals. */
  readonly total_amount: number;
  readonly total_currency: string;
  readonly total_emissions_kg: number | null;
}

/** The currency that prices are compared in: escrows are in US dollars (CONTRACT, section 1). */
export const PRICE_CURRENCY = 'USD';

/**
 * A sorted copy, ascending: by total price, by time under way (all directions together), by departure, or by
 * emissions. What is unknown comes last, as do prices in another currency than US dollars; ties go by price, then by
 * offer id, so that the order is total.
 */
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
  // All offers of a search leave from one airport, so local times compare.
  departure: (offer) => offer.departing_at,
  emissions: (offer) => offer.total_emissions_kg ?? Number.POSITIVE_INFINITY,
};

/** Cheapest first; a total order. */
export const byPrice = (
  a: Pick<OrderedOffer, 'offer_id' | 'total_amount' | 'total_currency'>,
  b: Pick<OrderedOffer, 'offer_id' | 'total_amount' | 'total_currency'>,
): number =>
  compare(Number(a.total_currency !== PRICE_CURRENCY), Number(b.total_currency !== PRICE_CURRENCY)) ||
  compare(a.total_amount, b.total_amount) ||
  compare(a.offer_id, b.offer_id);

const compare = <T extends number | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

/** Minutes of an ISO 8601 duration such as `P1DT2H5M`. */
export function minutesOf(duration: string): number {
  const [, days, hours, minutes] = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?$/.exec(duration) ?? [];
  return Number(days ?? 0) * 1440 + Number(hours ?? 0) * 60 + Number(minutes ?? 0);
}

/** `PT7H40M`, `P1DT2H5M`. */
export function isoDuration(minutes: number): string {
  const days = Math.floor(minutes / 1440);
  const hours = Math.floor((minutes % 1440) / 60);
  const rest = Math.round(minutes % 60);
  const time = `${hours ? `${hours}H` : ''}${rest ? `${rest}M` : ''}`;
  return `P${days ? `${days}D` : ''}${time ? `T${time}` : days ? '' : 'T0M'}`;
}
