import type { LiveOffer, OfferMoment, OfferQuery, Scenario } from '../../airlines/index.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/clock.ts';
import { alike, type SoldBag, type TravellerBags } from '../../kernel/domain/bags.ts';
import { parseUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import type { AvailableService, Offer } from '../../wire/flights/index.ts';
import { createNetwork } from './connections.ts';
import { createItineraries, type Itinerary } from './itineraries.ts';
import { isSoldIn, type Journey, lengthKm, platingAirlines } from './journey.ts';
import { createOfferIds } from './offer-id.ts';
import { composeOffer, expiresAtMs, frameOf } from './offers.ts';
import { type BaseFare, baseFare, DIRECT, decimalOf, EUR_PER_USD, SELLERS, type Selection, seatsOf } from './prices.ts';
import { RATE_LIMIT_RETRY_SECONDS, REPRICED_BY, scenarioOn } from './scenarios.ts';
import { createTimetable } from './timetable.ts';
import { createWorld, TOPIC, type World } from './world.ts';

export function openAir(seed: string) {
  const world = createWorld(seed);
  const network = createNetwork(world);
  const timetable = createTimetable(world);
  return {
    world,
    itineraries: createItineraries(world, network, timetable),
    ids: createOfferIds(world, network, timetable),
  };
}

export type Air = ReturnType<typeof openAir>;

const SALES_CLOSE_MS = 90 * MINUTE_MS;
/** For two, three and four directions: itineraries to combine, of the first and of each later one per journey. */
const COMBINED = [
  [14, 3],
  [9, 2],
  [5, 2],
] as const;
const TURN_AROUND_MS = HOUR_MS;

/** Lists offers in dollars by price, then those in other currencies. */
export function searchOffers(air: Air, query: OfferQuery, nowMs: number): Offer[] {
  const { world, itineraries } = air;
  const directions = query.slices.flatMap(({ origin, destination, departDate }) => {
    const [from, to, day] = [world.byCode(origin), world.byCode(destination), dayOf(departDate)];
    return from && to && from !== to && Number.isInteger(day) ? [{ from, to, day }] : [];
  });
  if (directions.length === 0 || directions.length < query.slices.length) return [];
  const found = directions.map(({ from, to, day }) =>
    itineraries
      .find(from, to, day, nowMs + SALES_CLOSE_MS)
      .filter((itinerary) => isSoldIn(itinerary, query.cabinClass)),
  );
  const journeys = combined(world, found);
  const issuedMinute = Math.floor(nowMs / MINUTE_MS);
  return journeys
    .flatMap((journey) => offersFor(air, query, journey, issuedMinute))
    .sort(
      (a, b) =>
        Number(a.total_currency !== 'USD') - Number(b.total_currency !== 'USD') ||
        a.total_amount - b.total_amount ||
        (a.offer_id < b.offer_id ? -1 : 1),
    );
}

/** Converts YYYY-MM-DD to days since 1970. */
export const dayOf = (date: string): number => Math.floor(Date.parse(`${date}T00:00:00Z`) / DAY_MS);

/** One offer for each marketing airline, seller and brand. */
function offersFor({ world, ids }: Air, query: OfferQuery, journey: Journey, issuedMinute: number): Offer[] {
  const { adults, childAges, cabinClass: cabin } = query;
  return platingAirlines(world, journey).flatMap((plating) => {
    const base = baseFare(world, journey, plating, cabin, issuedMinute);
    const frame = frameOf(world, journey, plating, cabin);
    return SELLERS.flatMap((seller, sellerIndex) => {
      if (seller.only !== undefined && seller.only !== journey[0]?.[0]?.from.iata) return [];
      if (world.dice.unit(TOPIC.seller, base.bits, sellerIndex) >= seller.reach) return [];
      return tiersOf(world, sellerIndex, plating.brands.length, base).map((tier) => {
        const selection = { issuedMinute, journey, plating, tier, sellerIndex, cabin, adults, childAges };
        return composeOffer(world, ids.write(selection), selection, base, frame);
      });
    });
  });
}

/** Agencies sell the cheapest brand and sometimes the next. */
function tiersOf(world: World, sellerIndex: number, brands: number, base: BaseFare): number[] {
  const count = sellerIndex === DIRECT ? brands : 1 + (world.dice.bits(TOPIC.seller, base.bits, sellerIndex, 3) & 1);
  return Array.from({ length: Math.min(count, brands) }, (_, tier) => tier);
}

/** Combines the directions, with a few itineraries for each; a single direction keeps all of its itineraries. */
function combined(world: World, [first = [], ...later]: readonly (readonly Itinerary[])[]): Journey[] {
  const [mostFirst, mostLater] = COMBINED[later.length - 1] ?? [first.length, 0];
  const begun: readonly Journey[] = spread(first, mostFirst).map((itinerary) => [itinerary]);
  return later.reduce((journeys, next) => extended(world, journeys, next, mostLater), [...begun]);
}

/** Adds a direction to journeys, preferably on the same airline. */
function extended(world: World, journeys: readonly Journey[], next: readonly Itinerary[], most: number): Journey[] {
  const airlineOf = (itinerary: Itinerary) => platingAirlines(world, [itinerary])[0];
  const back = next.map((itinerary) => ({ itinerary, airline: airlineOf(itinerary) }));
  return journeys.flatMap((journey, turn) => {
    const there = journey.at(-1) ?? [];
    const airline = airlineOf(journey[0] ?? []);
    const landedMs = (there.at(-1)?.arrivalMs ?? 0) + TURN_AROUND_MS;
    const possible = back.filter(({ itinerary }) => (itinerary[0]?.departureMs ?? 0) >= landedMs);
    const same = possible.filter((one) => one.airline === airline);
    const allied = possible.filter(
      (one) => one.airline !== airline && airline?.alliance && one.airline?.alliance === airline.alliance,
    );
    // Journeys begin at different choices.
    const ranked = [...turned(same, turn), ...turned(allied, turn)];
    const chosen = ranked.length > 0 ? ranked : turned(possible, turn);
    return chosen.slice(0, most).map(({ itinerary }) => [...journey, itinerary]);
  });
}

/** Takes up to `most` entries, evenly spread from the first. */
const spread = <T>(list: readonly T[], most: number): T[] =>
  list.length <= most
    ? [...list]
    : Array.from({ length: most }, (_, i) => list[Math.floor((i * list.length) / most)]).filter(
        (item): item is T => item !== undefined,
      );

const turned = <T>(list: readonly T[], by: number): T[] => {
  const at = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
};

/**
 * Prices the offer of an id; the price holds until it expires. @throws Problem `offer_not_found`, `offer_expired`,
 * `offer_unavailable` (sales have closed), `upstream_rate_limited`
 */
export function readOffer(
  { world, ids }: Air,
  configured: Scenario,
  offerId: string,
  moment: OfferMoment,
  nowMs: number,
): LiveOffer & { readonly scenario: Scenario } {
  const selection = ids.read(offerId);
  // An id from the future would outlive its lifetime.
  if (!selection || selection.issuedMinute * 60_000 > nowMs + CLOCK_SKEW_MS) throw problem('offer_not_found');
  const outbound = selection.journey[0] ?? [];
  const scenario = scenarioOn(configured, outbound[0]?.from.iata ?? '', outbound.at(-1)?.to.iata ?? '');
  if (scenario === 'rate_limited') throw rateLimited();
  const base = baseFare(world, selection.journey, selection.plating, selection.cabin, selection.issuedMinute);
  const expiresMs = expiresAtMs(world, selection, base);
  if (nowMs >= expiresMs || (scenario === 'offer_expired' && moment === 'booking')) {
    throw problem('offer_expired', { detail: { expired_at: new Date(Math.min(expiresMs, nowMs)).toISOString() } });
  }
  if ((outbound[0]?.departureMs ?? 0) < nowMs + SALES_CLOSE_MS / 2) throw problem('offer_unavailable');
  const raised =
    scenario === 'repriced' && moment === 'booking'
      ? { ...base, fareCents: Math.round(base.fareCents * REPRICED_BY) }
      : base;
  const frame = frameOf(world, selection.journey, selection.plating, selection.cabin);
  const offer = composeOffer(world, offerId, selection, raised, frame);
  return {
    offer,
    passengerCount: selection.adults + selection.childAges.length,
    availableServices: servicesFor(world, selection),
    bags: bagsWith(world, selection, offer),
    scenario,
  };
}

/** Every fare of this world discloses its bags. */
export const bagsOf = ({ world, ids }: Air, offers: readonly Offer[]): Map<string, TravellerBags[]> =>
  new Map(
    offers.flatMap((offer) => {
      const selection = ids.read(offer.offer_id);
      return selection ? [[offer.offer_id, bagsWith(world, selection, offer)] as const] : [];
    }),
  );

/** The bags of a fare for each traveller with a seat; each may buy an equal share of the bags for sale. */
function bagsWith(world: World, selection: Selection, offer: Offer): TravellerBags[] {
  const sold = servicesFor(world, selection).map(
    (service): SoldBag => ({
      type: service.baggage_type,
      most: service.maximum_quantity / seatsOf(selection),
      amount: parseUsdc(service.total_amount_decimal),
      currency: service.total_currency,
    }),
  );
  return alike(seatsOf(selection), offer, sold);
}

/** The most that an id may be ahead of this clock. */
export const CLOCK_SKEW_MS = 120_000;

export const rateLimited = () => problem('upstream_rate_limited', { retryAfter: RATE_LIMIT_RETRY_SECONDS });

/** Extra checked bags, and leisure airlines' cabin bags. */
function servicesFor(world: World, selection: Selection): AvailableService[] {
  const { journey, plating, sellerIndex } = selection;
  const seats = seatsOf(selection);
  const seller = SELLERS[sellerIndex];
  if (!seller) return [];
  const km = Math.max(...journey.map(lengthKm));
  const rate = seller.currency === 'EUR' ? EUR_PER_USD : 1;
  const price = (usd: number) => decimalOf(Math.round(usd * rate * journey.length) * 100);
  const usual = (km > 4000 ? 70 : km > 1500 ? 45 : 30) + 5 * world.dice.pick(6, TOPIC.services, plating.index);
  const light = plating.kind === 'leisure' ? 20 : 23;
  const weighed = world.dice.unit(TOPIC.services, plating.index, 1) >= 0.2;
  const bag = (weight: number, usd: number): AvailableService => ({
    type: 'baggage',
    baggage_type: 'checked',
    maximum_weight_kg: weighed ? weight : null,
    maximum_quantity: 2 * seats,
    total_amount_decimal: price(usd),
    total_currency: seller.currency,
  });
  const services = [bag(light, usual)];
  if (plating.kind === 'full_service') services.push(bag(32, usual * 1.6));
  if (plating.kind === 'leisure') {
    services.push({ ...bag(10, usual * 0.6), baggage_type: 'carry_on', maximum_quantity: seats });
  }
  return services;
}
