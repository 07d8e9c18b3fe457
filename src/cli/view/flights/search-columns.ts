import { durationMinutes, fromTo, hoursAndMinutes, textWidth } from '../../../terminal/index.ts';
import type { Offer, Slice } from '../../../wire/flights/index.ts';
import { money } from '../index.ts';
import { bagsText, brandText, type Fare, type NumberedFare, priceShown } from './fares.ts';

type Journey = 'arrow' | 'times' | 'bar' | 'duration' | 'stops' | 'airline' | 'flights' | 'co2';
type Sold = 'number' | 'brand' | 'bags' | 'price' | 'seller';
type Cells<Column extends string> = Readonly<Record<Column, number>>;

/** Cells of each column of a search; 0 for a column that is left out. */
export type Widths = Cells<Journey | Sold> & {
  /** True for fares under their journey, not beside it. */
  readonly isStacked: boolean;
};

/** The least width with a journey and its fares side by side. */
const BESIDE = 96;
/** The greatest width with fares under their journey. */
export const STACKED = BESIDE - 1;
/** Cells of `Ref` and `Chg`, with a space each. */
const CONDITIONS = 4 + 4;
/** Indents a fare under its journey. */
export const INDENT = '  ';
/** Least cells of a bar to show legs and layovers apart, and to leave room for more columns. */
const GOOD_BAR = 8;
const ROOMY_BAR = 16;

/** Cells of the longest names that columns have room for. */
const MOST_OF_NAME = { airline: 20, brand: 16, seller: 20 };

/** The order in which columns grow, and how far. Names go first: a bar only draws what the times say. */
const GROWTH: readonly (readonly [column: Journey | Sold, most: number, useful: number])[] = [
  ['stops', 14, 0],
  ['seller', MOST_OF_NAME.seller, 0],
  ['brand', MOST_OF_NAME.brand, 0],
  ['airline', MOST_OF_NAME.airline, 0],
  ['bar', ROOMY_BAR, GOOD_BAR],
  ['co2', 12, 12],
  ['flights', 22, 14],
  ['bar', 48, GOOD_BAR],
];

/**
 * Divides a width among the columns. Each first gets enough to distinguish its texts, then a share of the rest. No line
 * is wider than `width`, from 57 cells up.
 * @param needsCo2 true if the list is sorted by CO2
 */
export function widthsFor(
  offers: readonly Offer[],
  fares: readonly NumberedFare[],
  width: number,
  needsCo2: boolean,
): Widths {
  const wanted = wantedBy(offers, fares);
  const { arrow, times, duration, number, bags, price } = wanted;
  const co2 = needsCo2 ? wanted.co2 : 0;
  const journey = { arrow, times, bar: 0, duration, stops: 7, airline: 8, flights: 0, co2 };
  const fare = { number, bags, price, brand: 4, seller: Math.min(7, wanted.seller) };
  if (width >= BESIDE) {
    // Side by side, names are whole: a screen without the room has them whole on two lines.
    const least = { ...journey, ...fare, bar: GOOD_BAR, ...wholeNames(wanted) };
    const beside = shared(width - CONDITIONS, least, wanted);
    if (beside) return { ...beside, isStacked: false };
  }
  const above = shared(width, { ...journey, arrow: 1 }, wanted) ?? journey;
  const below = shared(width - INDENT.length - CONDITIONS, fare, wanted) ?? fare;
  return { ...above, ...below, isStacked: true };
}

const wholeNames = (wanted: Cells<Journey | Sold>) => ({
  airline: Math.min(wanted.airline, MOST_OF_NAME.airline),
  brand: Math.max(9, Math.min(wanted.brand, MOST_OF_NAME.brand)),
  seller: Math.min(wanted.seller, MOST_OF_NAME.seller),
});

/** Divides a line among columns, with a space between them; null if even the least of each has no room. */
function shared<Column extends Journey | Sold>(
  width: number,
  least: Cells<Column>,
  wanted: Cells<Journey | Sold>,
): Cells<Column> | null {
  const cells: Partial<Record<Journey | Sold, number>> = { ...least };
  const taken = Object.values<number>(least).filter((each) => each > 0);
  let left = width + 1 - taken.reduce((sum, each) => sum + each + 1, 0);
  if (left < 0) return null;
  for (const [column, most, useful] of GROWTH) {
    const now = cells[column];
    if (now === undefined) continue;
    const gap = now === 0 ? 1 : 0;
    const more = Math.min(most, wanted[column]) - now;
    const fits = Math.min(more, left - gap);
    if (fits <= 0 || now + fits < Math.min(useful, wanted[column])) continue;
    cells[column] = now + fits;
    left -= fits + gap;
  }
  return { ...least, ...cells };
}

