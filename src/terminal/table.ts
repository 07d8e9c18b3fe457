import { type Paint, spoken } from './paint.ts';
import { cut, padEnd, padStart, textWidth, wrap } from './text.ts';

interface Column {
  readonly title: string;
  readonly align?: 'right';
  /** True for text of any length, which is cut if the table would be wider than the screen. */
  readonly cuts?: boolean;
  /** Makes the column optional: without room, 1 is the last to go. Columns of one rank stay or go together. */
  readonly rank?: number;
}

const GAP = 2;
const LEAST_CUT = 8;
/** Cells that a text of any length gets before there is room for columns with a rank. */
const FAIR_CUT = 40;

/**
 * Draws a table as wide as its content; the last column is not padded. With `width`, columns with a rank take the room
 * that is left, in the order of their ranks. Then columns that may be cut give way, the widest first, until the table
 * fits.
 */
export function tableLines(
  titled: readonly (Column | string)[],
  allRows: readonly (readonly string[])[],
  heading: (text: string) => string,
  width = Number.POSITIVE_INFINITY,
): string[] {
  const allColumns = titled.map((one): Column => (typeof one === 'string' ? { title: one } : one));
  if (heading === spoken) return [`Entries: ${allRows.length}`, ...allRows.map((row) => spokenRow(allColumns, row))];
  const widest = allColumns.map((column, index) =>
    Math.max(textWidth(column.title), ...allRows.map((row) => textWidth(row[index] ?? ''))),
  );
  const kept = columnsWithRoom(allColumns, widest, width);
  const of = <T>(all: readonly T[]): T[] => all.filter((_, index) => kept.has(index));
  const [columns, rows, widths] = [of(allColumns), allRows.map(of), of(widest)];
  shrink(columns, widths, width);
  const lineOf = (cells: readonly string[]) =>
    columns
      .map((column, index) => {
        const room = widths[index] ?? 0;
        const cell = column.cuts ? cut(cells[index] ?? '', room) : (cells[index] ?? '');
        if (column.align === 'right') return padStart(cell, room);
        return index === columns.length - 1 ? cell : padEnd(cell, room);
      })
      .join(' '.repeat(GAP))
      .trimEnd();
  return [heading(lineOf(columns.map((column) => column.title))), ...rows.map(lineOf)];
}

/** A column that makes its cell of an entry. */
export type ListColumn<T> = Column & { cell(one: T, index: number): string };

export const listLines = <T>(
  { paint, width }: { readonly paint: Paint; readonly width?: number },
  entries: readonly T[],
  columns: readonly ListColumn<T>[],
): string[] =>
  tableLines(
    columns,
    entries.map((one, index) => columns.map((column) => column.cell(one, index))),
    paint.dim,
    width,
  );

/** The indexes of the columns that are shown. */
function columnsWithRoom(columns: readonly Column[], widths: readonly number[], width: number): ReadonlySet<number> {
  const placesOf = (rank: number | undefined) =>
    columns.flatMap((column, index) => (column.rank === rank ? [index] : []));
  const needOf = (index: number): number =>
    Math.min(widths[index] ?? 0, columns[index]?.cuts ? FAIR_CUT : Number.POSITIVE_INFINITY);
  const widthOf = (places: readonly number[]) => places.reduce((sum, index) => sum + needOf(index) + GAP, 0);
  const kept = new Set(placesOf(undefined));
  const ranks = [...new Set(columns.flatMap(({ rank }) => rank ?? []))].sort((a, b) => a - b);
  for (const rank of ranks) {
    const places = placesOf(rank);
    if (widthOf([...kept, ...places]) - GAP <= width) for (const place of places) kept.add(place);
  }
  return kept;
}

/** `Price: 133.32 USD; Seller: Iberia`: each cell with the title of its column. */
const spokenRow = (columns: readonly Column[], row: readonly string[]): string =>
  columns
    .flatMap(({ title }, index) => {
      const cell = known((row[index] ?? '').trim());
      return cell === '' ? [] : [title.trim() ? `${title === '#' ? 'Number' : title.trim()}: ${cell}` : cell];
    })
    .join('; ');

const known = (cell: string): string => (cell === '–' ? 'not given' : cell);

function shrink(columns: readonly Column[], widths: number[], width: number): void {
  let over = widths.reduce((sum, cells) => sum + cells + GAP, -GAP) - width;
  while (over > 0) {
    const widest = columns
      .map((column, index) => (column.cuts ? (widths[index] ?? 0) : 0))
      .reduce((best, cells, index, all) => (cells > (all[best] ?? 0) ? index : best), 0);
    const cells = widths[widest] ?? 0;
    if (!columns[widest]?.cuts || cells <= LEAST_CUT) return;
    widths[widest] = cells - 1;
    over--;
  }
}

type Field = readonly [label: string, value: string | null | undefined];

/**
 * Draws `label  value` lines with the values in one column. Entries without a value are left out. With `width`, a wider
 * value goes on in the line below.
 */
export function fieldLines(
  label: (text: string) => string,
  fields: readonly Field[] | Readonly<Record<string, Field[1]>>,
  width = Number.POSITIVE_INFINITY,
): string[] {
  const all: readonly Field[] = Array.isArray(fields) ? fields : Object.entries(fields);
  const shown = all.filter((field): field is readonly [string, string] => field[1] != null);
  if (label === spoken) return shown.map(([name, value]) => (name ? `${name}: ${known(value)}` : value));
  const labels = Math.max(0, ...shown.map(([name]) => textWidth(name)));
  const room = width - labels - GAP;
  return shown.flatMap(([name, value]) =>
    (textWidth(value) > room ? wrap(value, room) : [value]).map(
      (line, index) => `${label(padEnd(index === 0 ? name : '', labels))}${' '.repeat(GAP)}${line}`,
    ),
  );
}

/** Writes tab-separated rows for a pipe. A tab or line break in a value would break the row, and becomes a space. */
export const tsvLines = (rows: readonly (readonly (string | number | null)[])[]): string[] =>
  rows.map((row) => row.map((cell) => String(cell ?? '').replace(/[\t\r\n]/g, ' ')).join('\t'));
