import type { Bags } from '../../../kernel/domain/bags.ts';
import {
  counted,
  cut,
  dayName,
  durationMinutes,
  isSpoken,
  localMinutes,
  type Paint,
  padEnd,
  padStart,
  type Screen,
  textWidth,
  type View,
  wrap,
} from '../../../terminal/index.ts';
import type { Offer, SearchResponse, Slice } from '../../../wire/flights/index.ts';
import {
  bagsText,
  brandText,
  eachText,
  type Fare,
  fareOfOffer,
  isLowcost,
  type ListRow,
  rowsOf,
  yesNo,
} from './fares.ts';
import { hiddenLines } from './filters.ts';
import { PASSPORTS } from './offer.ts';
import {
  airlineText,
  co2Text,
  durationText,
  flightsText,
  INDENT,
  mainCurrency,
  priceText,
  sellerText,
  stopsText,
  timesOf,
  type Widths,
  widthsFor,
} from './search-columns.ts';

export interface SearchTitle {
  readonly from: string;
  readonly to: string;
  readonly depart: string;
  readonly return: string | undefined;
  /** Further flights of a journey of several cities. */
  readonly onward?: readonly {
    readonly origin: string;
    readonly destination: string;
    readonly departure_date: string;
  }[];
  readonly adults: number;
  readonly childAges?: readonly number[] | undefined;
  readonly cabin: string;
  readonly grouped: boolean;
  readonly sort?: string | null | undefined;
  readonly bags?: Bags | undefined;
}

/** Shows offers as lines: each itinerary with its fare families under it. */
export const searchView = (title: SearchTitle): View<SearchResponse> => ({
  lines: (response, screen) => searchLines(response, title, screen),
  rows: (response) => response.offers.map((offer) => pipedRow(offer)),
});

export function searchLines(response: SearchResponse, title: SearchTitle, screen: Screen): string[] {
  const { paint, width } = screen;
  const hidden = hiddenLines(response.hidden, screen);
  if (response.offers.length === 0) return [NOTHING_FOUND, ...hidden.map(paint.dim)];
  const parts = listParts(response, title, screen);
  const incomplete = incompleteText(response, title);
  const notes = [
    ...(parts.hasUnknown ? ['– not disclosed by the airline'] : []),
    ...(parts.fares.some(isUnpriced)
      ? wrap('Bags –: their price is not told, so Price is the fare alone.', width)
      : []),
    ...wrap(passportNote(parts.fares, paint), width),
    ...(incomplete ? wrap(incomplete, width) : []),
    ...wrap(leftOutText(response), width),
    ...hidden,
  ];
  return [...joined(parts), ...(notes.length > 0 ? ['', ...notes.map((note) => paint.dim(note))] : [])];
}

/** Explains the mark of fares that need passports, before anything is paid for them. */
function passportNote(fares: readonly Fare[], { usdc }: Paint): string {
  const marked = fares.filter(({ needsPassports }) => needsPassports);
  if (marked.length === 0) return '';
  const [kind, menu] = marked.some(isLowcost) ? ['low-cost: ', `; its fare menu costs ${usdc('0.10')}`] : ['', ''];
  return `† ${kind}needs ${PASSPORTS}${menu}`;
}

/**
 * Says why a missing offer may still exist (spec/flight-service.md, Rules, 5): the list was cut, fares in other
 * currencies were left out, or slower sellers had not answered. Null if the answer is whole.
 */
export function incompleteText(response: SearchResponse, title: SearchTitle): string | null {
  const { offers, total_offers: total, status, other_currency_offers: others = 0 } = response;
  const more = `--limit ${Math.min(total, MOST_OFFERS)}`;
  const said: string[] = [];
  const left = total - offers.length;
  if (left > 0) {
    said.push(
      title.grouped
        ? `${counted(left, 'more itinerary', 'more itineraries')}: ${more}.`
        : `${counted(left, 'more fare')}, perhaps with bags or a refund: ${more}, or leave out --all-fares.`,
    );
  }
  if (others > 0) {
    const fares = counted(others, 'fare in another currency', 'fares in other currencies');
    said.push(`Without ${fares}: --max-price is in US dollars.`);
  }
  if (status === 'enriching') said.push('Some sellers have not answered yet; prices may drop.');
  return said.length > 0 ? said.join(' ') : null;
}