/** The cells that show every text of a column in full. */
function wantedBy(offers: readonly Offer[], fares: readonly NumberedFare[]): Cells<Journey | Sold> {
  const slices = offers.flatMap((offer) => offer.slices);
  const widest = <T>(all: readonly T[], text: (one: T) => string, heading: string) =>
    Math.max(heading.length, ...all.map((one) => textWidth(text(one))));
  const currency = mainCurrency(offers);
  const isSold = fares.some((fare) => sellerText(fare) !== '');
  return {
    arrow: offers.some((offer) => offer.slices.length > 1) ? 1 : 0,
    times: widest(slices, timesOf(offers), 'Local times'),
    bar: Number.POSITIVE_INFINITY,
    duration: widest(slices, durationText, 'Time'),
    stops: widest(slices, (slice) => stopsText(slice), 'Stops  '),
    airline: widest(slices, airlineText, 'Airline '),
    flights: widest(slices, flightsText, 'Flights'),
    co2: widest(offers, co2Text, 'CO2'),
    number: Math.max(...fares.map((fare) => fare.number.length)),
    brand: widest(fares, brandText, 'Fare'),
    bags: widest(fares, bagsText, 'Bags'),
    price: widest(fares, (fare) => priceText(fare, currency), 'Price '),
    seller: isSold ? widest(fares, sellerText, 'Seller ') : 0,
  };
}

/** `06:35–11:05`, with the airport on a side with several: `LHR 06:35–11:05`, and back `06:35–11:05 LHR`. */
export function timesOf(offers: readonly Offer[]): (slice: Slice) => string {
  const several = (direction: number, end: 'origin_iata' | 'destination_iata') =>
    new Set(offers.flatMap((offer) => offer.slices[direction]?.[end] ?? [])).size > 1;
  const shown = [0, 1, 2, 3].map((direction) => [
    several(direction, 'origin_iata'),
    several(direction, 'destination_iata'),
  ]);
  return (slice) => {
    const direction = Math.max(0, ...offers.map((offer) => offer.slices.indexOf(slice)));
    const [before, after] = shown[direction] ?? [];
    return [
      ...(before ? [slice.origin_iata] : []),
      fromTo(slice.departing_at, slice.arriving_at),
      ...(after ? [slice.destination_iata] : []),
    ].join(' ');
  };
}

/** The currency of the heading; a price in another one names it. */
export function mainCurrency(offers: readonly Offer[]): string {
  const currencies = offers.map((offer) => offer.total_currency);
  return currencies.includes('USD') ? 'USD' : (currencies[0] ?? 'USD');
}

export const priceText = (fare: Fare, main: string): string =>
  `${fare.total_currency === main ? '' : (SYMBOLS[fare.total_currency] ?? `${fare.total_currency} `)}${money(priceShown(fare) ?? fare.total_amount_decimal)}`;

const SYMBOLS: Readonly<Record<string, string>> = { USD: '$', EUR: '€', GBP: '£', JPY: '¥' };

/** `direct`, `1 MAD +1 tech`; shorter if that is wider than its column. */
export function stopsText(slice: Slice, cells = Number.POSITIVE_INFINITY): string {
  const count = slice.technical_stops;
  const via = slice.segments.slice(1).map((segment) => segment.origin_iata);
  const stops = slice.stops === 0 ? 'direct' : [slice.stops, ...via].join(' ');
  const full = count > 0 ? `${stops} +${count} tech` : stops;
  if (textWidth(full) <= cells) return full;
  return slice.stops < 2 ? `${stops}${count > 0 ? '*' : ''}` : `${slice.stops} stops`;
}

export const durationText = (slice: Slice): string => hoursAndMinutes(durationMinutes(slice.duration));

/** The airline that sells the seat of each flight under its name: `Castell Air`, or `Castell Air +1`. */
export function airlineText(slice: Slice): string {
  const [first = '–', ...others] = new Set(slice.segments.map((one) => one.marketing_carrier_name));
  return others.length > 0 ? `${first} +${others.length}` : first;
}

/** The CO2 of all travellers and both directions. */
export const co2Text = (offer: Offer): string =>
  offer.total_emissions_kg === null ? '–' : `${Math.round(offer.total_emissions_kg)} kg`;

/** The seller of the fare, unless it is an airline that flies it. */
export const sellerText = (fare: Fare): string => (fare.isAirlines ? '' : `via ${fare.owner_name}`);

export const flightsText = (slice: Slice): string => slice.segments.map((segment) => segment.flight_number).join(' ');
