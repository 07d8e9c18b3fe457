import { isoDuration } from '../../kernel/domain/offers.ts';
import type { CabinClass, Conditions } from '../../wire/flights/index.ts';
import type { Itinerary } from './itineraries.ts';
import type { Flight } from './timetable.ts';
import { type Airline, type Airport, distanceKm, TOPIC, type World } from './world.ts';

export type Journey = readonly Itinerary[];

/** Lowest first; offer ids name cabins by position. */
export const CABINS: readonly CabinClass[] = ['economy', 'premium_economy', 'business', 'first'];

/** The best cabin up to the wanted one. */
export function cabinOn(flight: Flight, wanted: CabinClass): CabinClass {
  for (let i = CABINS.indexOf(wanted); i > 0; i--) {
    const cabin = CABINS[i];
    if (cabin && flight.slot.aircraft.seats[cabin] > 0) return cabin;
  }
  return 'economy';
}

/** True if the longest flight of a direction has the wanted cabin. */
export const isSoldIn = (itinerary: Itinerary, wanted: CabinClass): boolean =>
  wanted === 'economy' ||
  itinerary.some((flight) => flight === longest(itinerary) && cabinOn(flight, wanted) === wanted);

const longest = (itinerary: Itinerary): Flight | undefined =>
  itinerary.reduce<Flight | undefined>(
    (best, flight) => (best && best.slot.service.distanceKm >= flight.slot.service.distanceKm ? best : flight),
    undefined,
  );

/** Identifies a physical flight whatever the seller: `ZA123-LIS-BER-20261220`. */
export const flightKey = (number: string, from: Airport, to: Airport, departureLocalMs: number): string =>
  `${number}-${from.iata}-${to.iata}-${localTime(departureLocalMs).slice(0, 10).replaceAll('-', '')}`;

/** Identifies a physical itinerary by operating flights and dates. */
export const comparisonKey = (journey: Journey): string =>
  journey
    .map((itinerary) =>
      itinerary
        .map((flight) => flightKey(operatingNumber(flight), flight.from, flight.to, flight.departureLocalMs))
        .join('.'),
    )
    .join('~');

const localTime = (localMs: number): string => new Date(localMs).toISOString().slice(0, 19);

export const spanOf = (
  from: Airport,
  to: Airport,
  departureLocalMs: number,
  arrivalLocalMs: number,
  minutes: number,
) => ({
  origin_iata: from.iata,
  destination_iata: to.iata,
  departing_at: localTime(departureLocalMs),
  arriving_at: localTime(arrivalLocalMs),
  origin_time_zone: from.timeZone,
  destination_time_zone: to.timeZone,
  duration: isoDuration(minutes),
});

/** A null penalty is undisclosed, or the change or refund is not allowed. */
type Term = readonly [allowed: boolean | null, penalty: string | null];

export const conditionsOf = (change: Term, refund: Term, currency: string): Conditions => ({
  change_allowed: change[0],
  change_penalty_amount: change[1],
  change_penalty_currency: change[1] === null ? null : currency,
  refund_allowed: refund[0],
  refund_penalty_amount: refund[1],
  refund_penalty_currency: refund[1] === null ? null : currency,
});

/** Hashes a journey, for throws about it. */
export function journeyBits(world: World, journey: Journey): number {
  let bits = 0;
  for (const itinerary of journey) {
    for (const { airline, slot, day } of itinerary) {
      bits = world.dice.bits(TOPIC.fare, bits, airline.index, slot.flightNumber, day);
    }
  }
  return bits;
}

/**
 * The selling airlines: the operating one (of the longest flight, if they differ), and for three journeys in ten an
 * ally with codeshares.
 */
export function platingAirlines(world: World, journey: Journey): Airline[] {
  const flights = journey.flat();
  const main = longest(flights)?.airline;
  if (!main) return [];
  const alone = flights.every(({ airline }) => airline === main);
  if (!alone || main.alliance === null) return [main];
  const bits = journeyBits(world, journey);
  if (world.dice.unit(TOPIC.codeshare, bits) >= 0.3) return [main];
  const ends = flights.flatMap(({ from, to }) => [from.country, to.country]);
  const allies = world.airlines.filter(
    (airline) =>
      airline !== main &&
      airline.alliance === main.alliance &&
      world.homeCountries(airline).some((country) => ends.includes(country)),
  );
  const ally = allies[world.dice.pick(allies.length, TOPIC.codeshare, bits, 1)];
  return ally ? [main, ally] : [main];
}

/** The airline whose number a sold flight carries. */
export const marketingAirline = (flight: Flight, plating: Airline): Airline =>
  flight.airline === plating || (plating.alliance !== null && flight.airline.alliance === plating.alliance)
    ? plating
    : flight.airline;

export const operatingNumber = ({ airline, slot }: Flight): string => `${airline.code}${slot.flightNumber}`;

/** Codeshares have numbers above the airline's own flights. */
export function marketingNumber(world: World, flight: Flight, plating: Airline): string {
  const marketing = marketingAirline(flight, plating);
  if (marketing === flight.airline) return operatingNumber(flight);
  const number =
    7400 +
    world.dice.pick(2600, TOPIC.codeshareNumber, marketing.index, flight.airline.index, flight.slot.flightNumber);
  return `${marketing.code}${number}`;
}

export function lengthKm(itinerary: Itinerary): number {
  const [first] = itinerary;
  const last = itinerary.at(-1);
  return first && last ? distanceKm(first.from, last.to) : 0;
}
