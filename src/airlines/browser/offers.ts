import { HOUR_MS } from '../../kernel/clock.ts';
import { zonedInstant, zoneOffsets } from '../../kernel/domain/ics.ts';
import { isoDuration } from '../../kernel/domain/offers.ts';
import type { Offer, Slice } from '../../wire/flights/index.ts';
import { directOffer, directSlice } from '../direct.ts';
import type { RoundTrip } from '../provider.ts';
import { airportOf, type FlightKey, priceOf, type SeenFlight, type SeenFlights, shared } from './flights.ts';
import { Misfit } from './page/index.ts';
import type { Recipe } from './recipes/index.ts';

const LEAST_STAY_MS = HOUR_MS;
const DEFAULT_LIFE_MINUTES = 30;

export interface FoundOffer {
  readonly offer: Offer;
  readonly flights: readonly FlightKey[];
}

/** Makes an offer of each flight, or of each pair with enough time between. */
export function offersOf(
  recipe: Recipe,
  query: RoundTrip,
  { out, back }: SeenFlights,
  { quotedAtMs, newId }: { readonly quotedAtMs: number; newId(): string },
): FoundOffer[] {
  const { origin, destination } = query;
  const trips = back === null ? out.map((one) => [one]) : out.flatMap((one) => back.map((two) => [one, two]));
  return trips.flatMap((flights) => {
    const slices = flights.map((flight, i) =>
      sliceOf(recipe, i === 0 ? [origin, destination] : [destination, origin], flight),
    );
    const [first, last] = slices;
    const currencies = new Set(flights.map(({ price }) => price.currency));
    if (!first || currencies.size !== 1) return [];
    const landsAtMs = zonedInstant(first.arriving_at, first.destination_time_zone);
    if (last && zonedInstant(last.departing_at, last.origin_time_zone) < landsAtMs + LEAST_STAY_MS) return [];
    const offer = offerOf(recipe, query, flights, slices, { quotedAtMs, id: newId() });
    return [{ offer, flights: flights.map(({ flightNumber, departingAt }) => ({ flightNumber, departingAt })) }];
  });
}

function offerOf(
  recipe: Recipe,
  { adults }: RoundTrip,
  flights: readonly SeenFlight[],
  slices: readonly Slice[],
  { quotedAtMs, id }: { readonly quotedAtMs: number; readonly id: string },
): Offer {
  const { search, carrier } = recipe;
  return directOffer(slices, {
    offer_id: id,
    owner_name: carrier.name,
    fare_brand_name: shared(flights, 'brand'),
    checked_bags_included: shared(flights, 'checkedBags'),
    carry_on_bags_included: shared(flights, 'carryOnBags'),
    // A list of flights doesn't say what a change or a refund costs: the menu does.
    conditions: null,
    total: priceOf(recipe, flights, adults),
    total_currency: flights[0]?.price.currency ?? '',
    expiresAtMs: quotedAtMs + (search.offer_life_minutes ?? DEFAULT_LIFE_MINUTES) * 60_000,
  });
}

const localAt = (ms: number, timeZone: string): string =>
  new Date(ms + zoneOffsets(timeZone)(ms)).toISOString().slice(0, 19);

function sliceOf(recipe: Recipe, [from, to]: readonly [string, string], flight: SeenFlight): Slice {
  const [fromZone, toZone] = [airportOf(from)?.timeZone ?? 'UTC', airportOf(to)?.timeZone ?? 'UTC'];
  const departsMs = zonedInstant(flight.departingAt, fromZone);
  const { arrives } = flight;
  const minutes = typeof arrives === 'number' ? arrives : (zonedInstant(arrives, toZone) - departsMs) / 60_000;
  if (minutes <= 0 || minutes > 24 * 60) {
    const { arrives: read, duration } = recipe.search.out.read;
    const why = minutes > 0 ? 'takes more than a day' : 'lands before it starts';
    throw new Misfit(
      'search',
      `search (read ${duration ? 'duration' : 'arrives'})`,
      `${flight.flightNumber} ${why}`,
      (duration ?? read)?.at,
    );
  }
  const span = {
    origin_iata: from,
    destination_iata: to,
    departing_at: flight.departingAt,
    arriving_at: typeof arrives === 'string' ? arrives : localAt(departsMs + minutes * 60_000, toZone),
    origin_time_zone: fromZone,
    destination_time_zone: toZone,
    duration: isoDuration(minutes),
  };
  const sold = {
    carrier_name: flight.carrierName ?? recipe.carrier.name,
    operating_flight_number: flight.operatingFlightNumber,
    marketing_carrier_name: recipe.carrier.name,
    flight_number: flight.flightNumber,
    aircraft_name: flight.aircraftName,
    origin_terminal: flight.originTerminal,
    destination_terminal: flight.destinationTerminal,
  };
  return directSlice(span, sold, flight.brand);
}
