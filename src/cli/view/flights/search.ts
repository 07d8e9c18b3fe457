import type { Offer, SearchResponse, Slice } from '../../../flights/wire.ts';
import type { Screen, View } from '../../screen/terminal.ts';
import { isSpoken, type Paint } from '../paint.ts';
import { counted, cut, padEnd, padStart, textWidth, wrap } from '../text.ts';
import { dayName, durationMinutes, hoursAndMinutes, localMinutes } from '../times.ts';
import { axisText, barText, type Scale, scaleOf, type Timeline, timelineOf } from './bar.ts';
import { type Fare, fareFamilies, fareOfOffer, yesNo } from './fares.ts';
import {
  fareNumber,
  flightsText,
  mainCurrency,
  priceText,
  stopsText,
  timesOf,
  type Widths,
  widthsFor,
} from './search-columns.ts';
import { spokenItineraries } from './search-spoken.ts';

/** The request, for the line above the offers. */
export interface SearchTitle {
  readonly from: string;
  readonly to: string;
  readonly depart: string;
  readonly return: string | undefined;
  readonly adults: number;
  readonly cabin: string;
  readonly grouped: boolean;
}

/** Offers as lines: an itinerary each, its fare families under it. */
export const searchView = (title: SearchTitle): View<SearchResponse> => ({
  lines: (response, screen) => searchLines(response, title, screen),
  rows: (response) => response.offers.map((offer) => pipedRow(offer)),
});

export function searchLines(response: SearchResponse, title: SearchTitle, screen: Screen): string[] {
  const { paint, width } = screen;
  const incomplete = incompleteText(response, title);
  const notes = [
    ...(hasUnknown(response, title) ? ['– not disclosed by the airline: unknown, not no.'] : []),
    ...(incomplete ? wrap(incomplete, width) : []),
  ];
  return [
    ...listLines(response, title, screen),
    ...(notes.length > 0 ? ['', ...notes.map((note) => paint.dim(note))] : []),
  ];
}

/**
 * Says what a list can't prove (spec/flight-service.md, Rules, 5): that an offer with some property does not exist, when
 * the list was cut or slower sellers had not answered; null where it is the whole answer.
 */
export function incompleteText(response: SearchResponse, title: SearchTitle): string | null {
  const { offers, total_offers: total, status } = response;
  const more = `--limit ${Math.min(total, MOST_OFFERS)}`;
  const said: string[] = [];
  if (total > offers.length) {
    said.push(
      title.grouped
        ? `Showing ${offers.length} of ${total} itineraries; one that is not shown may suit better: ${more}.`
        : `Showing ${offers.length} of ${total} fares; a pricier one with bags or a refund may exist: ${more}, or without --all-fares.`,
    );
  }
  if (status === 'enriching') said.push('Slower sellers were still quoting: cheaper offers may exist.');
  return said.length > 0 ? said.join(' ') : null;
}

/** The most that a search can be asked for (CONTRACT, section 3). */
const MOST_OFFERS = 500;

const faresOf = (offer: Offer, grouped: boolean): { fares: Fare[]; sameForMore: number } =>
  grouped ? fareFamilies(offer) : { fares: [fareOfOffer(offer)], sameForMore: 0 };

const hasUnknown = ({ offers }: SearchResponse, { grouped }: SearchTitle): boolean =>
  offers.some((offer) =>
    faresOf(offer, grouped).fares.some(
      (fare) => fare.bags === null || fare.refundable === null || fare.changeable === null || !fare.brand,
    ),
  );

/** The list alone, without what is said under it. */
export function listLines(response: SearchResponse, title: SearchTitle, screen: Screen): string[] {
  if (response.offers.length === 0) return ['No offers match.'];
  const { above, heading, itineraries } = listParts(response, title, screen);
  return [...above, '', heading, ...itineraries.flat()];
}

/** The list in its parts: what was asked, the heading of the columns, and the lines of each itinerary. */
export function listParts(
  response: SearchResponse,
  title: SearchTitle,
  screen: Screen,
): { above: string[]; heading: string; itineraries: string[][] } {
  const { paint } = screen;
  const { offers } = response;
  if (isSpoken(paint)) {
    return {
      above: titleLines(response, title, screen),
      heading: '',
      itineraries: spokenItineraries(response, title.grouped),
    };
  }
  const rows = offers.map((offer) => ({ offer, ...faresOf(offer, title.grouped) }));
  const widths = widthsFor(
    offers,
    rows.flatMap((row) => row.fares),
    screen.width,
  );
  const drawing: Drawing = {
    widths,
    timelines: timelinesOf(offers),
    times: timesOf(offers),
    currency: mainCurrency(offers),
    paint,
  };
  return {
    above: titleLines(response, title, screen),
    heading: paint.dim(headingLine(drawing)),
    itineraries: rows.map(({ offer, fares, sameForMore }, index) =>
      itineraryLines(offer, fares, sameForMore, index + 1, drawing),
    ),
  };
}

function titleLines(response: SearchResponse, title: SearchTitle, { paint, width }: Screen): string[] {
  const days = title.return ? `${dayName(title.depart)} – ${dayName(title.return)}` : dayName(title.depart);
  const what = title.grouped ? ['itinerary', 'itineraries'] : ['fare', 'fares'];
  const facts = [
    counted(title.adults, 'adult'),
    title.cabin.replaceAll('_', ' '),
    response.total_offers > response.offers.length
      ? `${response.offers.length} of ${counted(response.total_offers, what[0] ?? '', what[1])}`
      : counted(response.offers.length, what[0] ?? '', what[1]),
    `${mainCurrency(response.offers)}, ${title.adults === 1 ? 'all in' : 'all travellers'}`,
  ].join(' · ');
  const route = `${title.from} ${title.return ? '⇄' : '→'} ${title.to}`;
  const line = `${route}  ${days}  ${facts}`;
  return textWidth(line) <= width
    ? [`${paint.bold(route)}  ${days}  ${paint.dim(facts)}`]
    : [`${paint.bold(route)}  ${days}`, paint.dim(facts)];
}

