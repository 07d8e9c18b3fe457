import { DAY_MS, instant, localDate } from '../../../kernel/clock.ts';
import { namedAirports } from '../../../kernel/domain/airports.ts';
import { byPrice } from '../../../kernel/domain/offers.ts';
import { problem } from '../../../kernel/problems.ts';
import {
  canDrawLive,
  counted,
  dayName,
  harmlessDocument,
  isSpoken,
  openLiveSign,
  padEnd,
  padStart,
  type Screen,
  type View,
  wrap,
} from '../../../terminal/index.ts';
import type { Offer } from '../../../wire/flights/index.ts';
import { parseDate } from '../../searching/index.ts';
import { shortOf } from '../../session/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { requestLines, suitingText, travellersText } from '../../view/flights/index.ts';
import { money, nextLines, offerCommand, quoted } from '../../view/index.ts';
import { filtersOf, openSearchMemory, type SearchOptions, searchRequestOf } from './index.ts';
import { aboutText, type Results, type RisenPrice, searchMany } from './many.ts';
import type { DayPrice, DaysDocument } from './result.ts';
import type * as spec from './spec.ts';

/** The result of a day's search; without an offer, nothing is sold that day. */
type DayAnswer = { readonly offer: Offer | null; readonly isComplete: boolean };

/**
 * `search --flex <n>` and `search --cheapest-day`: the cheapest price of each day, in many paid searches. Shows the
 * results however it ends.
 */
export const searchByDay: Run<typeof spec.search> = async (context, options) => {
  const { clock, session, terminal } = context;
  refuseOthers(options);
  const asked = searchRequestOf({ ...options, limit: 1, wait: false });
  const journey: JourneyDays = { depart_date: options.depart, return_date: options.return ?? null };
  const today = todayAt(options.from, clock.now());
  const grid = options.flex === undefined ? monthDays(journey, today) : flexDays(journey, options.flex, today);
  const requestOf = ({ depart_date, return_date }: JourneyDays) => ({
    ...asked,
    depart_date,
    ...(return_date !== null && { return_date }),
  });
  const suiting = suitingText(filtersOf(options));
  const view = pricesView({
    adults: options.adults ?? 1,
    childAges: options.childAges,
    cabin: options.cabin ?? 'economy',
    span: spanOf(options, journey),
    isGrid: options.flex !== undefined,
  });
  const documentOf = (results: Results<JourneyDays, DayAnswer>) => {
    const days = grid.journeys
      .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      .map((one): DayPrice => dayPrice(one, results.get(one)));
    return {
      origin_iata: options.from,
      destination_iata: options.to,
      ...journey,
      departures: grid.departures,
      returns: grid.returns,
      prices: pricesOf(grid, days),
      days,
      cheapest: cheapestDay(days, journey),
    };
  };
  const shown = showing(context, view);
  const ended = await searchMany<JourneyDays, DayAnswer>(context, {
    noun: 'day',
    cells: grid.journeys,
    requestOf,
    // Its price is asked first, which refuses wrong days.
    priced: requestOf(journey),
    waits: options.wait !== false,
    memory: openSearchMemory(context, 'recent-prices.json', (found, nowMs) =>
      found.offer === null || Date.parse(found.offer.expires_at) > nowMs ? found : null,
    ),
    keep: (first, landed, isComplete) => ({ offer: cheapestOf([...first.offers, ...landed]), isComplete }),
    isComplete: ({ isComplete }) => isComplete,
    plan: {
      step: `Show the cheapest price of each day${suiting === '' ? '' : `, of offers${suiting}`}.`,
      facts: { request: requestOf(journey) },
    },
    progress: (results, risen) =>
      shown.draw({ ...documentOf(results), searches: 0, paid_amount: '0.00', payments: [] }, risen),
    stop: shown.stop,
  });
  if (ended === null) return 0;
  const document: DaysDocument = { ...documentOf(ended.results), ...ended.paid };
  const { cheapest, days } = document;
  terminal.result(document, view);
  const left = days.filter((day) => day.status === 'not_searched' || day.status === 'failed').length;
  if (context.signal.aborted || left > 0) {
    const missing = `${ended.why}${left} of ${counted(days.length, 'day')} not known. The same command within 10 minutes pays only for those.`;
    for (const line of wrap(missing, terminal.asideScreen.width)) terminal.note(line);
  }
  if (cheapest) {
    const route = `${options.from}-${options.to}`;
    session.recentOffers.rememberOne(cheapest.offer_id, { route, departureDate: cheapest.depart_date });
  }
  terminal.aside([
    '',
    ...(ended.paidText === null ? [] : [ended.paidText]),
    ...(cheapest
      ? nextLines(
          offerCommand(cheapest.offer_id, shortOf(context, cheapest.offer_id)),
          `farelock search ${quoted(options.from)} ${quoted(options.to)} --depart ${cheapest.depart_date}${cheapest.return_date === null ? '' : ` --return ${cheapest.return_date}`}`,
        )
      : ['Next: try other days, or fewer filters']),
  ]);
  return ended.exit;
};

