import { dayName, durationMinutes, hoursAndMinutes } from '../../../terminal/times.ts';
import type { Slice } from '../../../wire/flights/index.ts';
import { type Fare, yesNo } from './fares.ts';
import type { ListRow } from './list-rows.ts';
import { airlineText, flightsText, stopsText } from './search-columns.ts';

/** The lines of an itinerary for a screen reader: each fact with its name, in the order of the list. */
export const spokenItineraries = (rows: readonly ListRow[]): string[][] =>
  rows.map(({ offer, fares, sameForMore }, index) => [
    `Itinerary ${index + 1}`,
    ...offer.slices.map((slice, direction) => journeyLine(slice, direction)),
    ...fares.map((fare) => fareLine(fare, fare.number)),
    ...(sameForMore > 0 ? [`${sameForMore} more fares like these, at higher prices`] : []),
  ]);

/** `Out: LIS 06:30 to BER 10:50, Tue 22 Dec; 3 h 20 min; direct; TP 530` */
function journeyLine(slice: Slice, direction: number): string {
  const day = (at: string) => at.slice(0, 10);
  const time = (at: string) => at.slice(11, 16);
  const arrival =
    day(slice.arriving_at) === day(slice.departing_at)
      ? time(slice.arriving_at)
      : `${time(slice.arriving_at)} on ${dayName(day(slice.arriving_at))}`;
  return [
    `${direction === 0 ? 'Out' : 'Back'}: ${dayName(day(slice.departing_at))}, ${slice.origin_iata} ${time(slice.departing_at)} to ${slice.destination_iata} ${arrival}`,
    `time: ${hoursAndMinutes(durationMinutes(slice.duration))}`,
    `stops: ${stopsText(slice, 40)}`,
    `airline: ${airlineText(slice)}`,
    `flights: ${flightsText(slice)}`,
  ].join('; ');
}

const known = (text: string): string => (text === '–' ? 'not given' : text);

const fareLine = (fare: Fare, number: string): string =>
  [
    `Fare ${number}: ${fare.brand ?? 'no name'}`,
    `price: ${fare.price} ${fare.currency}`,
    `checked bags: ${fare.bags ?? 'unknown'}`,
    `refund: ${known(yesNo(fare.refundable))}`,
    `change: ${known(yesNo(fare.changeable))}`,
    `seller: ${fare.seller}`,
  ].join('; ');
