import { parseUsdc } from '../../../kernel/money.ts';
import { capital, isSpoken, padEnd, padStart, type Screen, wrap } from '../../../terminal/index.ts';
import type { SeatMap, SeatMapSeat } from '../../../wire/flights/index.ts';
import { money } from '../index.ts';

type Cabin = SeatMap['cabins'][number];
type Element = Cabin['rows'][number][number][number];

/** A row of seats in the columns of its cabin, or another element in its place. */
export interface SeatRow {
  /** Null for a row without seats. */
  readonly number: string | null;
  /** By column; null where there is no seat. */
  readonly seats: readonly (SeatMapSeat | null)[];
  readonly other: string | null;
}

/** A cabin as a grid. Each column is a letter; aisles part its section from others. */
export interface SeatGrid {
  readonly columns: readonly { readonly letter: string; readonly section: number }[];
  readonly rows: readonly SeatRow[];
}

const isSeat = (element: Element): element is SeatMapSeat => typeof element !== 'string';
export const seatsOn = ({ cabins }: SeatMap): SeatMapSeat[] =>
  cabins.flatMap(({ rows }) => rows.flat(2)).filter(isSeat);

const letterOf = ({ designator }: SeatMapSeat): string => designator.slice(-1);
const numberOf = ({ designator }: SeatMapSeat): string => designator.slice(0, -1);

/** Lays out a cabin. Rows may lack letters, so a column is a letter rather than a place. */
export function gridOf({ rows }: Cabin): SeatGrid {
  const columns = Array.from({ length: Math.max(0, ...rows.map((sections) => sections.length)) }, (_, section) => {
    const letters = rows.flatMap((row) => (row[section] ?? []).filter(isSeat).map(letterOf));
    return [...new Set(letters)].toSorted().map((letter) => ({ letter, section }));
  }).flat();
  return {
    columns,
    rows: rows.map((row) => {
      const seats = row.flat().filter(isSeat);
      const [first] = seats;
      const others = [...new Set(row.flat().filter((one) => !isSeat(one) && one !== 'empty'))] as string[];
      return {
        number: first ? numberOf(first) : null,
        seats: columns.map(({ letter }) => seats.find((seat) => letterOf(seat) === letter) ?? null),
        other: first ? null : others.map((one) => one.replace('_row', '')).join(', ') || null,
      };
    }),
  };
}

/** The lowest price of a seat, for a traveller or for anyone; null if taken, or not sold to that traveller. */
export function seatPrice({ prices }: SeatMapSeat, passenger: number | null): string | null {
  const fitting = prices.filter(
    ({ passenger_indexes: only }) => passenger === null || only === undefined || only.includes(passenger),
  );
  const [lowest] = fitting.toSorted((a, b) => Number(a.total_amount_decimal) - Number(b.total_amount_decimal));
  return lowest?.total_amount_decimal ?? null;
}

/** The cheapest seat without terms of its own; null if none is left. */
export function cheapestSeat(map: SeatMap, passenger: number): string | null {
  const [first] = seatsOn(map)
    .flatMap((seat) => {
      const price = seat.disclosures ? null : seatPrice(seat, passenger);
      return price === null ? [] : { price: Number(price), designator: seat.designator };
    })
    .toSorted((a, b) => a.price - b.price);
  return first?.designator ?? null;
}

const MOST_BANDS = 9;
const TAKEN = '×';
const CHOSEN = '●';

/** Puts prices in bands, each named by a digit: 0 is free, and neighbours share a band if there are more than nine. */
function bandsOf(map: SeatMap, passenger: number | null) {
  const seats = seatsOn(map);
  const prices = [...new Set(seats.flatMap((seat) => seatPrice(seat, passenger) ?? []))]
    .filter((price) => Number(price) > 0)
    .toSorted((a, b) => Number(parseUsdc(a) - parseUsdc(b)));
  const each = Math.max(1, Math.ceil(prices.length / MOST_BANDS));
  const isFree = seats.some((seat) => Number(seatPrice(seat, passenger) ?? -1) === 0);
  return {
    of: (price: string) => (Number(price) === 0 ? '0' : String(Math.floor(prices.indexOf(price) / each) + 1)),
    names: [
      ...(isFree ? ['0 free'] : []),
      ...Array.from({ length: Math.ceil(prices.length / each) }, (_, at) => {
        const band = prices.slice(at * each, (at + 1) * each);
        const ends = [band[0], ...(band.length > 1 ? [band.at(-1)] : [])].map((price) => money(price ?? ''));
        return `${at + 1} ${ends.join('–')}`;
      }),
    ],
  };
}

