import type { OfferQuery } from '../../airlines/index.ts';
import { DAY_MS, HOUR_MS } from '../../kernel/clock.ts';
import type { Offer } from '../../wire/flights/index.ts';
import type { Itineraries, Itinerary } from './itineraries.ts';
import { isSoldIn, type Journey, platingAirlines } from './journey.ts';
import type { OfferIds } from './offer-id.ts';
import { composeOffer, frameOf } from './offers.ts';
import { type BaseFare, baseFare, DIRECT, SELLERS } from './prices.ts';
import { TOPIC, type World } from './world.ts';

/** Sales close this long before departure. */
export const SALES_CLOSE_MS = 90 * 60_000;
/** Directions of a round trip that are combined: so many outbound, each with so many inbound. */
const OUTBOUND = 14;
const INBOUND = 3;
const TURN_AROUND_MS = HOUR_MS;

/** Every offer for a query, cheapest first; what is sold in another currency comes after what is sold in dollars. */
export function searchOffers(
  world: World,
  itineraries: Itineraries,
  ids: OfferIds,
  query: OfferQuery,
  nowMs: number,
): Offer[] {
  const from = world.byCode(query.origin);
  const to = world.byCode(query.destination);
  const days = [query.departDate, query.returnDate ?? query.departDate].map(dayOf);
  if (!from || !to || from === to || !days.every(Number.isInteger)) return [];
  const sold = (itinerary: Itinerary) => isSoldIn(itinerary, query.cabinClass);
  const outbound = itineraries.find(from, to, dayOf(query.departDate), nowMs + SALES_CLOSE_MS).filter(sold);
  let journeys: Journey[] = outbound.map((itinerary) => [itinerary]);
  if (query.returnDate !== undefined) {
    const inbound = itineraries.find(to, from, dayOf(query.returnDate), nowMs + SALES_CLOSE_MS).filter(sold);
    journeys = combine(world, outbound, inbound);
  }
  const issuedMinute = Math.floor(nowMs / 60_000);
  return journeys
    .flatMap((journey) => offersFor(world, ids, query, journey, issuedMinute))
    .sort(
      (a, b) =>
        Number(a.total_currency !== 'USD') - Number(b.total_currency !== 'USD') ||
        a.total_amount - b.total_amount ||
        (a.offer_id < b.offer_id ? -1 : 1),
    );
}

/** Days since 1970 of a YYYY-MM-DD. */
const dayOf = (date: string): number => Math.floor(Date.parse(`${date}T00:00:00Z`) / DAY_MS);

/** Every fare of a journey: by airline that numbers it, seller and brand. */
function offersFor(world: World, ids: OfferIds, query: OfferQuery, journey: Journey, issuedMinute: number): Offer[] {
  const { adults, cabinClass: cabin } = query;
  return platingAirlines(world, journey).flatMap((plating) => {
    const base = baseFare(world, journey, plating, cabin, issuedMinute);
    const frame = frameOf(world, journey, plating, cabin);
    return SELLERS.flatMap((seller, sellerIndex) => {
      if (seller.only !== undefined && seller.only !== journey[0]?.[0]?.from.iata) return [];
      if (world.dice.unit(TOPIC.seller, base.bits, sellerIndex) >= seller.reach) return [];
      return tiersOf(world, sellerIndex, plating.brands.length, base).map((tier) => {
        const selection = { issuedMinute, journey, plating, tier, sellerIndex, cabin, adults };
        return composeOffer(world, ids.write(selection), selection, base, frame);
      });
    });
  });
}

/** An airline sells all its brands, an agency the cheapest and sometimes the next. */
function tiersOf(world: World, sellerIndex: number, brands: number, base: BaseFare): number[] {
  const count = sellerIndex === DIRECT ? brands : 1 + (world.dice.bits(TOPIC.seller, base.bits, sellerIndex, 3) & 1);
  return Array.from({ length: Math.min(count, brands) }, (_, tier) => tier);
}

/** Pairs outbound directions with inbound ones that leave after them, the same airline's first. */
function combine(world: World, outbound: readonly Itinerary[], inbound: readonly Itinerary[]): Journey[] {
  const airlineOf = (itinerary: Itinerary) => platingAirlines(world, [itinerary])[0];
  const back = inbound.map((itinerary) => ({ itinerary, airline: airlineOf(itinerary) }));
  return spread(outbound, OUTBOUND).flatMap((there, turn) => {
    const airline = airlineOf(there);
    const landedMs = (there.at(-1)?.arrivalMs ?? 0) + TURN_AROUND_MS;
    const possible = back.filter(({ itinerary }) => (itinerary[0]?.departureMs ?? 0) >= landedMs);
    const same = possible.filter((one) => one.airline === airline);
    const allied = possible.filter(
      (one) => one.airline !== airline && airline?.alliance && one.airline?.alliance === airline.alliance,
    );
    // Turned, so that not every outbound takes the same inbound.
    const ranked = [...turned(same, turn), ...turned(allied, turn)];
    const chosen = ranked.length > 0 ? ranked : turned(possible, turn);
    return chosen.slice(0, INBOUND).map(({ itinerary }) => [there, itinerary]);
  });
}

/** At most `most` of a list, evenly spread over it, the first always among them. */
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