/** Says which sellers were left out of the search, and why. */
export function leftOutText({ sellers_left_out: [out] = [] }: SearchResponse): string {
  if (!out) return '';
  const what = out.because === 'child_ages' ? 'adults alone' : 'one way, or there and back';
  return `Low-cost carriers are left out: they are booked here for ${what}.`;
}

/** The highest limit of a search (CONTRACT, section 3). */
const MOST_OFFERS = 500;

const isUnknown = ({ fare_brand_name, checked_bags_included, refundable, changeable }: Fare): boolean =>
  !fare_brand_name || checked_bags_included === null || refundable === null || changeable === null;

const isUnpriced = ({ with_bags }: Fare): boolean => with_bags?.way === 'unknown';

const NOTHING_FOUND = 'No offers match.';

export const listLines = (response: SearchResponse, title: SearchTitle, screen: Screen): string[] =>
  response.offers.length === 0 ? [NOTHING_FOUND] : joined(listParts(response, title, screen));

const joined = ({ above, headings, itineraries }: ReturnType<typeof listParts>): string[] => [
  ...above,
  '',
  ...headings,
  ...itineraries.flat(),
];

/** The parts of the list: the request, the headings, each itinerary, and whether a dash marks an undisclosed fact. */
export function listParts(
  response: SearchResponse,
  title: SearchTitle,
  screen: Screen,
  rows: readonly ListRow[] = rowsOf(response.offers, title.grouped),
) {
  const { paint } = screen;
  const above = titleLines(response, title, screen);
  if (isSpoken(paint))
    return {
      above,
      headings: [],
      itineraries: spokenItineraries(rows, title.onward !== undefined),
      fares: rows.flatMap((row) => row.fares),
      hasUnknown: false,
    };
  const offers = rows.map(({ offer }) => offer);
  const fares = rows.flatMap((row) => row.fares);
  const widths = widthsFor(offers, fares, screen.width, title.sort === 'emissions');
  const drawing = drawingOf(offers, widths, paint, title.onward !== undefined);
  return {
    above,
    headings: headingLines(drawing).map(paint.dim),
    itineraries: rows.map((row) => itineraryLines(row, drawing)),
    fares,
    hasUnknown: fares.some(isUnknown) || (widths.co2 > 0 && offers.some((offer) => offer.total_emissions_kg === null)),
  };
}

function titleLines(response: SearchResponse, title: SearchTitle, screen: Screen): string[] {
  const { total_offers: total, offers } = response;
  const count = (many: number) => (title.grouped ? counted(many, 'itinerary', 'itineraries') : counted(many, 'fare'));
  const facts = [
    ...travellersText(title),
    title.cabin.replaceAll('_', ' '),
    total > offers.length ? `${offers.length} of ${count(total)}` : count(offers.length),
    `${mainCurrency(offers)}, ${title.adults === 1 && !title.childAges ? 'all in' : 'all travellers'}`,
    ...(title.bags ? [`with ${eachText(title.bags)}`] : []),
  ];
  return requestLines(title, facts, screen);
}

/** `2 adults`, `children of 8, 1` */
export const travellersText = ({ adults, childAges = [] }: Pick<SearchTitle, 'adults' | 'childAges'>): string[] => [
  counted(adults, 'adult'),
  ...(childAges.length > 0 ? [`${childAges.length === 1 ? 'a child' : 'children'} of ${childAges.join(', ')}`] : []),
];

/** The request above a list: the journey and facts about it, which have a line of their own if there is no room. */
export function requestLines(
  { from, to, depart, return: back, onward }: Pick<SearchTitle, 'from' | 'to' | 'depart' | 'return' | 'onward'>,
  facts: readonly string[],
  { paint, width }: Screen,
): string[] {
  if (onward) {
    const all = [{ origin: from, destination: to, departure_date: depart }, ...onward];
    const flights = all.map(
      ({ origin, destination, departure_date: day }, at) =>
        `${paint.bold(`${at + 1}  ${origin} → ${destination}`)}  ${dayName(day)}`,
    );
    return [...flights, ...wrap(facts.join(' · '), width).map(paint.dim)];
  }
  const route = `${from} ${back ? '⇄' : '→'} ${to}`;
  const days = back ? `${dayName(depart)} – ${dayName(back)}` : dayName(depart);
  const said = facts.join(' · ');
  return textWidth(`${route}  ${days}  ${said}`) <= width
    ? [`${paint.bold(route)}  ${days}  ${paint.dim(said)}`]
    : [`${paint.bold(route)}  ${days}`, ...wrap(said, width).map(paint.dim)];
}

