import { decimalOf } from '../airline/index.ts';
import type { OfferedService, WorldOffer } from './books.ts';
import { type DuffelIds, diceOf, offerIdOf, passengerIds, segmentIds, traitOf } from './ids.ts';
import type { Sandbox } from './sandbox.ts';

type Bag = Pick<OfferedService, 'type' | 'weightKg' | 'totalCents' | 'most'>;

function bagsFor({ ownerCode, offer }: WorldOffer): readonly Bag[] {
  if (ownerCode === null) return [];
  if (ownerCode === 'ZZ') return [{ type: 'checked', weightKg: 23, totalCents: 2_000, most: 1 }];
  const odd = diceOf(ownerCode, 'bags');
  const totalCents = 3_000 + 500 * (odd % 8);
  const bags: Bag[] = [{ type: 'checked', weightKg: odd % 3 === 0 ? null : 23, totalCents, most: 2 }];
  if (odd % 2 === 0) bags.push({ type: 'checked', weightKg: 32, totalCents: totalCents + 2_500, most: 1 });
  if (offer.carry_on_bags_included === 0) bags.push({ type: 'carry_on', weightKg: 10, totalCents: 1_800, most: 1 });
  return bags;
}

/** A bag's id encodes its position and the read; reads repeat after 5,000. */
const READS = 5_000;
const OFFERS = 2_000;

const placeOf = ({ request, index }: WorldOffer): number => request.number * OFFERS + index;

/** The bags for sale, each for one passenger on all flights, at their current prices. */
function offered({ ids, books }: Sandbox, offer: WorldOffer): Omit<OfferedService, 'id'>[] {
  const { bagCents = 0 } = books.offers.get(offerIdOf(ids, offer)) ?? {};
  if (traitOf(offer.request) === 'no_services' || bagCents === null) return [];
  return passengerIds(ids, offer.request).flatMap((passengerId) =>
    bagsFor(offer).map((bag) => ({ ...bag, totalCents: bag.totalCents + bagCents, quantity: 1, passengerId })),
  );
}

/** Each read gives the bags new ids, all of which can be booked. */
export const servicesOf = (sandbox: Sandbox, offer: WorldOffer, read: number): object[] =>
  offered(sandbox, offer).map((service, position) => ({
    id: sandbox.ids.numbered('ase', placeOf(offer), position * READS + (read % READS)),
    type: 'baggage',
    maximum_quantity: service.most,
    passenger_ids: [service.passengerId],
    segment_ids: segmentIds(sandbox.ids, offer).flat(),
    // The price for all flights together.
    total_amount: decimalOf(service.totalCents),
    total_currency: offer.offer.total_currency,
    metadata: {
      type: service.type,
      maximum_weight_kg: service.weightKg,
      maximum_height_cm: null,
      maximum_length_cm: null,
      maximum_depth_cm: null,
    },
  }));

/** Finds a bag by its id of any read, or a seat; undefined for another id. */
export function serviceById(sandbox: Sandbox, offer: WorldOffer, id: string): OfferedService | undefined {
  const { ids } = sandbox;
  const read = ids.read('ase', id);
  if (!read) return seatServices(sandbox, offer).find((service) => service.id === id);
  if (read.number !== placeOf(offer)) return undefined;
  const service = offered(sandbox, offer)[Math.floor(read.index / READS)];
  return service && { ...service, id };
}

/** Each flight has one small cabin. A third of its seats is taken, and children may not sit in its exit row. */
const ROWS = [1, 2, 3, 4, 5, 6, 7, 8];
const SECTIONS = ['ABC', 'DEF'];
const FRONT_ROWS = 2;
const FRONT_CENTS = 3_000;
const OTHER_CENTS = 1_200;
const EXIT_ROW = 5;
const EXIT_TERMS = ['Passengers in an exit row must be able and willing to assist in an emergency.'];

/** True for a seat on the same flight in another order. */
export const isSold = (
  { books }: Sandbox,
  { flight, designator }: Pick<OfferedService, 'flight' | 'designator'>,
): boolean =>
  books.orders
    .all()
    .some(
      (order) =>
        order.cancelledAtMs === null &&
        order.services.some((one) => one.flight === flight && one.designator === designator),
    );