/** Today by the calendar of the origin, by which days are sold; for an unknown airport, by that of this machine. */
function todayAt(origin: string, nowMs: number): string {
  const airport = namedAirports().find(({ iata }) => iata === origin);
  return airport ? localDate(nowMs, airport.timeZone) : parseDate('today', nowMs);
}

/** Refuses options that prices by day cannot take, instead of ignoring them. */
function refuseOthers({ flex, sort, limit, allFares, ndjson, onward, cheapestDay: month }: SearchOptions): void {
  const wrong = [
    ...(onward === undefined ? [] : ['--onward']),
    ...(flex !== undefined && month ? ['--flex'] : []),
    ...(sort !== undefined && sort !== 'price' ? ['--sort'] : []),
    ...(limit === undefined ? [] : ['--limit']),
    ...(allFares ? ['--all-fares'] : []),
    ...(ndjson ? ['--ndjson'] : []),
  ];
  if (wrong.length === 0) return;
  throw problem('usage', {
    message: `${month ? '--cheapest-day' : '--flex'} shows one price a day, and cannot be combined with ${wrong.join(', ')}.`,
    fix: 'Leave one of them out.',
  });
}

function spanOf({ flex }: SearchOptions, { depart_date, return_date }: JourneyDays): string {
  if (flex !== undefined) return `${counted(flex, 'day')} either side`;
  const month = new Date(`${depart_date}T00:00:00Z`).toLocaleDateString('en-GB', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
  return return_date === null ? month : `${month}, ${counted(daysFrom(depart_date, return_date), 'night')}`;
}

const WORTH_SAYING_MS = 2_000;

/** Redraws the prices in place on a terminal as they come in; elsewhere gives a sign of life. */
function showing(context: CommandContext, view: View<DaysDocument>) {
  const { terminal } = context;
  let sign: ReturnType<typeof openLiveSign> | null = null;
  let saidAt = '';
  return {
    draw(document: DaysDocument, risen: RisenPrice | null) {
      const left = document.days.filter((day) => day.status === 'not_searched').length;
      const known = `${document.days.length - left} of ${counted(document.days.length, 'day')}`;
      const waits =
        risen && `a search costs ${context.terminal.usdc(risen.to)} now, continuing in ${aboutText(risen.againMs)}`;
      const said = waits === null ? known : `${known} · ${waits}`;
      if (canDrawLive(context)) sign ??= openLiveSign(context);
      if (sign) sign.show(view.lines(harmlessDocument(document), terminal.asideScreen), said);
      // One line for each wait, not for each waiting search.
      else if (risen && risen.againMs > WORTH_SAYING_MS && known !== saidAt) {
        saidAt = known;
        terminal.phase(said);
      }
    },
    stop: () => sign?.stop(),
  };
}

/** Departures across, returns down (null for one row), as YYYY-MM-DD: calendar dates, which no time zone moves. */
type DayGrid = Pick<DaysDocument, 'departures' | 'returns'> & { readonly journeys: readonly JourneyDays[] };

/** The last day that can be searched, counted from today (CONTRACT, section 3). */
const FARTHEST_DAYS = 360;

const dayNumber = (date: string): number => Date.parse(`${date}T00:00:00Z`) / DAY_MS;

const addDays = (date: string, days: number): string => instant((dayNumber(date) + days) * DAY_MS).slice(0, 10);

const daysFrom = (from: string, to: string): number => dayNumber(to) - dayNumber(from);

const isSold = (day: string, today: string): boolean => day >= today && daysFrom(today, day) <= FARTHEST_DAYS;

/** Up to `flex` days either side of both dates, without days that are not sold and returns before the departure. */
function flexDays(asked: JourneyDays, flex: number, today: string): DayGrid {
  const around = (date: string) =>
    Array.from({ length: 2 * flex + 1 }, (_none, index) => addDays(date, index - flex)).filter((day) =>
      isSold(day, today),
    );
  const departures = around(asked.depart_date);
  const returns = asked.return_date === null ? null : around(asked.return_date);
  const journeys = departures.flatMap((depart_date) =>
    (returns ?? [null])
      .filter((return_date) => return_date === null || return_date >= depart_date)
      .map((return_date) => ({ depart_date, return_date })),
  );
  return { departures, returns, journeys: nearestFirst(journeys, asked) };
}

/** Every day of the month of the departure, each with the same length of stay. */
function monthDays(asked: JourneyDays, today: string): DayGrid {
  const month = asked.depart_date.slice(0, 7);
  const stay = asked.return_date === null ? null : daysFrom(asked.depart_date, asked.return_date);
  const departures = Array.from({ length: 31 }, (_none, index) => addDays(`${month}-01`, index)).filter(
    (day) => day.startsWith(month) && isSold(stay === null ? day : addDays(day, stay), today) && day >= today,
  );
  const journeys = departures.map((depart_date) => ({
    depart_date,
    return_date: stay === null ? null : addDays(depart_date, stay),
  }));
  return { departures, returns: null, journeys: nearestFirst(journeys, asked) };
}

/** Puts the days nearest to the requested ones first: an early stop has those that matter most. */
function nearestFirst(journeys: readonly JourneyDays[], asked: JourneyDays): JourneyDays[] {
  const away = (day: JourneyDays) =>
    Math.abs(daysFrom(asked.depart_date, day.depart_date)) +
    (day.return_date === null || asked.return_date === null
      ? 0
      : Math.abs(daysFrom(asked.return_date, day.return_date)));
  return journeys.toSorted((a, b) => away(a) - away(b) || (a.depart_date < b.depart_date ? -1 : 1));
}

/** The cheapest offer. Ties go by offer id, as in every list. */
function cheapestOf(offers: readonly Offer[]): Offer | null {
  const [cheapest] = offers.toSorted(byPrice);
  if (!cheapest) return null;
  const { fare_options: _options, ...offer } = cheapest;
  return offer;
}

function dayPrice(journey: JourneyDays, result: ReturnType<Results<JourneyDays, DayAnswer>['get']>): DayPrice {
  if (result?.status !== 'kept') return { ...journey, ...(result ?? { status: 'not_searched' }) };
  const { offer, isComplete, atMs } = result;
  const common = { ...journey, searched_at: instant(atMs), is_complete: isComplete };
  if (offer === null) return { ...common, status: 'none' };
  const { total_amount_decimal, total_currency, offer_id, owner_name, stops, duration } = offer;
  return { ...common, status: 'found', total_amount_decimal, total_currency, offer_id, owner_name, stops, duration };
}

/** The cheapest day; of equal ones the requested day, or else the earliest. Compares prices in one currency only. */
function cheapestDay(days: readonly DayPrice[], asked: JourneyDays): DaysDocument['cheapest'] {
  const found = days.filter((day) => day.status === 'found');
  const currency = found.some((day) => day.total_currency === 'USD') ? 'USD' : found[0]?.total_currency;
  const isAsked = (day: JourneyDays) => keyOf(day) === keyOf(asked);
  const [cheapest = null] = found
    .filter((day) => day.total_currency === currency)
    .toSorted(
      (a, b) =>
        Number(a.total_amount_decimal) - Number(b.total_amount_decimal) ||
        Number(isAsked(b)) - Number(isAsked(a)) ||
        (keyOf(a) < keyOf(b) ? -1 : 1),
    );
  return cheapest;
}

const pricesOf = ({ departures, returns }: DayGrid, days: readonly DayPrice[]): (string | null)[][] =>
  (returns ?? [undefined]).map((back) =>
    departures.map((depart) => {
      const day = dayAt(days, depart, back);
      return day?.status === 'found' ? day.total_amount_decimal : null;
    }),
  );

type JourneyDays = Pick<DayPrice, 'depart_date' | 'return_date'>;

const keyOf = ({ depart_date, return_date }: JourneyDays): string => `${depart_date} ${return_date ?? ''}`;

const dayAt = (days: readonly DayPrice[], depart: string, back: string | undefined): DayPrice | undefined =>
  days.find((day) => day.depart_date === depart && (back === undefined || day.return_date === back));

/**
 * A grid of departures across and returns down, for `--flex`; or a bar for each day, for `--cheapest-day`.
 * @param title `span`: such as `3 days either side` or `December 2026`
 */
const pricesView = (title: {
  readonly adults: number;
  readonly childAges?: readonly number[] | undefined;
  readonly cabin: string;
  readonly span: string;
  readonly isGrid: boolean;
}): View<DaysDocument> => ({
  lines(document, screen) {
    const { origin_iata: from, destination_iata: to, depart_date: depart, return_date, cheapest } = document;
    const facts = [
      title.span,
      ...travellersText(title),
      title.cabin.replaceAll('_', ' '),
      `${cheapest?.total_currency ?? 'USD'}, ${title.adults === 1 && !title.childAges ? 'all in' : 'all travellers'}`,
    ];
    const { prices, notes = [] } = isSpoken(screen.paint)
      ? { prices: document.days.map((day) => spokenDay(day, document)) }
      : title.isGrid
        ? gridLines(document, screen)
        : { prices: barLines(document, screen) };
    return [
      ...requestLines({ from, to, depart, return: return_date ?? undefined }, facts, screen),
      '',
      ...prices,
      '',
      ...footLines(document, screen),
      ...notes,
    ];
  },
  rows: ({ days }) =>
    days.map((day) => [
      day.depart_date,
      day.return_date,
      day.status,
      ...(day.status === 'found' ? [day.total_amount_decimal, day.total_currency, day.offer_id] : [null, null, null]),
    ]),
});

/** Marks the cheapest cell without relying on colour, as brackets mark the requested one. */
const CHEAPEST = '*';

const MARKS = { none: '–', failed: '!', not_searched: '·' } as const;

/** The legend of the marks, and the reasons for gaps, each once with its days. */
function footLines({ days }: DaysDocument, { paint, width }: Screen): string[] {
  const has = (status: DayPrice['status']) => days.some((day) => day.status === status);
  const marks = [
    ...(has('found') ? [`${CHEAPEST} cheapest`] : []),
    '[ ] the days asked for',
    ...(has('none') ? [`${MARKS.none} no offers`] : []),
    ...(has('failed') ? [`${MARKS.failed} failed`] : []),
    ...(has('not_searched') ? [`${MARKS.not_searched} not searched`] : []),
  ].join('   ');
  const reasons = new Map<string, string[]>();
  for (const day of days) {
    const why = day.status === 'failed' ? day.error.message : day.status === 'not_searched' ? day.reason : undefined;
    if (why === undefined) continue;
    const back = day.return_date === null ? '' : ` – ${dayText(day.return_date, 3)}`;
    reasons.set(why, [...(reasons.get(why) ?? []), `${dayText(day.depart_date, 3)}${back}`]);
  }
  const notes = [...reasons].map(
    ([why, where]) => `! ${where.length > 3 ? counted(where.length, 'day') : where.join(', ')}: ${why}`,
  );
  if (days.some((day) => (day.status === 'found' || day.status === 'none') && !day.is_complete)) {
    notes.push('Some sellers have not answered yet; prices may drop.');
  }
  return [marks, ...notes.flatMap((note) => wrap(note, width))].map(paint.dim);
}

/** `Sun 20 Dec`, or fewer words of it. */
const dayText = (date: string, words: 2 | 3): string => dayName(date).split(' ').slice(0, words).join(' ');

const isSame = (a: JourneyDays, b: JourneyDays | null): boolean => b !== null && keyOf(a) === keyOf(b);

/** For a screen reader, a line for each day. */
function spokenDay(day: DayPrice, { cheapest }: DaysDocument): string {
  const said = { none: 'no offer', failed: 'the search failed', not_searched: 'not searched' };
  const back = day.return_date === null ? '' : `, back ${dayText(day.return_date, 3)}`;
  const price = day.status === 'found' ? `${money(day.total_amount_decimal)} ${day.total_currency}` : said[day.status];
  return `Out ${dayText(day.depart_date, 3)}${back}: ${price}${isSame(day, cheapest) ? ', the cheapest' : ''}`;
}

/** Room for the brackets of the requested days, and the mark of the cheapest. */
const MARK_CELLS = 3;
const CENTS = 3;
const RETURN_CELLS = 10;

const pricesIn = (days: readonly DayPrice[]): string[] =>
  days.flatMap((day) => (day.status === 'found' ? [money(day.total_amount_decimal)] : []));

function gridLines(document: DaysDocument, screen: Screen): { prices: string[]; notes: string[] } {
  const { paint, width } = screen;
  const { departures, returns, days } = document;
  const widest = Math.max(6, ...pricesIn(days).map((price) => price.length));
  const label = returns === null ? 0 : RETURN_CELLS + 1;
  const fits = (cells: number) => label + departures.length * (cells + MARK_CELLS + 1) - 1 <= width;
  // Without room for cents, rounds up to whole amounts, so that nothing seems cheaper than it is.
  const isRounded = !fits(widest);
  const whole = widest - CENTS;
  const cells = !isRounded ? widest : fits(Math.max(6, whole)) ? Math.max(6, whole) : whole;
  const room = cells + MARK_CELLS;
  const title = (day: string) => padStart(`${dayText(day, 2)}${room < 8 ? '' : '  '}`, room);
  const line = (first: string, ...others: readonly string[]) =>
    [...(returns === null ? [] : [padEnd(first, RETURN_CELLS)]), ...others].join(' ').trimEnd();
  return {
    prices: [
      ...(returns === null ? [] : [paint.dim(line('Return', padStart('Depart', room - 2)))]),
      paint.dim(line('', ...departures.map(title))),
      ...(returns ?? [undefined]).map((back) =>
        line(
          back === undefined ? '' : dayText(back, 3),
          ...departures.map((depart) => cellText(dayAt(days, depart, back), document, cells, isRounded, screen)),
        ),
      ),
    ],
    notes: isRounded
      ? wrap('Prices are rounded up to whole amounts; --json has them exactly.', width).map(paint.dim)
      : [],
  };
}

/** `[151.20]*` */
function cellText(
  day: DayPrice | undefined,
  document: DaysDocument,
  cells: number,
  isRounded: boolean,
  { paint }: Screen,
): string {
  if (day === undefined) return ' '.repeat(cells + MARK_CELLS);
  const isAsked = isSame(day, document);
  const isCheapest = isSame(day, document.cheapest);
  const said =
    day.status !== 'found'
      ? MARKS[day.status]
      : isRounded
        ? String(Math.ceil(Number(day.total_amount_decimal)))
        : money(day.total_amount_decimal);
  const mark = isCheapest ? CHEAPEST : '';
  const room = ' '.repeat(Math.max(0, cells - said.length));
  const cell = padEnd(isAsked ? `${room}[${said}]${mark}` : ` ${room}${said}${mark}`, cells + MARK_CELLS);
  if (isCheapest) return paint.good(paint.bold(cell));
  return day.status === 'found' ? (isAsked ? paint.bold(cell) : cell) : paint.dim(cell);
}

/** `[Sun 20]` */
const BAR_LABEL = 8;
/** The spaces between the label, the price, its mark and the bar. */
const GAPS = 5;
const MOST_BAR = 72;

function barLines(document: DaysDocument, { paint, width }: Screen): string[] {
  const { departures, days, depart_date, cheapest } = document;
  const prices = pricesIn(days);
  const most = Math.max(0, ...prices.map(Number));
  const room = Math.max(6, ...prices.map((price) => price.length));
  const cells = Math.min(MOST_BAR, width - BAR_LABEL - room - GAPS);
  return departures.map((depart) => {
    const day = dayAt(days, depart, undefined);
    const [weekday = '', number = ''] = dayName(depart).split(' ');
    const date = `${weekday} ${number.padStart(2)}`;
    const label =
      depart === depart_date ? paint.bold(padEnd(`[${date}]`, BAR_LABEL)) : paint.dim(padEnd(` ${date} `, BAR_LABEL));
    if (day?.status !== 'found') return `${label} ${paint.dim(padStart(MARKS[day?.status ?? 'not_searched'], room))}`;
    const price = padStart(money(day.total_amount_decimal), room);
    const bar = barOf(most === 0 ? 0 : Number(day.total_amount_decimal) / most, cells);
    if (depart === cheapest?.depart_date)
      return `${label} ${paint.good(paint.bold(`${price} ${CHEAPEST}`))} ${paint.good(bar)}`;
    return `${label} ${price}   ${paint.accent(bar)}`;
  });
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar that starts at zero: twice the price is twice as long. */
function barOf(part: number, cells: number): string {
  const eighths = Math.max(1, Math.round(part * cells * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}