type Drawing = ReturnType<typeof drawingOf>;

/** @param isNumbered true to mark directions by their numbers, instead of arrows there and back */
const drawingOf = (offers: readonly Offer[], widths: Widths, paint: Paint, isNumbered: boolean) => ({
  markOf: (direction: number) => (isNumbered ? String(direction + 1) : direction === 0 ? '→' : '←'),
  widths,
  timelines: timelinesOf(offers),
  times: timesOf(offers),
  currency: mainCurrency(offers),
  paint,
});

/** Moves all directions to one day, so that they share one scale and one axis. */
function timelinesOf(offers: readonly Offer[]) {
  const firstDays = [0, 1, 2, 3].map((direction) => {
    const days = offers.flatMap((offer) => offer.slices[direction]?.departing_at.slice(0, 10) ?? []);
    return days.toSorted()[0] ?? '1970-01-01';
  });
  const of = (slice: Slice, direction: number): Timeline => {
    const timeline = timelineOf(slice);
    return { ...timeline, start: timeline.start - localMinutes(`${firstDays[direction]}T00:00:00`) };
  };
  return { of, scale: scaleOf(offers.flatMap((offer) => offer.slices.map(of))) };
}

function headingLines({ widths, timelines }: Drawing): string[] {
  const journey = columns(
    widths.arrow > 0 && ' ',
    padEnd('Local times', widths.times),
    widths.bar > 0 && axisText(timelines.scale, widths.bar),
    padEnd('Time', widths.duration),
    padEnd('Stops', widths.stops),
    padEnd('Airline', widths.airline),
    widths.flights > 0 && padEnd('Flights', widths.flights),
    widths.co2 > 0 && padStart('CO2', widths.co2),
  );
  const fare = columns(
    padStart('#', widths.number),
    padEnd('Fare', widths.brand),
    padStart('Bags', widths.bags),
    ...['Ref', 'Chg'],
    padStart('Price', widths.price),
    widths.seller > 0 && 'Seller',
  );
  return placed([journey], [fare], widths);
}

/** Fares beside their journey or, where there is no room for that, under it. */
function placed(journeys: readonly string[], fares: readonly string[], { isStacked }: Widths): string[] {
  if (isStacked) return [...journeys, ...fares.map((fare) => `${INDENT}${fare}`)].map((line) => line.trimEnd());
  const blank = ' '.repeat(textWidth(journeys[0] ?? ''));
  return Array.from({ length: Math.max(journeys.length, fares.length) }, (_none, index) =>
    columns(journeys[index] ?? blank, fares[index] ?? '').trimEnd(),
  );
}

function itineraryLines({ offer, fares, sameForMore }: ListRow, drawing: Drawing): string[] {
  const { widths, paint } = drawing;
  const journeys = offer.slices.map((slice, direction) => {
    const co2 = direction === 0 ? co2Text(offer) : '';
    return columns(journeyText(slice, direction, drawing), widths.co2 > 0 && paint.dim(padStart(co2, widths.co2)));
  });
  const fareTexts = fares.map((fare, family) => {
    const number = padStart(fare.number, widths.number);
    return columns(family === 0 ? paint.bold(number) : paint.dim(number), fareText(fare, drawing, family === 0));
  });
  if (sameForMore > 0) {
    const said = sameForMore === 1 ? '1 more seller, higher price' : `${sameForMore} more sellers, higher prices`;
    fareTexts.push(columns(padStart('', widths.number), paint.dim(said)));
  }
  return placed(journeys, fareTexts, widths);
}

