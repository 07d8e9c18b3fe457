import { dayName, isSpoken, padEnd, padStart, type Screen, type View } from '../../../terminal/index.ts';
import { money } from '../../view/payment.ts';
import { CHEAPEST, type DaysTitle, footLines, titleLines } from './days-title.ts';
import { type DayPrice, type DaysDocument, dayAt } from './prices.ts';

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
