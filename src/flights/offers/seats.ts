import type { LiveOffer } from '../../airlines/index.ts';
import { type Seat, type SeatMap, seatsFault, seatsToBuy, type WantedSeat } from '../../kernel/domain/seats.ts';
import { travellerType } from '../../kernel/domain/travel-ages.ts';
import { asInteger, formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import type { CabinClass, SeatMapSeat, SeatMap as ShownMap } from '../../wire/flights/index.ts';
import type { OfferToLock } from './bags.ts';

/** @throws Problem `seats_unavailable` */
async function mapsOf(live: LiveOffer): Promise<readonly SeatMap[]> {
  const maps = (await live.seatMaps?.()) ?? [];
  if (maps.length === 0) throw problem('seats_unavailable');
  return maps;
}

/**
 * Adds the chosen seats to a live offer's total.
 * @throws Problem `invalid_request`, `seats_unavailable`, `seat_unavailable` with the missing seats in its detail
 */
export async function withLockedSeats(live: OfferToLock, wanted: readonly WantedSeat[]): Promise<OfferToLock> {
  const { offer } = live;
  const fault = seatsFault(wanted, {
    travellers: live.passengerCount,
    infants: infantsOf(live),
    segments: offer.slices.flatMap(({ segments }) => segments).length,
  });
  if (fault) throw problem('invalid_request', { detail: { issues: [fault] } });
  const { amount, bought, missing } = seatsToBuy(await mapsOf(live), offer.total_currency, wanted);
  if (missing.length > 0) {
    const names = missing.map(({ designator }) => designator).join(', ');
    throw problem('seat_unavailable', {
      message: `${missing.length === 1 ? 'A chosen seat is' : 'Chosen seats are'} taken, or not sold to that traveller: ${names}.`,
      detail: {
        seats: missing.map(({ passenger_index, segment_index, designator }) => ({
          passenger_index,
          segment_index,
          designator,
        })),
      },
    });
  }
  const total = parseUsdc(offer.total_amount_decimal) + amount;
  return {
    ...live,
    offer: { ...offer, total_amount: asInteger(total), total_amount_decimal: formatUsdc(total) },
    lockedSeats: {
      amount: asInteger(amount),
      chosen: bought.map(({ wanted: { passenger_index, segment_index, designator }, sold, disclosures }) => ({
        ...{ passenger_index, segment_index, designator },
        ...{ amount: asInteger(sold.amount), disclosures },
      })),
    },
  };
}

const infantsOf = ({ offer }: LiveOffer): number[] =>
  (offer.passengers ?? []).flatMap(({ age }, at) => (travellerType(age) === 'infant' ? [at] : []));

/** The seats as the wire shows them. @throws Problem `seats_unavailable` */
export async function shownSeats(live: LiveOffer): Promise<ShownMap[]> {
  const segments = live.offer.slices.flatMap((slice) => slice.segments);
  const infants = infantsOf(live);
  const seated = Array.from({ length: live.passengerCount }, (_, at) => at).filter((at) => !infants.includes(at));
  const shown = (element: Seat | string) =>
    typeof element === 'string' ? element : shownSeat(element, seated, live.offer.total_currency);
  return (await mapsOf(live)).flatMap(({ segment_index, cabins }) => {
    const segment = segments[segment_index];
    if (!segment) return [];
    const { origin_iata, destination_iata, flight_number } = segment;
    return {
      ...{ segment_index, origin_iata, destination_iata, flight_number },
      cabins: cabins.map(({ deck, cabin_class, rows }) => ({
        deck,
        cabin_class: cabin_class as CabinClass | null,
        rows: rows.map((sections) => sections.map((elements) => elements.map(shown))),
      })),
    } as ShownMap;
  });
}

/** A seat as the wire shows it, without prices in a currency other than the fare's. */
function shownSeat(
  { designator, name, disclosures, sold }: Seat,
  seated: readonly number[],
  currency: string,
): SeatMapSeat {
  const buyable = sold.filter((one) => one.currency === currency);
  const amounts = [...new Set(buyable.map(({ amount }) => amount))];
  return {
    designator,
    ...(name !== null && { name }),
    ...(disclosures.length > 0 && { disclosures: [...disclosures] }),
    prices: amounts.map((amount) => {
      const indexes = buyable.filter((one) => one.amount === amount).map(({ passenger_index }) => passenger_index);
      const isForAll = seated.every((at) => indexes.includes(at));
      return { total_amount_decimal: formatUsdc(amount), ...(!isForAll && { passenger_indexes: indexes }) };
    }),
  };
}
