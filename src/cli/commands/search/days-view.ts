import {
  counted,
  dayName,
  isSpoken,
  padEnd,
  padStart,
  type Screen,
  textWidth,
  type View,
  wrap,
} from '../../../terminal/index.ts';
import { money } from '../../view/index.ts';
import { type DayPrice, type DaysDocument, dayAt } from './prices.ts';

/** The request, for the line above the prices. */
export interface DaysTitle {
  readonly adults: number;
  readonly cabin: string;
  /** `3 days either side`, `December 2026`. */
  readonly span: string;
}

/** The cell that was asked for, and the cheapest one, said apart from colour. */
export const CHEAPEST = '*';

export function titleLines(document: DaysDocument, title: DaysTitle, { paint, width }: Screen): string[] {
  const { origin_iata: from, destination_iata: to, depart_date, return_date } = document;
  const route = `${from} ${return_date ? '⇄' : '→'} ${to}`;
  const days = return_date ? `${dayName(depart_date)} – ${dayName(return_date)}` : dayName(depart_date);
  const facts = [
    title.span,
    counted(title.adults, 'adult'),
    title.cabin.replaceAll('_', ' '),
    `${document.cheapest?.total_currency ?? 'USD'}, ${title.adults === 1 ? 'all in' : 'all travellers'}`,
  ].join(' · ');
  return textWidth(`${route}  ${days}  ${facts}`) <= width
    ? [`${paint.bold(route)}  ${days}  ${paint.dim(facts)}`]
    : [`${paint.bold(route)}  ${days}`, paint.dim(facts)];
}

/** The legend: what the marks mean and why there are gaps, each reason once with its days. */
export function footLines({ days }: DaysDocument, { paint, width }: Screen): string[] {
  const has = (status: DayPrice['status']) => days.some((day) => day.status === status);
  const marks = [
    ...(has('found') ? [`${CHEAPEST} cheapest`] : []),
    '[ ] the days asked for',
    ...(has('none') ? ['– no offers'] : []),
    ...(has('failed') ? ['! failed'] : []),
    ...(has('not_searched') ? ['· not searched'] : []),
  ].join('   ');
  const reasons = new Map<string, string[]>();
  for (const day of days) {
    const why = day.status === 'failed' ? day.error.message : day.status === 'not_searched' ? day.reason : undefined;
    if (why === undefined) continue;
    reasons.set(why, [...(reasons.get(why) ?? []), shortJourney(day)]);
  }
  const slow = days.some((day) => (day.status === 'found' || day.status === 'none') && !day.is_complete);
  const notes = [...reasons].map(
    ([why, where]) => `! ${where.length > 3 ? counted(where.length, 'day') : where.join(', ')}: ${why}`,
  );
  if (slow) notes.push('Slower sellers had not all answered: cheaper offers may exist.');
  return [paint.dim(marks), ...notes.flatMap((note) => wrap(note, width)).map((line) => paint.dim(line))];
}

const shortJourney = ({ depart_date, return_date }: DayPrice): string =>
  return_date === null ? longDay(depart_date) : `${longDay(depart_date)} – ${longDay(return_date)}`;

/** `search --flex`: departures across, returns down, the cheapest price in each cell. */
export const priceGridView = (title: DaysTitle): View<DaysDocument> => ({
  lines: (document, screen) => gridLines(document, title, screen),
  rows: ({ days }) => days.map(dayRow),
});

function gridLines(document: DaysDocument, title: DaysTitle, screen: Screen): string[] {
  const { paint, width } = screen;
  const { departures, returns, days } = document;
  if (isSpoken(paint)) return spokenDays(document, title, screen);
  const prices = days.flatMap((day) => (day.status === 'found' ? [money(day.total_amount_decimal)] : []));
  const widest = Math.max(6, ...prices.map((price) => price.length));
  const label = returns === null ? 0 : LABEL;
  // Where cents don't fit, whole amounts do; they are rounded up, so that nothing seems cheaper than it is.
  const isRounded = label + departures.length * (widest + MARKS + 1) > width;
  const cells = isRounded ? Math.max(6, widest - CENTS) : widest;
  const room = cells + MARKS;
  const row = (back: string | null | undefined) =>
    departures.map((depart) => {
      const day = dayAt(days, depart, back);
      return cellText(day, document, cells, isRounded, screen);
    });
  const headings = departures.map((day) => padStart(`${shortDay(day)}  `, room));
  const head = returns === null ? headings : [padEnd('', label - 1), ...headings];
  const body =
    returns === null ? [row(undefined)] : returns.map((back) => [padEnd(longDay(back), label - 1), ...row(back)]);
  return [
    ...titleLines(document, title, screen),
    '',
    ...(returns === null
      ? []
      : [paint.dim(`${padEnd('Return', label - 1)} ${padStart('Depart', room - 2)}`.trimEnd())]),
    paint.dim(head.join(' ').trimEnd()),
    ...body.map((line) => line.join(' ').trimEnd()),
    '',
    ...footLines(document, screen),
    ...(isRounded ? [paint.dim('Prices are rounded up to whole amounts; --json has them exactly.')] : []),
  ];
}

