import type { CabinClass } from '../../wire/flights/index.ts';

/** An aircraft type as the sandbox flies it: real types, typical figures. */
export interface Aircraft {
  readonly name: string;
  readonly body: 'turboprop' | 'regional_jet' | 'narrow' | 'wide';
  /** How far it is sent, km. */
  readonly rangeKm: number;
  readonly cruiseKmh: number;
  /** Seats by cabin; 0 is a cabin that it does not have. */
  readonly seats: Readonly<Record<CabinClass, number>>;
  /** Fuel for taxi, take-off, climb and landing, kg. */
  readonly fuelFixedKg: number;
  /** Fuel in cruise, kg per km. */
  readonly fuelPerKm: number;
}

const seats = (economy: number, premium_economy = 0, business = 0, first = 0) => ({
  economy,
  premium_economy,
  business,
  first,
});

const type = (
  name: string,
  body: Aircraft['body'],
  rangeKm: number,
  cruiseKmh: number,
  cabin: Aircraft['seats'],
  fuelFixedKg: number,
  fuelPerKm: number,
): Aircraft => ({ name, body, rangeKm, cruiseKmh, seats: cabin, fuelFixedKg, fuelPerKm });

export type FleetRole = 'hop' | 'regional' | 'short_leisure' | 'short' | 'medium' | 'long';

/** Types by role; an airline has its favourite among those that reach. */
export const createFleet = (): Record<FleetRole, readonly Aircraft[]> => ({
  hop: [type('ATR 72-600', 'turboprop', 1400, 500, seats(70), 200, 1.35)],
  regional: [
    type('ATR 72-600', 'turboprop', 1000, 500, seats(70), 200, 1.35),
    type('Embraer E190-E2', 'regional_jet', 4500, 820, seats(98, 0, 8), 520, 1.95),
    type('Airbus A220-300', 'regional_jet', 5400, 830, seats(125, 0, 12), 600, 2.05),
  ],
  short_leisure: [
    type('Airbus A320neo', 'narrow', 5600, 835, seats(186), 820, 2.45),
    type('Boeing 737 MAX 8', 'narrow', 5800, 835, seats(189), 850, 2.5),
    type('Airbus A321neo', 'narrow', 5900, 835, seats(232), 950, 2.85),
  ],
  short: [
    type('Airbus A320neo', 'narrow', 5200, 835, seats(138, 0, 24), 820, 2.45),
    type('Boeing 737 MAX 8', 'narrow', 5400, 835, seats(142, 0, 20), 850, 2.5),
    type('Airbus A321neo', 'narrow', 5400, 835, seats(168, 0, 28), 950, 2.85),
  ],
  medium: [
    type('Airbus A321XLR', 'narrow', 7600, 840, seats(148, 16, 20), 1050, 3.0),
    type('Boeing 787-8', 'wide', 13_000, 900, seats(190, 28, 26), 2200, 4.9),
    type('Airbus A330-900', 'wide', 12_500, 880, seats(215, 35, 32), 2500, 5.7),
  ],
  long: [
    type('Boeing 787-9', 'wide', 14_600, 903, seats(200, 35, 36), 2500, 5.5),
    type('Airbus A350-900', 'wide', 15_500, 905, seats(210, 38, 42), 2600, 5.7),
    type('Boeing 777-300ER', 'wide', 13_800, 900, seats(228, 40, 52, 8), 3500, 7.6),
    type('Airbus A350-1000', 'wide', 15_700, 905, seats(235, 44, 46, 6), 3000, 6.7),
    type('Airbus A380-800', 'wide', 14_600, 905, seats(370, 50, 76, 12), 6500, 12.4),
  ],
});
