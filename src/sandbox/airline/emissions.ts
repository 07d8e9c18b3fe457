import type { CabinClass } from '../../wire/flights/index.ts';
import { cabinOn, type Journey } from './journey.ts';
import { TOPIC } from './random.ts';
import type { Flight } from './timetable.ts';
import type { World } from './world.ts';

/**
 * CO2 by the ICAO Carbon Emissions Calculator Methodology: fuel for the great-circle distance with ICAO's correction
 * (50, 100 or 125 km), the share of it that passengers rather than freight cause, divided by the occupied
 * economy-equivalent seats, times the cabin factor (economy 1, the cabins above it 2 on flights over 3000 km), times
 * 3.16 kg of CO2 per kg of fuel. Fuel per aircraft type is a line through typical figures (fleet.ts).
 */
const CO2_PER_FUEL = 3.16;
const PASSENGER_SHARE = { turboprop: 0.98, regional_jet: 0.97, narrow: 0.95, wide: 0.82 } as const;
const LONG_HAUL_KM = 3000;

/** Kilograms for one adult; null where an airline on the way does not disclose what it flies. */
export function emissionsKg(world: World, journey: Journey, cabin: CabinClass): number | null {
  let perAdult = 0;
  for (const flight of journey.flat()) {
    if (!disclosesAircraft(world, flight) || world.dice.unit(TOPIC.emissions, flight.airline.index) < 0.1) {
      return null;
    }
    perAdult += flightKg(flight, cabinOn(flight, cabin));
  }
  return perAdult;
}

/** One adult on one flight, kg. */
function flightKg(flight: Flight, cabin: CabinClass): number {
  const { aircraft, service } = flight.slot;
  const km = service.distanceKm;
  const flownKm = km + (km < 550 ? 50 : km <= 5500 ? 100 : 125);
  const landings = flight.slot.stop ? 2 : 1;
  const fuelKg = aircraft.fuelFixedKg * landings + aircraft.fuelPerKm * flownKm;
  const premium = km > LONG_HAUL_KM ? 2 : 1;
  const { economy, premium_economy, business, first } = aircraft.seats;
  const equivalentSeats = economy + premium * (premium_economy + business + first);
  const loadFactor = flight.airline.kind === 'leisure' ? 0.88 : 0.81;
  const factor = cabin === 'economy' ? 1 : premium;
  return ((CO2_PER_FUEL * fuelKg * PASSENGER_SHARE[aircraft.body]) / (equivalentSeats * loadFactor)) * factor;
}

export const disclosesAircraft = (world: World, { airline, slot }: Flight): boolean =>
  world.dice.unit(TOPIC.disclosure, airline.index, 1) >= 0.06 &&
  world.dice.unit(TOPIC.disclosure, airline.index, 2, slot.flightNumber) >= 0.03;
