import { dayName, isSpoken, padEnd, padStart, type Screen, type View } from '../../../terminal/index.ts';
import { money } from '../../view/payment.ts';
import { CHEAPEST, type DaysTitle, footLines, titleLines } from './days-title.ts';
import { dayRow, spokenDays } from './price-grid.ts';
import { type DayPrice, type DaysDocument, dayAt } from './prices.ts';

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
  const cells = Math.min(MOST_BAR, screen.width - LABEL - prices - GAPS);
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
const LABEL = 8;
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
  const name = padEnd(isAsked ? `[${shortDay(depart)}]` : ` ${shortDay(depart)} `, LABEL);
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

const shortDay = (date: string): string => {
  const [name = '', day = ''] = dayName(date).split(' ');
  return `${name} ${day.padStart(2)}`;
};
