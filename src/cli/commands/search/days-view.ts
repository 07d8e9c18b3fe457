import { counted, dayName, isSpoken, padEnd, padStart, type Screen, type View, wrap } from '../../../terminal/index.ts';
import { requestLines } from '../../view/flights/index.ts';
import { money } from '../../view/index.ts';
import type { DayPrice, DaysDocument } from './result.ts';

export type JourneyDays = Pick<DayPrice, 'depart_date' | 'return_date'>;

export const keyOf = ({ depart_date, return_date }: JourneyDays): string => `${depart_date} ${return_date ?? ''}`;

/** The cell of a departure and a return, where there is one. */
export const dayAt = (days: readonly DayPrice[], depart: string, back: string | undefined): DayPrice | undefined =>
  days.find((day) => day.depart_date === depart && (back === undefined || day.return_date === back));

/**
 * A grid of departures across and returns down, for `--flex`; or a bar for each day, for `--cheapest-day`.
 * @param title `span`: such as `3 days either side` or `December 2026`
 */
export const pricesView = (title: {
  readonly adults: number;
  readonly cabin: string;
  readonly span: string;
  readonly isGrid: boolean;
}): View<DaysDocument> => ({
  lines(document, screen) {
    const { origin_iata: from, destination_iata: to, depart_date: depart, return_date, cheapest } = document;
    const facts = [
      title.span,
      counted(title.adults, 'adult'),
      title.cabin.replaceAll('_', ' '),
      `${cheapest?.total_currency ?? 'USD'}, ${title.adults === 1 ? 'all in' : 'all travellers'}`,
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
    notes.push('Slower sellers had not all answered: cheaper offers may exist.');
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

/** Brackets around the requested days, and the mark of the cheapest. */
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
  // Without room for cents, rounds up to whole amounts, so that nothing seems cheaper than it is.
  const isRounded = label + departures.length * (widest + MARK_CELLS + 1) > width;
  const cells = isRounded ? Math.max(6, widest - CENTS) : widest;
  const room = cells + MARK_CELLS;
  const line = (first: string, ...others: readonly string[]) =>
    [...(returns === null ? [] : [padEnd(first, RETURN_CELLS)]), ...others].join(' ').trimEnd();
  return {
    prices: [
      ...(returns === null ? [] : [paint.dim(line('Return', padStart('Depart', room - 2)))]),
      paint.dim(line('', ...departures.map((day) => padStart(`${dayText(day, 2)}  `, room)))),
      ...(returns ?? [undefined]).map((back) =>
        line(
          back === undefined ? '' : dayText(back, 3),
          ...departures.map((depart) => cellText(dayAt(days, depart, back), document, cells, isRounded, screen)),
        ),
      ),
    ],
    notes: isRounded ? [paint.dim('Prices are rounded up to whole amounts; --json has them exactly.')] : [],
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
/** Between the label, the price, its mark and the bar. */
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

/** A bar from nothing: twice the price is twice as long. */
function barOf(part: number, cells: number): string {
  const eighths = Math.max(1, Math.round(part * cells * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}
