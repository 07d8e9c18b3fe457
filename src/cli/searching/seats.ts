import type { WantedSeat } from '../../kernel/domain/seats.ts';
import { problem } from '../../kernel/problems.ts';

/** The value of --seats: for each flight the seat of each traveller, in order; null for no seat. */
export type TypedSeats = readonly { readonly flight: string | null; readonly seats: readonly (string | null)[] }[];

interface Flown {
  readonly slices: readonly { readonly segments: readonly { origin_iata: string; destination_iata: string }[] }[];
}

/**
 * Turns typed seats into seats by index of passenger and flight.
 * @param fare the fare with its flights, or null if this home does not know it
 * @throws Problem `usage` for a flight that the fare does not have
 */
export function seatsIn(typed: TypedSeats, fare: Flown | null): WantedSeat[] {
  const flights = fare?.slices.flatMap(({ segments }) =>
    segments.map(({ origin_iata, destination_iata }) => `${origin_iata}-${destination_iata}`),
  );
  return typed.flatMap(({ flight, seats }, at) => {
    const segment_index = flight === null ? at : (flights?.indexOf(flight) ?? -1);
    if (segment_index < 0 || (flights && segment_index >= flights.length)) {
      throw problem('usage', {
        message: flights
          ? `--seats names ${flight ?? `${at + 1} flights`}, and the fare has ${flights.join(', ')}.`
          : `The flights of that offer are not known here, ${flight} among them.`,
        fix: 'Give the seats of each flight in order, with / between flights: 12A,12B/14C,14D.',
      });
    }
    return seats.flatMap((designator, passenger_index) =>
      designator === null ? [] : { passenger_index, segment_index, designator },
    );
  });
}

/** The option of a command to copy. */
export function seatFlags(seats: readonly WantedSeat[]): string[] {
  if (seats.length === 0) return [];
  const flights = Math.max(...seats.map(({ segment_index }) => segment_index)) + 1;
  const listed = Array.from({ length: flights }, (_, flight) => {
    const here = seats.filter(({ segment_index }) => segment_index === flight);
    const travellers = Math.max(0, ...here.map(({ passenger_index }) => passenger_index)) + 1;
    const seatOf = (at: number) => here.find(({ passenger_index }) => passenger_index === at)?.designator ?? '-';
    return Array.from({ length: travellers }, (_one, at) => seatOf(at)).join(',');
  });
  return ['--seats', listed.join('/')];
}
