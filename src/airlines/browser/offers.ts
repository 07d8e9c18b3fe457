import { HOUR_MS } from '../../kernel/clock.ts';
import { zonedInstant } from '../../kernel/domain/ics.ts';
import { isoDuration } from '../../kernel/domain/offers.ts';
import { asInteger, formatUsdc, parseUsdc } from '../../kernel/money.ts';
import type { Offer, Slice } from '../../wire/flights/index.ts';
import type { OfferQuery } from '../provider.ts';
import { airportOf, type FlightKey, type SeenFlight, type SeenFlights } from './flights.ts';
import { Misfit } from './page/index.ts';
import type { Recipe } from './recipes/index.ts';

/** Offers of a carrier, made of the flights that its page shows. */

const LEAST_STAY_MS = HOUR_MS;
const DEFAULT_LIFE_MINUTES = 30;

export interface FoundOffer {
  readonly offer: Offer;
  readonly flights: readonly FlightKey[];
}

/** One offer for each flight, or for each pair with time to turn round between. */
export function offersOf(
  recipe: Recipe,
  query: OfferQuery,
  { out, back }: SeenFlights,
  { quotedAtMs, newId }: { readonly quotedAtMs: number; newId(): string },
): FoundOffer[] {
  const trips = back === null ? out.map((one) => [one]) : out.flatMap((one) => back.map((two) => [one, two]));
  return trips.flatMap((flights) => {
    const slices = flights.map((flight, i) => sliceOf(recipe, wayOf(query, i), flight));
    const [first, last] = slices;
    const currencies = new Set(flights.map(({ price }) => price.currency));
    if (!first || currencies.size !== 1) return [];
    const landsAtMs = zonedInstant(first.arriving_at, first.destination_time_zone);
    if (last && zonedInstant(last.departing_at, last.origin_time_zone) < landsAtMs + LEAST_STAY_MS) return [];
    const offer = offerOf(recipe, query, flights, slices, { quotedAtMs, id: newId() });
    return [{ offer, flights: flights.map(({ flightNumber, departingAt }) => ({ flightNumber, departingAt })) }];
  });
}

/** The airports of the way out (0) and of the way back (1). */
const wayOf = ({ origin, destination }: OfferQuery, index: number): readonly [from: string, to: string] =>
  index === 0 ? [origin, destination] : [destination, origin];

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
  const { segments: _segments, fare_brand_name: _brand, ...journey } = first;
  const times = recipe.search.price_for === 'one' ? BigInt(query.adults) : 1n;
  const total = flights.reduce((sum, { price }) => sum + parseUsdc(price.decimal) * times, 0n);
  const same = <F extends 'brand' | 'checkedBags' | 'carryOnBags'>(field: F): SeenFlight[F] | null =>
    flights.every((one) => one[field] === flight[field]) ? flight[field] : null;
  const lifeMs = (recipe.search.offer_life_minutes ?? DEFAULT_LIFE_MINUTES) * 60_000;
  return {
    offer_id: id,
    comparison_key: flights.map((one, i) => keyOf(wayOf(query, i), one)).join('~'),
    owner_name: recipe.carrier.name,
    ...journey,
    slices: [...slices],
    fare_brand_name: same('brand'),
    cabin_class: 'economy',
    cabin_class_marketing_name: null,
    checked_bags_included: same('checkedBags'),
    carry_on_bags_included: same('carryOnBags'),
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

const keyOf = ([from, to]: readonly [string, string], { flightNumber, departingAt }: SeenFlight): string =>
  `${flightNumber}-${from}-${to}-${departingAt.slice(0, 10).replaceAll('-', '')}`;

function sliceOf(recipe: Recipe, [from, to]: readonly [string, string], flight: SeenFlight): Slice {
  const [fromZone, toZone] = [airportOf(from)?.timeZone ?? 'UTC', airportOf(to)?.timeZone ?? 'UTC'];
  const minutes = (zonedInstant(flight.arrivingAt, toZone) - zonedInstant(flight.departingAt, fromZone)) / 60_000;
  if (minutes <= 0 || minutes > 24 * 60) {
    throw new Misfit('search', 'search (read arrives)', `${flight.flightNumber} lands before it starts`);
  }
  const journey = {
    origin_iata: from,
    destination_iata: to,
    departing_at: flight.departingAt,
    arriving_at: flight.arrivingAt,
    origin_time_zone: fromZone,
    destination_time_zone: toZone,
    duration: isoDuration(minutes),
  };
  const segment = {
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
  };
  return { ...journey, stops: 0, technical_stops: 0, fare_brand_name: flight.brand, segments: [segment] };
}