interface Drawing {
  readonly widths: Widths;
  readonly timelines: Timelines;
  readonly times: (slice: Slice) => string;
  readonly currency: string;
  readonly paint: Paint;
}

/** Both directions on the clock of one day, so that one scale and one axis serve them all. */
interface Timelines {
  readonly scale: Scale;
  of(slice: Slice, direction: number): Timeline;
}

function timelinesOf(offers: readonly Offer[]): Timelines {
  const firstDays = [0, 1].map((direction) => {
    const days = offers.flatMap((offer) => offer.slices[direction]?.departing_at.slice(0, 10) ?? []);
    return days.toSorted()[0] ?? '1970-01-01';
  });
  const of = (slice: Slice, direction: number): Timeline => {
    const timeline = timelineOf(slice);
    return { ...timeline, start: timeline.start - localMinutes(`${firstDays[direction]}T00:00:00`) };
  };
  return { of, scale: scaleOf(offers.flatMap((offer) => offer.slices.map(of))) };
}

function headingLine({ widths, timelines }: Drawing): string {
  return columns(
    widths.arrow > 0 && [' '],
    [padEnd('Local', widths.times)],
    [axisText(timelines.scale, widths.bar)],
    widths.duration > 0 && [padEnd('Time', widths.duration)],
    [padEnd('Stops', widths.stops)],
    widths.flights > 0 && [padEnd('Flights', widths.flights)],
    [padStart('#', widths.number)],
    [padEnd('Fare', widths.brand), 'Bags', 'Ref', 'Chg', padStart('Price', widths.price), 'Seller'],
  ).trimEnd();
}

function itineraryLines(
  offer: Offer,
  fares: readonly Fare[],
  sameForMore: number,
  number: number,
  drawing: Drawing,
): string[] {
  const { widths, paint } = drawing;
  const journeys = offer.slices.map((slice, direction) => journeyText(slice, direction, drawing));
  const blank = ' '.repeat(textWidth(journeys[0] ?? ''));
  const fareTexts = fares.map((fare, family) => {
    const label = padStart(fareNumber(number, family), widths.number);
    return columns([
      family === 0 ? paint.bold(label) : paint.dim(label),
      fareText(fare, drawing, family === 0),
    ]);
  });
  if (sameForMore > 0) {
    const said = `+ ${sameForMore} the same, dearer`;
    fareTexts.push(columns([padStart('', widths.number), paint.dim(said)]));
  }
  return Array.from({ length: Math.max(journeys.length, fareTexts.length) }, (_none, index) =>
    columns([journeys[index] ?? blank, fareTexts[index] ?? '']).trimEnd(),
  );
}

function journeyText(slice: Slice, direction: number, { widths, timelines, times, paint }: Drawing): string {
  return columns(
    widths.arrow > 0 && [paint.dim(direction === 0 ? '→' : '←')],
    [padEnd(times(slice), widths.times)],
    [barText(timelines.of(slice, direction), timelines.scale, widths.bar, paint)],
    widths.duration > 0 && [padEnd(hoursAndMinutes(durationMinutes(slice.duration)), widths.duration)],
    [padEnd(cut(stopsText(slice, widths.stops > 7), widths.stops), widths.stops)],
    widths.flights > 0 && [padEnd(cut(flightsText(slice), widths.flights), widths.flights)],
  );
}

function fareText(fare: Fare, { widths, currency, paint }: Drawing, isFirst: boolean): string {
  const condition = (value: boolean | null) => {
    const said = padEnd(yesNo(value), 3);
    return value === true ? paint.good(said) : paint.dim(said);
  };
  const price = padStart(priceText(fare, currency), widths.price);
  return columns([
    padEnd(cut(fare.brand ?? '–', widths.brand), widths.brand),
    padStart(fare.bags === null ? '–' : String(fare.bags), 4),
    condition(fare.refundable),
    condition(fare.changeable),
    isFirst ? paint.bold(price) : price,
    paint.dim(cut(fare.seller, widths.seller)),
  ]);
}

const columns = (...groups: (readonly string[] | false)[]): string =>
  groups.flatMap((group) => (group ? group : [])).join(' ');

const pipedRow = (offer: Offer): (string | number | null)[] => {
  const fare = fareOfOffer(offer);
  return [
    offer.offer_id,
    offer.departing_at,
    offer.arriving_at,
    offer.duration,
    offer.stops,
    fare.brand,
    fare.bags,
    yesNo(fare.refundable),
    yesNo(fare.changeable),
    fare.price,
    fare.currency,
    fare.seller,
  ];
};

/** The offers that `1` and `1.2` on the screen stand for, so that nobody needs to copy an id. */
export function numberedOffers(response: SearchResponse, grouped: boolean): Record<string, string> {
  const numbered: Record<string, string> = {};
  for (const [index, offer] of response.offers.entries()) {
    for (const [family, fare] of faresOf(offer, grouped).fares.entries()) {
      numbered[fareNumber(index + 1, family)] = fare.offerId;
    }
  }
  return numbered;
}