function journeyText(slice: Slice, direction: number, { markOf, widths, timelines, times, paint }: Drawing): string {
  const { bar, stops, flights } = widths;
  return columns(
    widths.arrow > 0 && paint.dim(markOf(direction)),
    padEnd(times(slice), widths.times),
    bar > 0 && barText(timelines.of(slice, direction), timelines.scale, bar, paint),
    padEnd(durationText(slice), widths.duration),
    padEnd(cut(stopsText(slice, stops), stops), stops),
    padEnd(cut(airlineText(slice), widths.airline), widths.airline),
    flights > 0 && padEnd(cut(flightsText(slice), flights), flights),
  );
}

function fareText(fare: Fare, { widths, currency, paint }: Drawing, isFirst: boolean): string {
  const condition = (value: boolean | null) => {
    const said = padEnd(yesNo(value), 3);
    return value === true ? paint.good(said) : paint.dim(said);
  };
  const price = padStart(priceText(fare, currency), widths.price);
  return columns(
    padEnd(cut(brandText(fare), widths.brand), widths.brand),
    padStart(bagsText(fare), widths.bags),
    condition(fare.refundable),
    condition(fare.changeable),
    isFirst ? paint.bold(price) : price,
    widths.seller > 0 && paint.dim(cut(sellerText(fare), widths.seller)),
  );
}

/** Joins columns with a space; `false` leaves a column out. */
const columns = (...cells: readonly (string | false)[]): string => cells.filter((cell) => cell !== false).join(' ');

const pipedRow = (offer: Offer): (string | number | null)[] => {
  const fare = fareOfOffer(offer);
  return [
    offer.offer_id,
    offer.departing_at,
    offer.arriving_at,
    offer.duration,
    offer.stops,
    fare.fare_brand_name,
    fare.checked_bags_included,
    yesNo(fare.refundable),
    yesNo(fare.changeable),
    fare.total_amount_decimal,
    fare.total_currency,
    fare.owner_name,
    ...(offer.with_bags ? [offer.with_bags.total_amount_decimal, offer.with_bags.way] : []),
  ];
};

/** The lines of an itinerary for a screen reader: each fact with its name, in the order of the list. */
const spokenItineraries = (rows: readonly ListRow[], isNumbered: boolean): string[][] =>
  rows.map(({ offer, fares, sameForMore }, index) => [
    `Itinerary ${index + 1}`,
    ...offer.slices.map((slice, direction) =>
      journeyLine(slice, isNumbered ? `Flight ${direction + 1}` : direction === 0 ? 'Out' : 'Back'),
    ),
    ...fares.map((fare) => fareLine(fare, fare.number)),
    ...(sameForMore > 0 ? [`${sameForMore} more fares like these, at higher prices`] : []),
  ]);

/** `Out: Tue 22 Dec 2026, LIS 06:30 to BER 10:50; time: 3h20; stops: direct; airline: TAP; flights: TP 530` */
function journeyLine(slice: Slice, name: string): string {
  const day = (at: string) => at.slice(0, 10);
  const time = (at: string) => at.slice(11, 16);
  const arrival =
    day(slice.arriving_at) === day(slice.departing_at)
      ? time(slice.arriving_at)
      : `${time(slice.arriving_at)} on ${dayName(day(slice.arriving_at))}`;
  return [
    `${name}: ${dayName(day(slice.departing_at))}, ${slice.origin_iata} ${time(slice.departing_at)} to ${slice.destination_iata} ${arrival}`,
    `time: ${durationText(slice)}`,
    `stops: ${stopsText(slice, 40)}`,
    `airline: ${airlineText(slice)}`,
    `flights: ${flightsText(slice)}`,
  ].join('; ');
}

const known = (text: string): string => (text === '–' ? 'not given' : text);

const fareLine = (fare: Fare, number: string): string =>
  [
    `Fare ${number}: ${fare.fare_brand_name ?? (isLowcost(fare) ? 'low-cost' : 'no name')}`,
    ...(fare.needsPassports ? ['needs passports'] : []),
    `price: ${fare.total_amount_decimal} ${fare.total_currency}`,
    `checked bags: ${fare.checked_bags_included ?? 'unknown'}`,
    ...(fare.with_bags ? [`with bags: ${fare.with_bags.total_amount_decimal ?? 'unknown'}`] : []),
    `refund: ${known(yesNo(fare.refundable))}`,
    `change: ${known(yesNo(fare.changeable))}`,
    `seller: ${fare.owner_name}`,
  ].join('; ');

