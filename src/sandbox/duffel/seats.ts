import type { OfferedService, OfferRequestRecord } from './books.ts';
import { type DuffelIds, diceOf } from './ids.ts';
import { amountOf } from './money.ts';
import { offerIdOf, passengerIds, segmentId } from './names.ts';
import type { WorldOffer } from './world.ts';

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
export const seatById = (
  ids: DuffelIds,
  request: OfferRequestRecord,
  offer: WorldOffer,
  id: string,
): OfferedService | null =>
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
