import { DAY_MS, instant } from '../clock.ts';
import { parseUsdc } from '../money.ts';
import type { AirlineRow } from './airline-table.ts';
import { minutesOf, PRICE_CURRENCY } from './offers.ts';

/** The filters of a search (spec/flight-service.md, POST /air/search), for the service and for guided walks. */
export interface OfferFilters {
  readonly max_stops?: number | undefined;
  /** HH:MM at the departure airport. */
  readonly departure_after?: string | undefined;
  readonly departure_before?: string | undefined;
  /** HH:MM at the destination on the day of departure, or `HH:MM+1` on the next one. */
  readonly arrival_after?: string | undefined;
  readonly arrival_before?: string | undefined;
  /** ISO 8601 duration, for each direction. */
  readonly max_duration?: string | undefined;
  /** IATA codes. */
  readonly airlines?: readonly string[] | undefined;
  readonly not_airlines?: readonly string[] | undefined;
  readonly alliance?: string | undefined;
  readonly no_basic?: boolean | undefined;
  readonly refundable?: boolean | undefined;
  readonly with_bag?: boolean | undefined;
  /** US dollars. */
  readonly max_price?: number | string | undefined;
}

export type OfferFilter = keyof OfferFilters;

export interface FilteredOffer {
  /** The seller. */
  readonly owner_name: string;
  readonly departing_at: string;
  readonly arriving_at: string;
  readonly slices: readonly {
    readonly stops: number;
    readonly duration: string;
    readonly fare_brand_name: string | null;
    readonly segments: readonly { readonly flight_number: string; readonly operating_flight_number: string | null }[];
  }[];
  readonly checked_bags_included: number | null;
  readonly conditions: { readonly refund_allowed: boolean | null } | null;
  /** Atomic units of 6 decimals. */
  readonly total_amount: number;
  readonly total_currency: string;
  /** Set by a search with bags: `max_price` then limits this price, if it is known. */
  readonly with_bags?: { readonly total_amount: number | null } | undefined;
}

/** Counts the offers that a filter hid: `count` fail it, and for `unknown` the seller does not disclose enough. */
export interface Hidden {
  readonly filter: OfferFilter;
  readonly count: number;
  readonly unknown: number;
}

export type AirlineLookup = (code: string) => AirlineRow | null;

/** Null if undisclosed. */
type Verdict = boolean | null;

type Tests = {
  readonly [Filter in OfferFilter]: (
    wanted: NonNullable<OfferFilters[Filter]>,
    offer: FilteredOffer,
    airline: AirlineLookup,
  ) => Verdict;
};

/** Tests in the order in which they run: an offer counts under the first filter that it does not pass. */
const TESTS: Tests = {
  max_stops: (most, { slices }) => slices.every(({ stops }) => stops <= most),
  departure_after: (time, offer) => offer.departing_at.slice(11, 16) >= time,
  departure_before: (time, offer) => offer.departing_at.slice(11, 16) <= time,
  arrival_after: (time, offer) => offer.arriving_at.slice(0, 16) >= onDayOf(offer, time),
  arrival_before: (time, offer) => offer.arriving_at.slice(0, 16) <= onDayOf(offer, time),
  max_duration: (most, { slices }) => slices.every(({ duration }) => minutesOf(duration) <= minutesOf(most)),
  airlines: (codes, offer) => allOf(flightsOf(offer), (flight) => anyOf(flight, (code) => codes.includes(code))),
  not_airlines: (codes, offer) => allOf(flightsOf(offer), (flight) => allOf(flight, (code) => !codes.includes(code))),
  alliance: (wanted, offer, airline) =>
    allOf(flightsOf(offer), (flight) => anyOf(flight, (code) => airline(code)?.alliance === wanted)),
  no_basic: (_, offer, airline) => allOf(offer.slices, (slice) => isAboveBasic(slice, offer.owner_name, airline)),
  refundable: (_, { conditions }) => conditions?.refund_allowed ?? null,
  with_bag: (_, { checked_bags_included: bags }) => (bags === null ? null : bags > 0),
  max_price: (price, offer) =>
    offer.total_currency === PRICE_CURRENCY
      ? (offer.with_bags?.total_amount ?? offer.total_amount) <=
        (typeof price === 'string' ? Number(parseUsdc(price)) : Math.round(price * 1_000_000))
      : null,
};

export const OFFER_FILTERS = Object.keys(TESTS) as readonly OfferFilter[];

/** The filters that a request sets; a switch that is off does not count. */
export const filtersIn = (request: OfferFilters): OfferFilter[] =>
  OFFER_FILTERS.filter((filter) => request[filter] !== undefined && request[filter] !== false);