/** The days and their prices for a screen reader, a line each. */
export function spokenDays(document: DaysDocument, title: DaysTitle, screen: Screen): string[] {
  const { cheapest } = document;
  const said = { none: 'no offer', failed: 'the search failed', not_searched: 'not searched' };
  const line = (day: DayPrice) => {
    const back = day.return_date === null ? '' : `, back ${longDay(day.return_date)}`;
    const price =
      day.status === 'found' ? `${money(day.total_amount_decimal)} ${day.total_currency}` : said[day.status];
    const isCheapest = cheapest?.depart_date === day.depart_date && cheapest.return_date === day.return_date;
    return `Out ${longDay(day.depart_date)}${back}: ${price}${isCheapest ? ', the cheapest' : ''}`;
  };
  return [...titleLines(document, title, screen), '', ...document.days.map(line), '', ...footLines(document, screen)];
}

/** Brackets around the days asked for, and the mark of the cheapest. */
const MARKS = 3;
const CENTS = 3;
const LABEL = 11;

/** `[151.20]*` */
function cellText(
  day: DayPrice | undefined,
  { depart_date, return_date, cheapest }: DaysDocument,
  cells: number,
  isRounded: boolean,
  { paint }: Screen,
): string {
  if (day === undefined) return ' '.repeat(cells + MARKS);
  const isAsked = day.depart_date === depart_date && day.return_date === return_date;
  const isCheapest =
    cheapest !== null && day.depart_date === cheapest.depart_date && day.return_date === cheapest.return_date;
  const said = padStart(saidOf(day, isRounded), cells);
  const bare = said.trimStart();
  const mark = isCheapest ? CHEAPEST : '';
  const cell = isAsked
    ? padEnd(`${said.slice(0, said.length - bare.length)}[${bare}]${mark}`, cells + MARKS)
    : padEnd(` ${said}${mark}`, cells + MARKS);
  if (isCheapest) return paint.good(paint.bold(cell));
  return day.status === 'found' ? (isAsked ? paint.bold(cell) : cell) : paint.dim(cell);
}

function saidOf(day: DayPrice, isRounded: boolean): string {
  if (day.status === 'found') {
    const price = money(day.total_amount_decimal);
    return isRounded ? String(Math.ceil(Number(price))) : price;
  }
  return { none: '–', failed: '!', not_searched: '·' }[day.status];
}

/** `Sun 20` */
const shortDay = (date: string): string => dayName(date).split(' ').slice(0, 2).join(' ');
/** `Sun 20 Dec` */
const longDay = (date: string): string => dayName(date).split(' ').slice(0, 3).join(' ');

/** For a pipe: a row for each pair of days. */
export const dayRow = (day: DayPrice): (string | number | null)[] => {
  const days = [day.depart_date, day.return_date, day.status];
  return day.status === 'found'
    ? [...days, day.total_amount_decimal, day.total_currency, day.offer_id]
    : [...days, null, null, null];
};

/** `search --cheapest-day`: a line for each day, as long as its price. */
export const priceBarsView = (title: DaysTitle): View<DaysDocument> => ({
  lines: (document, screen) => barsLines(document, title, screen),
  rows: ({ days }) => days.map(dayRow),
});

function barsLines(document: DaysDocument, title: DaysTitle, screen: Screen): string[] {
  const { departures, days } = document;
  if (isSpoken(screen.paint)) return spokenDays(document, title, screen);
  const found = days.flatMap((day) => (day.status === 'found' ? [day] : []));
  const most = Math.max(0, ...found.map((day) => Number(day.total_amount_decimal)));
  const prices = Math.max(6, ...found.map((day) => money(day.total_amount_decimal).length));
  const cells = Math.min(MOST_BAR, screen.width - BAR_LABEL - prices - GAPS);
  return [
    ...titleLines(document, title, screen),
    '',
    ...departures.map((depart) =>
      dayLine(dayAt(days, depart, undefined), depart, document, { most, prices, cells }, screen),
    ),
    '',
    ...footLines(document, screen),
  ];
}

/** `[Sun 20]` */
const BAR_LABEL = 8;
/** Between the label, the price, its mark and the bar. */
const GAPS = 5;
const MOST_BAR = 72;

interface Scale {
  /** The dearest price: as long as `cells`. */
  readonly most: number;
  readonly prices: number;
  readonly cells: number;
}

function dayLine(
  day: DayPrice | undefined,
  depart: string,
  { depart_date, cheapest }: DaysDocument,
  { most, prices, cells }: Scale,
  { paint }: Screen,
): string {
  const isAsked = depart === depart_date;
  const isCheapest = cheapest !== null && depart === cheapest.depart_date;
  const name = padEnd(isAsked ? `[${barDay(depart)}]` : ` ${barDay(depart)} `, BAR_LABEL);
  const label = isAsked ? paint.bold(name) : paint.dim(name);
  if (day?.status !== 'found') {
    const mark = day ? { none: '–', failed: '!', not_searched: '·' }[day.status] : '·';
    return `${label} ${paint.dim(padStart(mark, prices))}`;
  }
  const price = padStart(money(day.total_amount_decimal), prices);
  const bar = barOf(most === 0 ? 0 : Number(day.total_amount_decimal) / most, cells);
  if (isCheapest) return `${label} ${paint.good(paint.bold(`${price} ${CHEAPEST}`))} ${paint.good(bar)}`;
  return `${label} ${price}   ${paint.accent(bar)}`;
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar from nothing: twice the price is twice as long. */
function barOf(part: number, cells: number): string {
  const eighths = Math.max(1, Math.round(part * cells * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

const barDay = (date: string): string => {
  const [name = '', day = ''] = dayName(date).split(' ');
  return `${name} ${day.padStart(2)}`;
};