interface Flown {
  readonly segmentId: string;
  /** Names the flight alike in every search. */
  readonly flight: string;
}

const flown = (ids: DuffelIds, offer: WorldOffer): Flown[][] =>
  segmentIds(ids, offer).map((segments, at) =>
    segments.map((segmentId, place) => {
      const { origin_iata, operating_flight_number, flight_number, departing_at } =
        offer.offer.slices[at]?.segments[place] ?? {};
      return { segmentId, flight: `${operating_flight_number ?? flight_number} ${origin_iata} ${departing_at}` };
    }),
  );

/** One service for each traveller who may sit there, none if it is taken. */
function servicesOfSeat(sandbox: Sandbox, offer: WorldOffer, at: Flown, row: number, letter: string): OfferedService[] {
  const { ids, books } = sandbox;
  const designator = `${row}${letter}`;
  const { seatCents = 0 } = books.offers.get(offerIdOf(ids, offer)) ?? {};
  const { segmentId, flight } = at;
  if (diceOf(`${flight} ${designator}`, 'seat') % 3 === 0) return [];
  return passengerIds(ids, offer.request).flatMap((passengerId, position) => {
    const age = offer.request.ages[position] ?? null;
    if (age !== null && (age < 2 || row === EXIT_ROW)) return [];
    return {
      id: ids.hashed('ase', offerIdOf(ids, offer), segmentId, designator, passengerId),
      type: 'seat',
      ...{ designator, segmentId, flight },
      disclosures: row === EXIT_ROW ? EXIT_TERMS : [],
      weightKg: null,
      quantity: 1,
      most: 1,
      totalCents: (row <= FRONT_ROWS ? FRONT_CENTS : OTHER_CENTS) + (seatCents ?? 0),
      passengerId,
    };
  });
}

const seatServices = (sandbox: Sandbox, offer: WorldOffer): OfferedService[] =>
  flown(sandbox.ids, offer)
    .flat()
    .flatMap((at) =>
      ROWS.flatMap((row) =>
        [...SECTIONS.join('')].flatMap((letter) => servicesOfSeat(sandbox, offer, at, row, letter)),
      ),
    );

/** The seat maps of an offer; agencies and routes without services have none. */
export const seatMaps = (sandbox: Sandbox, offer: WorldOffer): object[] =>
  offer.ownerCode === null || traitOf(offer.request) === 'no_services'
    ? []
    : flown(sandbox.ids, offer).flatMap((flights, at) => flights.map((one) => seatMap(sandbox, offer, at, one)));

function seatMap(sandbox: Sandbox, offer: WorldOffer, at: number, flight: Flown): object {
  const { ids, books } = sandbox;
  const areGone = books.offers.get(offerIdOf(ids, offer))?.seatCents === null;
  const isGone = (service: OfferedService) => areGone || isSold(sandbox, service);
  const seat = (row: number, letter: string) => ({
    type: 'seat',
    designator: `${row}${letter}`,
    name: '',
    disclosures: row === EXIT_ROW ? EXIT_TERMS : [],
    available_services: servicesOfSeat(sandbox, offer, flight, row, letter)
      .filter((service) => !isGone(service))
      .map((service) => ({
        id: service.id,
        passenger_id: service.passengerId,
        total_amount: decimalOf(service.totalCents),
        total_currency: offer.offer.total_currency,
      })),
  });
  return {
    id: ids.hashed('sea', flight.segmentId),
    slice_id: ids.hashed('sli', offer.request.number, offer.index, at),
    segment_id: flight.segmentId,
    cabins: [
      {
        deck: 0,
        cabin_class: offer.offer.cabin_class,
        wings: { first_row_index: 3, last_row_index: 6 },
        aisles: SECTIONS.length - 1,
        rows: ROWS.flatMap((row) => [
          ...(row === EXIT_ROW ? [{ sections: SECTIONS.map(() => ({ elements: [{ type: 'exit_row' }] })) }] : []),
          { sections: SECTIONS.map((letters) => ({ elements: [...letters].map((letter) => seat(row, letter)) })) },
        ]),
      },
    ],
  };
}
