import type { Offer } from '../../wire/flights/index.ts';
import { centsOf, conditionsOf, decimalOf, openAir, readAirports, searchOffers } from '../airline/index.ts';
import { testRoute } from './behaviours.ts';
import type { OfferRequestRecord, WorldOffer } from './books.ts';
import { diceOf } from './ids.ts';
import OTHERS from './other-airports.json' with { type: 'json' };
import { airportsOf, type Place } from './places.ts';

export type DuffelWorld = ReturnType<typeof createDuffelWorld>;

/** The API's test airline. */
export const ZZ = { code: 'ZZ', name: 'Duffel Airways' } as const;
const ZZ_JOURNEYS = 4;
const ZZ_FARES = ['Basic', 'Flexible'] as const;
const GBP_PER_USD = 0.79;
const MOST_REMEMBERED = 60;

export function createDuffelWorld(seed: string) {
  const air = openAir(seed);
  const remembered = new Map<number, readonly WorldOffer[]>();

  const find = (request: OfferRequestRecord): readonly WorldOffer[] => {
    const { slices, ages, cabinClass } = request;
    const childAges = ages.filter((age) => age !== null);
    const between = (places: readonly (readonly [origin: string, destination: string])[]) => {
      const wanted = places.map(([origin, destination], at) => ({
        origin: STAND_INS[origin] ?? origin,
        destination: STAND_INS[destination] ?? destination,
        departDate: slices[at]?.departure_date ?? '',
      }));
      const query = { slices: wanted, adults: ages.length - childAges.length, childAges, cabinClass };
      const found = searchOffers(air, query, request.createdAtMs);
      return places.flat().reduce<readonly Offer[]>((offers, iata) => standingIn(iata, offers), found);
    };
    return offersOf(request, choicesOf(slices, airports).flatMap(between));
  };
  const airports = new Map<string, Place>([
    ...readAirports().map((one) => [one.iata, one] as const),
    ...Object.entries(OTHERS),
  ]);
  return {
    airports: airports as ReadonlyMap<string, Place>,
    /** The offers of a search, always the same. */
    offers(request: OfferRequestRecord): readonly WorldOffer[] {
      const known = remembered.get(request.number) ?? find(request);
      remembered.delete(request.number);
      remembered.set(request.number, known);
      for (const oldest of remembered.keys()) {
        if (remembered.size <= MOST_REMEMBERED) break;
        remembered.delete(oldest);
      }
      return known;
    },
  };
}

type Ends = readonly [origin: string, destination: string];

/** The choices of airports for all directions. A city means any of its airports, the same one in all directions. */
function choicesOf(slices: OfferRequestRecord['slices'], airports: ReadonlyMap<string, Place>): Ends[][] {
  const cities = [...new Set(slices.flatMap(({ origin, destination }) => [origin, destination]))];
  const chosen = cities.reduce<ReadonlyMap<string, string>[]>(
    (choices, city) =>
      airportsOf(city, airports).flatMap((airport) => choices.map((one) => new Map([...one, [city, airport]]))),
    [new Map()],
  );
  const isFlown = (ends: Ends[]) => ends.length > 0 && ends.every(([origin, destination]) => origin !== destination);
  return chosen
    .map((choice) =>
      slices.map(
        ({ origin, destination }): Ends => [choice.get(origin) ?? origin, choice.get(destination) ?? destination],
      ),
    )
    .filter(isFlown);
}

/** Airports that stand in for test airports which our world lacks. */
const STAND_INS: Readonly<Record<string, string>> = { BTS: 'VIE', SEN: 'LCY' };

function standingIn(iata: string, offers: readonly Offer[]): readonly Offer[] {
  const standIn = STAND_INS[iata];
  return standIn === undefined
    ? offers
    : (JSON.parse(JSON.stringify(offers).replaceAll(`"${standIn}"`, `"${iata}"`)) as Offer[]);
}

