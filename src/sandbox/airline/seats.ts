import type { OtherElement, Seat, SeatCabin, SeatMap } from '../../kernel/domain/seats.ts';
import { travellerType } from '../../kernel/domain/travel-ages.ts';
import type { CabinClass } from '../../wire/flights/index.ts';
import { CABINS, cabinOn, flightKey, operatingNumber } from './journey.ts';
import { EUR_PER_USD, SELLERS, type Selection } from './prices.ts';
import type { Air } from './search.ts';
import type { Flight } from './timetable.ts';
import { type Aircraft, distanceKm, TOPIC, type World } from './world.ts';

/** The letters of a row, with a space for each aisle; null if seats cannot be chosen. */
const LETTERS: Record<Aircraft['body'], Record<CabinClass, string> | null> = {
  turboprop: null,
  regional_jet: { economy: 'AC DF', premium_economy: 'AC DF', business: 'A DF', first: 'A DF' },
  narrow: { economy: 'ABC DEF', premium_economy: 'ABC DEF', business: 'AC DF', first: 'AC DF' },
  wide: { economy: 'ABC DEFG HJK', premium_economy: 'AC DEFG HK', business: 'A DG K', first: 'A DG K' },
};

const FRONT_ROWS = 4;
const EXIT_AGE = 16;
const EXIT_TERMS = 'Exit row: for travellers of 16 and over who can help to open the exit in an emergency.';
/** The lowest tier whose fare includes usual seats. */
const FREE_FROM_TIER = 2;

/** Names each flight of an offer, alike for every seller. */
export const flightsOf = ({ ids }: Air, offerId: string): string[] =>
  (ids.read(offerId)?.journey.flat() ?? []).map((flight) =>
    flightKey(operatingNumber(flight), flight.from, flight.to, flight.departureLocalMs),
  );

/** The seat maps of the flights that have numbered seats. An agency that discloses no bags sells no seats either. */
export function seatMapsOf(air: Air, offerId: string, taken: ReadonlySet<string>): SeatMap[] {
  const selection = air.ids.read(offerId);
  if (!selection || SELLERS[selection.sellerIndex]?.silent.includes('bags')) return [];
  const names = flightsOf(air, offerId);
  return selection.journey.flat().flatMap((flight, segment_index) => {
    const letters = LETTERS[flight.slot.aircraft.body]?.[cabinOn(flight, selection.cabin)];
    const isTaken = (seat: string) => taken.has(`${names[segment_index]} ${seat}`);
    return letters ? { segment_index, cabins: [cabinOf(air.world, selection, flight, letters, isTaken)] } : [];
  });
}

function cabinOf(
  world: World,
  selection: Selection,
  flight: Flight,
  letters: string,
  isTaken: (seat: string) => boolean,
): SeatCabin {
  const cabin = cabinOn(flight, selection.cabin);
  const { aircraft } = flight.slot;
  const rowsIn = (one: CabinClass) =>
    Math.ceil(aircraft.seats[one] / (LETTERS[aircraft.body]?.[one].replaceAll(' ', '').length ?? 1));
  const before = CABINS.slice(CABINS.indexOf(cabin) + 1).reduce((sum, one) => sum + rowsIn(one), 0);
  const count = rowsIn(cabin);
  const exit = cabin === 'economy' ? Math.floor(count / 2) : -1;
  const sections = letters.split(' ');
  const whole = (element: OtherElement) => sections.map(() => [element]);
  const rows = Array.from({ length: count }, (_, at) => {
    const row = sections.map((section) =>
      [...section].map((letter) => {
        const kind = at === exit ? 'exit' : cabin === 'economy' && at < FRONT_ROWS ? 'front' : 'usual';
        return seatOf(world, selection, flight, { number: before + at + 1, letter, kind, section }, isTaken);
      }),
    );
    return at === exit ? [whole('exit_row'), row] : [row];
  });
  return { deck: 0, cabin_class: cabin, rows: [...rows.flat(), whole('lavatory')] };
}

interface Place {
  readonly number: number;
  readonly letter: string;
  readonly section: string;
  readonly kind: 'exit' | 'front' | 'usual';
}

function seatOf(
  world: World,
  selection: Selection,
  flight: Flight,
  place: Place,
  isTaken: (seat: string) => boolean,
): Seat {
  const { number, letter, kind } = place;
  const designator = `${number}${letter}`;
  const { airline, slot, day } = flight;
  const at = number * 32 + letter.charCodeAt(0) - 64;
  const isSold = isTaken(designator) || world.dice.unit(TOPIC.seats, airline.index, slot.flightNumber, day, at) < 0.42;
  const amount = BigInt(centsOf(selection, flight, place)) * 10_000n;
  const currency = SELLERS[selection.sellerIndex]?.currency ?? 'USD';
  const ages = [...Array.from({ length: selection.adults }, () => null), ...selection.childAges];
  const mayTake = (age: number | null) =>
    travellerType(age) !== 'infant' && (kind !== 'exit' || age === null || age >= EXIT_AGE);
  return {
    designator,
    name: kind === 'exit' ? 'Extra legroom' : kind === 'front' ? 'Front rows' : null,
    disclosures: kind === 'exit' ? [EXIT_TERMS] : [],
    sold: isSold
      ? []
      : ages.flatMap((age, passenger_index) => (mayTake(age) ? [{ passenger_index, amount, currency }] : [])),
  };
}

/** Seats are free above economy, else priced by distance and place; dearer brands include usual ones. */
function centsOf({ sellerIndex, cabin, tier }: Selection, flight: Flight, { letter, section, kind }: Place): number {
  if (cabinOn(flight, cabin) !== 'economy') return 0;
  const km = distanceKm(flight.from, flight.to);
  const usual = km > 4000 ? 28 : km > 1500 ? 14 : 8;
  const isMiddle = section.indexOf(letter) > 0 && section.indexOf(letter) < section.length - 1;
  const share = { exit: 2.5, front: 1.5, usual: isMiddle ? 0.5 : 1 }[kind];
  const usd = tier >= FREE_FROM_TIER ? (kind === 'usual' ? 0 : share / 2) : share;
  return Math.round(usual * usd * 100 * (SELLERS[sellerIndex]?.currency === 'EUR' ? EUR_PER_USD : 1));
}