/** Loads the table of airlines only if a filter needs it: that takes time. */
export async function lookupFor(filters: OfferFilters): Promise<AirlineLookup> {
  const isNeeded = filters.alliance !== undefined || filters.no_basic === true;
  return isNeeded ? (await import('./airline-table.ts')).airlineKnown : () => null;
}

/** Applies filters in order, and counts what each hides. An offer passes only if its seller discloses that it fits. */
export function filterOffers<T extends FilteredOffer>(
  offers: readonly T[],
  filters: OfferFilters,
  airline: AirlineLookup = () => null,
): { passed: T[]; hidden: Hidden[] } {
  const asked = filtersIn(filters);
  const counts = asked.map((filter) => ({ filter, count: 0, unknown: 0 }));
  const verdict = <F extends OfferFilter>(filter: F, offer: T) =>
    TESTS[filter](filters[filter] as NonNullable<OfferFilters[F]>, offer, airline);
  const passed = offers.filter((offer) =>
    counts.every((one) => {
      const found = verdict(one.filter, offer);
      if (found === null) one.unknown++;
      else if (!found) one.count++;
      return found === true;
    }),
  );
  return { passed, hidden: counts.filter(({ count, unknown }) => count + unknown > 0) };
}

/** Adds up the hidden offers of several answers. */
export function hiddenTogether(...all: readonly (readonly Hidden[] | undefined)[]): Hidden[] {
  const given = all.flatMap((one) => one ?? []);
  return OFFER_FILTERS.flatMap((filter) => {
    const same = given.filter((one) => one.filter === filter);
    const sum = (of: 'count' | 'unknown') => same.reduce((total, one) => total + one[of], 0);
    return same.length === 0 ? [] : [{ filter, count: sum('count'), unknown: sum('unknown') }];
  });
}

/** Turns `18:00+1` into a local time on the day after departure. */
function onDayOf({ departing_at }: FilteredOffer, time: string): string {
  const [clock = '', days = '0'] = time.split('+');
  const day = departing_at.slice(0, 10);
  const on = days === '0' ? day : instant(Date.parse(`${day}T00:00:00Z`) + Number(days) * DAY_MS).slice(0, 10);
  return `${on}T${clock}`;
}

/** The airline codes of each flight: the marketing carrier's, and the operating carrier's if it is given. */
const flightsOf = ({ slices }: Pick<FilteredOffer, 'slices'>): (string | null)[][] =>
  slices.flatMap(({ segments }) =>
    segments.map(({ flight_number: sold, operating_flight_number: flown }) => [
      codeOf(sold),
      ...(flown === null ? [] : [codeOf(flown)]),
    ]),
  );

/** `TP` of `TP412`; null for a number without an airline's code. */
const codeOf = (flightNumber: string): string | null =>
  /^([A-Z]{3}|[A-Z][A-Z\d]|\d[A-Z])/.exec(flightNumber)?.[1] ?? null;

/** Returns false if any verdict is false, else null if any is unknown. */
function allOf<T>(all: readonly (T | null)[], test: (one: T) => Verdict): Verdict {
  const verdicts = all.map((one) => (one === null ? null : test(one)));
  return verdicts.includes(false) ? false : verdicts.includes(null) ? null : true;
}

function anyOf<T>(all: readonly (T | null)[], test: (one: T) => Verdict): Verdict {
  const verdicts = all.map((one) => (one === null ? null : test(one)));
  return verdicts.includes(true) ? true : verdicts.includes(null) ? null : false;
}

/** Usual brand names of the most restricted fares. */
const BASIC = /\b(basic|light|lite|superlight|bare)\b/i;

/** Judges a brand by the basic brand of the seller, else of the airlines that market or fly, else by usual names. */
function isAboveBasic(slice: FilteredOffer['slices'][number], owner: string, airline: AirlineLookup): Verdict {
  const { fare_brand_name: brand } = slice;
  if (brand === null) return null;
  const brandOf = (codeOrName: string | null) => (codeOrName === null ? null : airline(codeOrName)?.basicBrand) ?? [];
  const flown = flightsOf({ slices: [slice] }).flat();
  const known = [owner].flatMap(brandOf);
  const basics = known.length > 0 ? known : flown.flatMap(brandOf);
  if (basics.length === 0) return !BASIC.test(brand);
  const given = brand.toLowerCase();
  // Other cabins have basic fares too: `Business Light`.
  return basics.every((basic) => given !== basic.toLowerCase() && !given.endsWith(` ${basic.toLowerCase()}`));
}