function offersOf(request: OfferRequestRecord, found: readonly Offer[]): readonly WorldOffer[] {
  const [out] = request.slices;
  const trait = out && testRoute(out.origin, out.destination)?.trait;
  const fits = (offer: Offer) => offer.slices.every(({ stops }) => stops <= request.maxConnections);
  const connecting = (offer: Offer) => offer.stops > 0;
  const flown = found.filter(fits);
  const chosen = trait === 'connecting' && flown.some(connecting) ? flown.filter(connecting) : flown;
  const journeys = [...new Map(chosen.map((offer) => [offer.comparison_key, offer])).values()];
  const own = journeys
    .slice(0, ZZ_JOURNEYS)
    .flatMap((offer) => ZZ_FARES.map((brand, tier) => duffelAirways(offer, brand, tier)));
  const sold = [...own, ...chosen.map((offer) => ({ offer, ...sellerOf(offer) }))];
  const count = sold.length === 0 ? 0 : Math.max(sold.length, request.leastOffers);
  return Array.from({ length: count }, (_, index) => {
    const one = sold[index % sold.length];
    if (!one) throw new RangeError('a search without offers');
    // Each copy costs a few cents more, so that no two are equal.
    return worldOffer(request, index, one, Math.floor(index / sold.length) * 7);
  });
}

type Sold = Pick<WorldOffer, 'offer' | 'ownerName' | 'ownerCode'>;

function worldOffer(request: OfferRequestRecord, index: number, sold: Sold, dearerCents: number): WorldOffer {
  const { offer } = sold;
  const isPounds = sold.ownerName === 'Wayloft';
  const rate = isPounds ? GBP_PER_USD : 1;
  const inCents = (text: string | null) => (text === null ? null : Math.round((centsOf(text) ?? 0) * rate));
  const totalCents = (inCents(offer.total_amount_decimal) ?? 0) + dearerCents;
  const taxCents = inCents(offer.tax_amount_decimal);
  const baseCents = taxCents === null ? null : totalCents - taxCents;
  return {
    request,
    index,
    offer: {
      ...offer,
      total_amount_decimal: decimalOf(totalCents),
      total_currency: isPounds ? 'GBP' : offer.total_currency,
    },
    ownerName: sold.ownerName,
    ownerCode: sold.ownerCode,
    totalCents,
    taxCents: diceOf(offer.offer_id, 'tax') % 7 === 0 ? null : taxCents,
    // Some airlines round separately: base and tax then differ from the total by a cent.
    baseCents: baseCents !== null && diceOf(offer.offer_id, 'base') % 5 === 0 ? baseCents + 1 : baseCents,
  };
}

/** An airline that sells its own flight numbers, or an agency without a code. */
function sellerOf({ owner_name, slices }: Offer): Omit<Sold, 'offer'> {
  const own = slices.flatMap(({ segments }) => segments).find((one) => one.marketing_carrier_name === owner_name);
  return { ownerName: owner_name, ownerCode: own?.flight_number.slice(0, 2) ?? null };
}

/** A journey under the test airline's flight numbers, in dollars. */
function duffelAirways(offer: Offer, brand: string, tier: number): Sold {
  const cents = centsOf(offer.total_amount_decimal) ?? 0;
  const total = Math.round(cents * (tier === 0 ? 0.98 : 1.22));
  const tax = Math.round(total * 0.17);
  const slices = offer.slices.map((slice) => ({
    ...slice,
    fare_brand_name: brand,
    segments: slice.segments.map((segment) => {
      const number = `${ZZ.code}${String(diceOf(segment.flight_number, 'zz') % 10_000).padStart(4, '0')}`;
      return {
        ...segment,
        carrier_name: ZZ.name,
        marketing_carrier_name: ZZ.name,
        flight_number: number,
        operating_flight_number: number,
        fare_basis_code: tier === 0 ? 'Y20LGTN2' : null,
      };
    }),
  }));
  const term = (what: string) =>
    diceOf(offer.comparison_key, what) % 2 === 0 || tier === 1 ? ([true, '40.00'] as const) : ([false, null] as const);
  return {
    ownerName: ZZ.name,
    ownerCode: ZZ.code,
    offer: {
      ...offer,
      offer_id: `${offer.offer_id}${ZZ.code}${tier}`,
      owner_name: ZZ.name,
      slices,
      fare_brand_name: brand,
      checked_bags_included: 1,
      carry_on_bags_included: 1,
      total_amount_decimal: decimalOf(total),
      total_currency: 'USD',
      tax_amount_decimal: decimalOf(tax),
      base_amount_decimal: decimalOf(total - tax),
      supported_loyalty_programmes: [ZZ.code],
      identity_documents_required: false,
      requires_instant_payment: false,
      conditions: conditionsOf(term('change'), term('refund'), 'USD'),
    },
  };
}
