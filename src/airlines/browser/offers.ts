import { HOUR_MS } from '../../kernel/clock.ts';
import { zonedInstant } from '../../kernel/domain/ics.ts';
import { asInteger, formatUsdc, parseUsdc } from '../../kernel/money.ts';
import type { Offer, Slice } from '../../wire/flights/index.ts';
import type { OfferQuery } from '../provider.ts';
import { airportOf, type FlightKey, type SeenFlight } from './flights.ts';
import { Misfit } from './page/index.ts';
import type { Recipe } from './recipes/index.ts';

/** Offers of a carrier, made of the flights that its page shows. */

const LEAST_STAY_MS = HOUR_MS;
const DEFAULT_LIFE_MINUTES = 30;

export interface FoundOffer {
  readonly offer: Offer;
  readonly flights: readonly FlightKey[];
}

/** What the flights of one visit make: one offer each, or each pair with time to turn round between. */
export function offersOf(
  recipe: Recipe,
  query: OfferQuery,
  { out, back }: { readonly out: readonly SeenFlight[]; readonly back: readonly SeenFlight[] | null },
  { quotedAtMs, newId }: { readonly quotedAtMs: number; newId(): string },
): FoundOffer[] {
  const trips = back === null ? out.map((one) => [one]) : out.flatMap((one) => back.map((two) => [one, two]));
  return trips.flatMap((flights) => {
    const slices = flights.map((flight, i) => sliceOf(recipe, query, flight, i === 1));
    const [first, last] = slices;
    const currencies = new Set(flights.map(({ price }) => price.currency));
    if (!first || currencies.size !== 1) return [];
    if (last && instantOf(last, 'departing') < instantOf(first, 'arriving') + LEAST_STAY_MS) return [];
    const offer = offerOf(recipe, query, flights, slices, { quotedAtMs, id: newId() });
    return [{ offer, flights: flights.map(({ flightNumber, departingAt }) => ({ flightNumber, departingAt })) }];
  });
}

const instantOf = (slice: Slice, end: 'departing' | 'arriving'): number =>
  end === 'departing'
    ? zonedInstant(slice.departing_at, slice.origin_time_zone)
    : zonedInstant(slice.arriving_at, slice.destination_time_zone);

function offerOf(
  recipe: Recipe,
  query: OfferQuery,
  flights: readonly SeenFlight[],
  slices: readonly Slice[],
  { quotedAtMs, id }: { readonly quotedAtMs: number; readonly id: string },
): Offer {
  const [first] = slices;
  const [flight] = flights;
  if (!first || !flight) throw new Error('an offer without flights');
  const times = recipe.search.price_for === 'one' ? BigInt(query.adults) : 1n;
  const total = flights.reduce((sum, { price }) => sum + parseUsdc(price.decimal) * times, 0n);
  const same = <T>(of: (flight: SeenFlight) => T): T | null =>
    flights.every((one) => of(one) === of(flight)) ? of(flight) : null;
  const lifeMs = (recipe.search.offer_life_minutes ?? DEFAULT_LIFE_MINUTES) * 60_000;
  return {
    offer_id: id,
    comparison_key: flights.map((one, i) => keyOf(query, one, i === 1)).join('~'),
    owner_name: recipe.carrier.name,
    origin_iata: first.origin_iata,
    destination_iata: first.destination_iata,
    departing_at: first.departing_at,
    arriving_at: first.arriving_at,
    origin_time_zone: first.origin_time_zone,
    destination_time_zone: first.destination_time_zone,
    duration: first.duration,
    stops: 0,
    technical_stops: 0,
    slices: [...slices],
    fare_brand_name: same(({ brand }) => brand),
    cabin_class: 'economy',
    cabin_class_marketing_name: null,
    checked_bags_included: same(({ checkedBags }) => checkedBags),
    carry_on_bags_included: same(({ carryOnBags }) => carryOnBags),
    // A list of flights doesn't say what a change or a refund costs: the menu does.
    conditions: null,
    total_amount: asInteger(total),
    total_amount_decimal: formatUsdc(total),
    total_currency: flight.price.currency,
    base_amount_decimal: null,
    tax_amount_decimal: null,
    total_emissions_kg: null,
    supported_loyalty_programmes: [],
    identity_documents_required: true,
    requires_instant_payment: true,
    expires_at: new Date(quotedAtMs + lifeMs).toISOString(),
  };
}

const keyOf = ({ origin, destination }: OfferQuery, flight: SeenFlight, isBack: boolean): string => {
  const [from, to] = isBack ? [destination, origin] : [origin, destination];
  return `${flight.flightNumber}-${from}-${to}-${flight.departingAt.slice(0, 10).replaceAll('-', '')}`;
};

function sliceOf(recipe: Recipe, query: OfferQuery, flight: SeenFlight, isBack: boolean): Slice {
  const [from, to] = isBack ? [query.destination, query.origin] : [query.origin, query.destination];
  const zones = [airportOf(from)?.timeZone ?? 'UTC', airportOf(to)?.timeZone ?? 'UTC'] as const;
  const minutes = (zonedInstant(flight.arrivingAt, zones[1]) - zonedInstant(flight.departingAt, zones[0])) / 60_000;
  if (minutes <= 0 || minutes > 24 * 60) {
    throw new Misfit('search', 'search (read arrives)', `${flight.flightNumber} lands before it starts`);
  }
  const hours = Math.floor(minutes / 60);
  const journey = {
    origin_iata: from,
    destination_iata: to,
    departing_at: flight.departingAt,
    arriving_at: flight.arrivingAt,
    origin_time_zone: zones[0],
    destination_time_zone: zones[1],
    duration: `PT${hours > 0 ? `${hours}H` : ''}${minutes % 60 > 0 || hours === 0 ? `${minutes % 60}M` : ''}`,
  };
  return {
    ...journey,
    stops: 0,
    technical_stops: 0,
    fare_brand_name: flight.brand,
    segments: [
      {
        ...journey,
        carrier_name: flight.carrierName ?? recipe.carrier.name,
        operating_flight_number: flight.operatingFlightNumber,
        marketing_carrier_name: recipe.carrier.name,
        flight_number: flight.flightNumber,
        aircraft_name: flight.aircraftName,
        origin_terminal: flight.originTerminal,
        destination_terminal: flight.destinationTerminal,
        fare_basis_code: null,
        technical_stops: 0,
        technical_stop_airports: [],
      },
    ],
  };
}