/**
 * A direction on a time scale: legs and layovers in minutes, by the clock of the origin. Only durations and differences
 * at one airport are used, so that no time zone has to be known.
 */
type Timeline = ReturnType<typeof timelineOf>;

export function timelineOf(slice: Slice) {
  const parts: { kind: 'leg' | 'layover'; minutes: number }[] = [];
  for (const [index, segment] of slice.segments.entries()) {
    const before = slice.segments[index - 1];
    if (before) {
      const wait = localMinutes(segment.departing_at) - localMinutes(before.arriving_at);
      parts.push({ kind: 'layover', minutes: Math.max(0, wait) });
    }
    parts.push({ kind: 'leg', minutes: durationMinutes(segment.duration) });
  }
  return { start: localMinutes(slice.departing_at), parts };
}

type Scale = ReturnType<typeof scaleOf>;

const endOf = (timeline: Timeline): number => timeline.parts.reduce((at, part) => at + part.minutes, timeline.start);

/** The whole hours around all timelines. */
export function scaleOf(timelines: readonly Timeline[]): { readonly from: number; readonly to: number } {
  const from = Math.floor(Math.min(...timelines.map((timeline) => timeline.start)) / 60) * 60;
  const to = Math.ceil(Math.max(...timelines.map(endOf)) / 60) * 60;
  return { from, to: Math.max(to, from + 60) };
}

function spansOf(timeline: Timeline): { kind: 'leg' | 'layover'; from: number; to: number }[] {
  let at = timeline.start;
  return timeline.parts.map(({ kind, minutes }) => {
    const from = at;
    at += minutes;
    return { kind, from, to: at };
  });
}

const LEG = '━';
const LAYOVER = '╌';

/** A bar of exactly `cells` cells. Every leg and every layover shows, however short. */
export function barText(timeline: Timeline, scale: Scale, cells: number, paint: Paint): string {
  const kinds: ('leg' | 'layover' | null)[] = Array.from({ length: cells }, () => null);
  const cellAt = (minute: number) =>
    Math.min(cells - 1, Math.max(0, Math.floor(((minute - scale.from) / (scale.to - scale.from)) * cells)));
  const spans = spansOf(timeline);
  for (const { kind, from, to } of spans) {
    if (kind !== 'leg') continue;
    for (let cell = cellAt(from); cell <= cellAt(Math.max(from, to - 1)); cell++) kinds[cell] = 'leg';
  }
  for (const { kind, from, to } of spans) {
    if (kind !== 'layover') continue;
    for (let cell = cellAt(from); cell <= cellAt(to); cell++) kinds[cell] ??= 'layover';
    kinds[cellAt((from + to) / 2)] = 'layover';
  }
  return kinds
    .map((kind) => (kind === 'leg' ? paint.accent(LEG) : kind === 'layover' ? paint.dim(LAYOVER) : ' '))
    .join('');
}

/** Hours of the origin's day over the bars: as many as fit without touching. */
export function axisText(scale: Scale, cells: number): string {
  const hours = (scale.to - scale.from) / 60;
  const step = [1, 2, 3, 6, 12, 24].find((each) => (cells / hours) * each >= 4) ?? 24;
  const text = Array.from({ length: cells }, () => ' ');
  for (let hour = Math.ceil(scale.from / 60 / step) * step; hour * 60 < scale.to; hour += step) {
    const cell = Math.floor(((hour * 60 - scale.from) / (scale.to - scale.from)) * cells);
    const said = String(((hour % 24) + 24) % 24).padStart(2, '0');
    if (cell + 2 <= cells && text[cell - 1] !== said[1]) text.splice(cell, 2, ...said);
  }
  return text.join('').slice(0, cells);
}

/** The offers by their numbers on the screen, `1` or `1.2`, which are typed in place of ids. */
export const numberedOffers = (response: SearchResponse, grouped: boolean): Record<string, string> =>
  Object.fromEntries(
    rowsOf(response.offers, grouped).flatMap(({ fares }) => fares.map(({ number, offer_id }) => [number, offer_id])),
  );