interface Shown {
  /** The traveller whose prices are shown; by default the lowest ones. */
  readonly passenger?: number | null | undefined;
  readonly currency: string;
  /** Seats of this flight that are chosen already. */
  readonly chosen?: readonly string[] | undefined;
  /** The column of the mark. */
  readonly column?: number | undefined;
}

const LABEL = 4;
const AISLE = '   ';

const isAfterAisle = ({ columns }: SeatGrid, at: number): boolean =>
  at > 0 && columns[at]?.section !== columns[at - 1]?.section;

/** Draws a cabin: its letters, its rows one by one, the meaning of the marks, and the terms of seats. */
export function cabinLines(map: SeatMap, grid: SeatGrid, shown: Shown, { paint, width }: Screen) {
  const { passenger = null, chosen = [], currency } = shown;
  const bands = bandsOf(map, passenger);
  /** Cells of each column, with a gap for each aisle. */
  const joined = (cells: readonly string[]) =>
    cells
      .map((one, at) => `${isAfterAisle(grid, at) ? AISLE : ''}${one}`)
      .join('')
      .trimEnd();
  const cell = (seat: SeatMapSeat | null) => {
    if (!seat) return '   ';
    const price = seatPrice(seat, passenger);
    const text = (mark: string) => padEnd(` ${mark}${seat.disclosures ? '!' : ''}`, 3);
    if (chosen.includes(seat.designator)) return paint.accent(text(CHOSEN));
    return price === null ? paint.dim(text(TAKEN)) : paint.good(text(bands.of(price)));
  };
  const rows = grid.rows.map(({ number, seats, other }) => {
    if (number === null) {
      return isSpoken(paint)
        ? capital(other ?? 'gap')
        : paint.dim(`${' '.repeat(LABEL)} ${other === null ? '' : `– ${other} –`}`);
    }
    return isSpoken(paint)
      ? spokenRow(number, seats, grid, shown)
      : `${padStart(number, LABEL)}${joined(seats.map(cell))}`;
  });
  const heads = grid.columns.map(({ letter }, at) => (at === shown.column ? `[${letter}]` : ` ${letter} `));
  const terms = termsLines(grid, width);
  const marks = [...bands.names, `${TAKEN} taken`, ...(terms.length > 0 ? ['! terms below'] : [])];
  return {
    heading: isSpoken(paint) ? [] : [paint.bold(`${' '.repeat(LABEL)}${joined(heads)}`)],
    rows,
    legend: isSpoken(paint) ? [] : wrap(`${currency}: ${marks.join(' · ')}`, width).map(paint.dim),
    terms: terms.map(paint.dim),
  };
}

/** `Row 12: A 14.00 USD, B taken, aisle, C 7.00 USD` */
function spokenRow(
  number: string,
  seats: readonly (SeatMapSeat | null)[],
  grid: SeatGrid,
  { passenger = null, currency, chosen = [] }: Shown,
): string {
  const said = seats.flatMap((seat, at) => {
    if (!seat) return [];
    const price = seatPrice(seat, passenger);
    const state = chosen.includes(seat.designator)
      ? 'chosen'
      : price === null
        ? 'taken'
        : Number(price) === 0
          ? 'free of charge'
          : `${money(price)} ${currency}`;
    const terms = seat.disclosures && price !== null ? ', with terms' : '';
    return `${isAfterAisle(grid, at) ? 'aisle, ' : ''}${grid.columns[at]?.letter} ${state}${terms}`;
  });
  return `Row ${number}: ${said.join(', ')}`;
}

/** `! 12A 12B: Exit row…`, once for each text. */
function termsLines({ rows }: SeatGrid, width: number): string[] {
  const terms = new Map<string, string[]>();
  for (const seat of rows.flatMap(({ seats }) => seats)) {
    if (!seat?.disclosures || seat.prices.length === 0) continue;
    const text = seat.disclosures.join(' ');
    terms.set(text, [...(terms.get(text) ?? []), seat.designator]);
  }
  return [...terms].flatMap(([text, seats]) => wrap(`! ${seats.join(' ')}: ${text}`, width));
}

export const mapTitle = ({ origin_iata: from, destination_iata: to, flight_number: flight }: SeatMap): string =>
  `${from} → ${to}  ${flight}`;

export const seatMapLines = (maps: readonly SeatMap[], currency: string, screen: Screen): string[] =>
  maps.flatMap((map, at) => [
    ...(at > 0 ? [''] : []),
    screen.paint.bold(mapTitle(map)),
    ...map.cabins.flatMap((cabin) => {
      const { heading, rows, legend, terms } = cabinLines(map, gridOf(cabin), { currency }, screen);
      const name = cabin.cabin_class?.replaceAll('_', ' ');
      return [...(name ? [screen.paint.dim(name)] : []), ...heading, ...rows, ...legend, ...terms];
    }),
  ]);
