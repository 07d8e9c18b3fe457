import { padEnd, padStart, textWidth } from './text.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'right';
}

/** Lines of a table as wide as its content; the last column isn't padded. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  heading: (text: string) => string,
): string[] {
  const widths = columns.map((column, index) =>
    Math.max(textWidth(column.title), ...rows.map((row) => textWidth(row[index] ?? ''))),
  );
  const lineOf = (cells: readonly string[]) =>
    columns
      .map((column, index) => {
        const cell = cells[index] ?? '';
        if (column.align === 'right') return padStart(cell, widths[index] ?? 0);
        return index === columns.length - 1 ? cell : padEnd(cell, widths[index] ?? 0);
      })
      .join('  ')
      .trimEnd();
  return [heading(lineOf(columns.map((column) => column.title))), ...rows.map(lineOf)];
}

/** `label  value` lines with the values in one column. Entries without a value are left out. */
export function fieldLines(
  fields: readonly (readonly [label: string, value: string | null | undefined])[],
  label: (text: string) => string,
): string[] {
  const shown = fields.filter((field): field is readonly [string, string] => field[1] != null);
  const width = Math.max(0, ...shown.map(([name]) => textWidth(name)));
  return shown.map(([name, value]) => `${label(padEnd(name, width))}  ${value}`);
}

/** Tab-separated rows for a pipe: a tab or line break inside a value would break the row, and becomes a space. */
export const tsvLines = (rows: readonly (readonly (string | number | null)[])[]): string[] =>
  rows.map((row) => row.map((cell) => String(cell ?? '').replace(/[\t\r\n]/g, ' ')).join('\t'));
