import type { Offer, Slice } from '../../../flights/wire.ts';
import { textWidth } from '../text.ts';
import { fromTo } from '../times.ts';
import { type Fare, fareFamilies, money } from './fares.ts';

/** Cells of each column of a search; 0 where the terminal has no room for it. */
export interface Widths {
  readonly arrow: number;
  readonly number: number;
  readonly times: number;
  readonly bar: number;
  readonly duration: number;
  readonly stops: number;
  readonly flights: number;
  readonly brand: number;
  readonly price: number;
  readonly seller: number;
}

/** Cells of a bar that still shows legs and layovers apart, and of a name that can still be told from others. */
const GOOD_BAR = 10;
const LEAST_BRAND = 9;

/** Room first goes to what every line needs; what is left over to the bar, then to duration, flights, names. */
export function widthsFor(offers: readonly Offer[], fares: readonly Fare[], width: number): Widths {
  const widest = (texts: readonly string[], least: number, most: number) =>
    Math.min(most, Math.max(least, ...texts.map(textWidth)));
  const slices = offers.flatMap((offer) => offer.slices);
  const roomy = width >= 100;
  const number = Math.max(...fareNumbers(offers));
  const arrow = offers.some((offer) => offer.slices.length > 1) ? 1 : 0;
  const times = widest(
    slices.map((slice) => fromTo(slice.departing_at, slice.arriving_at)),
    11,
    13,
  );
  const stops = widest(
    slices.map((slice) => stopsText(slice, roomy)),
    6,
    roomy ? 14 : 7,
  );
  const duration = width >= 92 ? 6 : 0;
  const flights = width >= 124 ? widest(slices.map(flightsText), 6, 22) : 0;
  const price = widest(
    fares.map((fare) => priceText(fare, mainCurrency(offers))),
    6,
    12,
  );
  const brands = (most: number) =>
    widest(
      fares.map((fare) => fare.brand ?? '–'),
      4,
      most,
    );
  const seller = widest(
    fares.map((fare) => fare.seller),
    6,
    width >= 124 ? 22 : roomy ? 16 : 10,
  );
  const texts = [arrow, number, times, stops, 4, 3, 3, price, seller, duration, flights].filter(
    (cell) => cell > 0,
  );
  const room = width - texts.reduce((sum, cell) => sum + cell + 1, 0);
  // A name in full is worth more than a longer bar.
  const brand = brands(roomy ? 16 : Math.min(16, Math.max(LEAST_BRAND, room - 1 - GOOD_BAR)));
  return {
    arrow,
    number,
    times,
    stops,
    duration,
    flights,
    price,
    brand,
    seller,
    bar: Math.min(48, Math.max(8, room - brand - 1)),
  };
}

const fareNumbers = (offers: readonly Offer[]): number[] =>
  offers.map((offer, index) => {
    const families = fareFamilies(offer).fares.length;
    return fareNumber(index + 1, families - 1).length;
  });

/** The number to type for a fare on the screen: `3`, or `3.2` for its second family. */
export const fareNumber = (itinerary: number, family: number): string =>
  family === 0 ? `${itinerary}` : `${itinerary}.${family + 1}`;

/** The currency of the heading; a price in another one names it. */
export function mainCurrency(offers: readonly Offer[]): string {
  const currencies = offers.map((offer) => offer.total_currency);
  return currencies.includes('USD') ? 'USD' : (currencies[0] ?? 'USD');
}

export const priceText = (fare: Fare, main: string): string =>
  fare.currency === main
    ? money(fare.price)
    : `${SYMBOLS[fare.currency] ?? `${fare.currency} `}${money(fare.price)}`;

const SYMBOLS: Readonly<Record<string, string>> = { USD: '$', EUR: '€', GBP: '£', JPY: '¥' };

export function stopsText(slice: Slice, roomy: boolean): string {
  const technical = slice.technical_stops > 0 ? (roomy ? ` +${slice.technical_stops} tech` : '*') : '';
  if (slice.stops === 0) return `direct${technical}`;
  const via = slice.segments.slice(1).map((segment) => segment.origin_iata);
  if (roomy) return `${slice.stops} ${via.join(' ')}${technical}`;
  return slice.stops === 1 ? `1 ${via[0] ?? 'stop'}${technical}` : `${slice.stops} stops`;
}

export const flightsText = (slice: Slice): string =>
  slice.segments.map((segment) => segment.flight_number).join(' ');
