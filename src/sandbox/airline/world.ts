import { type Airline, readAirlines } from './airlines.ts';
import { type Airport, readAirports } from './airports.ts';
import { type Aircraft, createFleet, type FleetRole } from './fleet.ts';
import { createDice, type Dice } from './random.ts';
import { createZones, type Zones } from './zones.ts';

/** The fixed facts of one seed. Everything else is looked up from them. */
export interface World {
  readonly seed: string;
  readonly dice: Dice;
  readonly zones: Zones;
  readonly airports: readonly Airport[];
  readonly airlines: readonly Airline[];
  readonly fleet: Record<FleetRole, readonly Aircraft[]>;
  /** Airports that some airline calls home, in table order. */
  readonly hubs: readonly Airport[];
  byCode(iata: string): Airport | undefined;
  /** Airlines at home at an airport. */
  atHome(airport: Airport): readonly Airline[];
  /** Countries of an airline's hubs. */
  homeCountries(airline: Airline): readonly string[];
}

export function createWorld(seed: string): World {
  const airports = readAirports();
  const airlines = readAirlines();
  const codes = new Map(airports.map((airport) => [airport.iata, airport]));
  const homes = new Map<string, Airline[]>();
  for (const airline of airlines) {
    for (const hub of airline.hubs) {
      const there = homes.get(hub);
      if (there) there.push(airline);
      else homes.set(hub, [airline]);
    }
  }
  const countries = airlines.map((airline) => airline.hubs.map((hub) => codes.get(hub)?.country ?? ''));
  const nobody: readonly Airline[] = [];
  return {
    seed,
    dice: createDice(seed),
    zones: createZones(),
    airports,
    airlines,
    fleet: createFleet(),
    hubs: airports.filter((airport) => homes.has(airport.iata)),
    byCode: (iata) => codes.get(iata),
    homeCountries: (airline) => countries[airline.index] ?? [],
    atHome: (airport) => homes.get(airport.iata) ?? nobody,
  };
}
