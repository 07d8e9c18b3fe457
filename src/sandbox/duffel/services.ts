import type { OfferedService, OfferRequestRecord } from './books.ts';
import { type DuffelIds, diceOf } from './ids.ts';
import { amountOf } from './money.ts';
import { offerIdOf, passengerIds, segmentId, traitOf } from './names.ts';
import type { WorldOffer } from './world.ts';

interface Bag {
  readonly type: 'checked' | 'carry_on';
  readonly weightKg: number | null;
  readonly cents: number;
  readonly most: number;
}

/** Bags that a carrier sells beside its fare. */
function bagsFor({ ownerCode, offer }: WorldOffer): readonly Bag[] {
  if (ownerCode === null) return [];
  if (ownerCode === 'ZZ') return [{ type: 'checked', weightKg: 23, cents: 2_000, most: 1 }];
  const odd = diceOf(ownerCode, 'bags');
  const cents = 3_000 + 500 * (odd % 8);
  const bags: Bag[] = [{ type: 'checked', weightKg: odd % 3 === 0 ? null : 23, cents, most: 2 }];
  if (odd % 2 === 0) bags.push({ type: 'checked', weightKg: 32, cents: cents + 2_500, most: 1 });
  if (offer.carry_on_bags_included === 0) bags.push({ type: 'carry_on', weightKg: 10, cents: 1_800, most: 1 });
  return bags;
}

/** Places of bags in ids: the read goes up to 5,000 before it begins again. */
const READS = 5_000;

const OFFERS = 2_000;

/** Everything that can be bought with an offer: each bag for each passenger, on all of his flights. */
function offered(ids: DuffelIds, request: OfferRequestRecord, offer: WorldOffer): Omit<OfferedService, 'id'>[] {
  if (traitOf(request) === 'no_services') return [];
  return passengerIds(ids, request).flatMap((passengerId) =>
    bagsFor(offer).map(({ type, weightKg, cents, most }) => ({
      type,
      weightKg,
      quantity: 1,
      totalCents: cents,
      passengerId,
      most,
    })),
  );
}

/** The services of one read: their ids are new with every read, and all of them can be booked. */
export const servicesOf = (ids: DuffelIds, request: OfferRequestRecord, offer: WorldOffer, read: number): object[] => {
  const segments = offer.offer.slices.flatMap((slice, at) =>
    slice.segments.map((_, flight) => segmentId(ids, offer, `${at}.${flight}`)),
  );
  return offered(ids, request, offer).map((service, position) => ({
    id: ids.numbered('ase', offer.requestNumber * OFFERS + offer.index, position * READS + (read % READS)),
    type: 'baggage',
    maximum_quantity: service.most,
    passenger_ids: [service.passengerId],
    segment_ids: segments,
    // For all of these flights together.
    total_amount: amountOf(service.totalCents),
    total_currency: offer.offer.total_currency,
    metadata: {
      type: service.type,
      maximum_weight_kg: service.weightKg,
      maximum_height_cm: null,
      maximum_length_cm: null,
      maximum_depth_cm: null,
    },
  }));
};

/** The service of an id of any read of this offer, or one of its seats; null for any other. */
export function serviceById(
  ids: DuffelIds,
  request: OfferRequestRecord,
  offer: WorldOffer,
  id: string,
): OfferedService | null {
  const read = ids.read('ase', id);
  if (!read) return seatById(ids, request, offer, id);
  if (read.number !== offer.requestNumber * OFFERS + offer.index) return null;
  const service = offered(ids, request, offer)[Math.floor(read.index / READS)];
  return service ? { ...service, id } : null;
}

/** Seats of an offer: one small cabin a flight, of which every third seat is taken. */

const ROWS = 8;

const SECTIONS = ['ABC', 'DEF'];
const FRONT_CENTS = 3_000;
const OTHER_CENTS = 1_200;

interface Seat {
  readonly designator: string;
  readonly cents: number;
  readonly isTaken: boolean;
}

const segmentsOf = (ids: DuffelIds, offer: WorldOffer) =>
  offer.offer.slices.flatMap((slice, at) =>
    slice.segments.map((segment, flight) => ({ at, segment, id: segmentId(ids, offer, `${at}.${flight}`) })),
  );

const seatOf = (segment: string, row: number, letter: string): Seat => ({
  designator: `${row}${letter}`,
  cents: row <= 2 ? FRONT_CENTS : OTHER_CENTS,
  isTaken: diceOf(`${segment} ${row}${letter}`, 'seat') % 3 === 0,
});

/** What each traveller can book of a seat. */
const servicesOfSeat = (
  ids: DuffelIds,
  request: OfferRequestRecord,
  offer: WorldOffer,
  segment: string,
  { designator, cents, isTaken }: Seat,
): OfferedService[] =>
  isTaken
    ? []
    : passengerIds(ids, request).map((passengerId) => ({
        id: ids.hashed('ase', offerIdOf(ids, offer), segment, designator, passengerId),
        type: 'seat',
        designator,
        segmentId: segment,
        weightKg: null,
        quantity: 1,
        most: 1,
        totalCents: cents,
        passengerId,
      }));

/** The seat that a service id names; null for any other. */
const seatById = (ids: DuffelIds, request: OfferRequestRecord, offer: WorldOffer, id: string): OfferedService | null =>
  segmentsOf(ids, offer)
    .flatMap(({ id: segment }) =>
      allSeats(segment).flatMap((seat) => servicesOfSeat(ids, request, offer, segment, seat)),
    )
    .find((service) => service.id === id) ?? null;

const allSeats = (segment: string): Seat[] =>
  Array.from({ length: ROWS }, (_, at) =>
    SECTIONS.flatMap((letters) => [...letters].map((letter) => seatOf(segment, at + 1, letter))),
  ).flat();

/** The seat maps of an offer, one for each flight. */
export const seatMaps = (ids: DuffelIds, request: OfferRequestRecord, offer: WorldOffer): object[] =>
  segmentsOf(ids, offer).map(({ at, id: segment }) => ({
    id: ids.hashed('sea', segment),
    slice_id: ids.hashed('sli', offer.requestNumber, offer.index, at),
    segment_id: segment,
    cabins: [
      {
        deck: 0,
        cabin_class: offer.offer.cabin_class,
        wings: { first_row_index: 3, last_row_index: 5 },
        aisles: SECTIONS.length - 1,
        rows: Array.from({ length: ROWS }, (_, row) => ({
          sections: SECTIONS.map((letters) => ({
            elements: [...letters].map((letter) => {
              const seat = seatOf(segment, row + 1, letter);
              return {
                type: 'seat',
                designator: seat.designator,
                name: '',
                disclosures: [],
                available_services: servicesOfSeat(ids, request, offer, segment, seat).map((service) => ({
                  id: service.id,
                  passenger_id: service.passengerId,
                  total_amount: amountOf(service.totalCents),
                  total_currency: offer.offer.total_currency,
                })),
              };
            }),
          })),
        })),
      },
    ],
  }));
