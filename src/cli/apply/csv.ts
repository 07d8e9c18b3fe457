import type { CsvError } from 'csv-parse/sync';
import {
  type FieldPath,
  fieldNamed,
  fieldsNear,
  type RawRow,
  type ReadRows,
  type RowIssue,
  unknownField,
  type WrittenRow,
} from './rows.ts';

/** The rows of a CSV file, by the columns that its header names. */
export async function readCsv(given: string): Promise<ReadRows> {
  // Excel's own first line, which names the delimiter; its line stays, so that lines are counted as editors do.
  const named = /^\s*"?sep=(.)"?[^\n]*/i.exec(given);
  const text = named ? given.slice(named[0].length) : given;
  const { parse } = await import('csv-parse/sync');
  const records: { readonly record: string[]; readonly line: number }[] = [];
  const broken: RowIssue[] = [];
  const delimiter = named?.[1] ?? delimiterOf(text);
  try {
    parse(text, {
      delimiter,
      relax_column_count: true,
      skip_empty_lines: true,
      record_delimiter: '\n',
      max_record_size: 1_000_000,
      on_record: (record: string[], { lines }) => {
        records.push({ record, line: lines });
        return null;
      },
    });
  } catch (error) {
    if (!isCsvError(error)) throw error;
    broken.push(brokenCsv(text, error, records.at(-1)?.line ?? 0, delimiter));
    // The rows before it are checked all the same.
    if (records.length === 0) return { rows: [], issues: broken };
  }
  const [header, ...body] = records;
  const columns = columnsOf(withoutEmptyEnd(header?.record ?? [], body));
  const issues = [...headerIssues(columns, body, delimiter), ...broken];
  // Without the column of ids every row would be said to lack one; what else is wrong is told with the rows.
  if (!columns.some(({ path }) => path === 'orderId')) return { rows: [], issues };
  const rows: RawRow[] = [];
  for (const [index, { record, line }] of body.entries()) {
    const at = { row: index + 1, line };
    if (record.length > columns.length && record.slice(columns.length).some((cell) => cell.trim() !== '')) {
      const message = `has ${record.length} values, but the header names ${columns.length}`;
      issues.push({ ...at, field: null, message });
    }
    const hasUnknown = columns.some(({ path }, column) => path === null && isFilled(record, column));
    const written = writtenCsv(record, columns, delimiter);
    rows.push({ ...at, values: cellsOf(record, columns), hasUnknown, written });
  }
  return { rows, issues };
}

interface Column {
  readonly name: string;
  /** The field that its cells are checked as; null for a column that is not known. */
  readonly path: FieldPath | null;
  /** Its name is wrong, and can only have meant that field. */
  readonly isMeant: boolean;
}

interface CsvRecord {
  readonly record: readonly string[];
  readonly line: number;
}

/** Columns at the end that have neither a name nor a value: spreadsheets write them. */
function withoutEmptyEnd(names: readonly string[], body: readonly CsvRecord[]): readonly string[] {
  let end = names.length;
  while (end > 0 && (names[end - 1] ?? '').trim() === '' && !body.some(({ record }) => isFilled(record, end - 1)))
    end -= 1;
  return names.slice(0, end);
}

/** The columns by their names; the rows below a misspelt one are checked as well. */
function columnsOf(names: readonly string[]): Column[] {
  const taken = new Set(names.map(fieldNamed));
  return names.map((given) => {
    const path = fieldNamed(given);
    const meant = path === null ? onlyOne(fieldsNear(given)) : null;
    if (meant === null || taken.has(meant)) return { name: given.trim(), path, isMeant: false };
    taken.add(meant);
    return { name: given.trim(), path: meant, isMeant: true };
  });
}

const isFilled = (record: readonly string[], column: number): boolean => (record[column] ?? '').trim() !== '';

/** The quote that breaks a file: on its first line, for one that is not closed swallows all that follow. */
function brokenCsv(text: string, error: CsvError, lastLine: number, delimiter: string): RowIssue {
  const lines = text.split('\n');
  const index = lines.findIndex((line, at) => at >= lastLine && line.trim() !== '');
  const source = lines[index] ?? '';
  const cells = source.split(delimiter);
  const isWhole = cells.length === (lines[0] ?? '').split(delimiter).length;
  const unquoted = (cell: string) => cell.trim().replace(/^"(?=[^"]*$)/, '');
  const why = CSV_FAULTS[error.code] ?? 'a row cannot be read';
  return {
    row: null,
    line: index < 0 ? null : index + 1,
    field: null,
    message: `is not CSV: ${why}; the rows after it were not read`,
    column: cells.findIndex((cell) => cell.includes('"')) + 1 || null,
    value: cells.find((cell) => cell.includes('"'))?.trim() ?? null,
    corrected: isWhole && error.code !== 'CSV_MAX_RECORD_SIZE' ? csvLine(cells.map(unquoted), delimiter) : null,
  };
}

const csvLine = (cells: readonly string[], delimiter: string): string =>
  cells
    .map((cell) => (/["\n]/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(delimiter);

const writtenCsv = (record: readonly string[], columns: readonly Column[], delimiter: string): WrittenRow => ({
  columnOf: (field) => columns.findIndex(({ path }) => path === field) + 1 || null,
  nameOf: (field) => columns.find(({ path }) => path === field)?.name ?? null,
  corrected: (values) =>
    csvLine(
      record.map((cell, index) => values.get(columns[index]?.path ?? '') ?? cell),
      delimiter,
    ),
});

/** An empty cell is a value that is not given. */
function cellsOf(record: readonly string[], columns: readonly Column[]): Map<FieldPath, string> {
  const values = new Map<FieldPath, string>();
  for (const [index, { path }] of columns.entries()) {
    const cell = record[index]?.trim() ?? '';
    if (path !== null && cell !== '') values.set(path, cell);
  }
  return values;
}

function headerIssues(columns: readonly Column[], body: readonly CsvRecord[], delimiter: string): RowIssue[] {
  const at = { row: null, line: 1 };
  const names = columns.map(({ name, path, isMeant }) => (isMeant ? path : path === null ? null : name));
  const corrected = names.includes(null) ? null : csvLine(names.map(String), delimiter);
  const issues: RowIssue[] = columns.flatMap(({ name, path, isMeant }, index) =>
    path === null || isMeant
      ? [
          {
            ...at,
            field: name,
            message: name === '' ? 'has no name' : unknownField(name),
            column: index + 1,
            value: name,
            corrected,
          },
          ...(path === null ? strayCells(name, index, body) : []),
        ]
      : [],
  );
  for (const path of new Set(columns.map((column) => column.path))) {
    if (path !== null && columns.filter((column) => column.path === path).length > 1) {
      issues.push({ ...at, field: path, message: 'has two columns' });
    }
  }
  if (!columns.some(({ path }) => path === 'orderId')) {
    issues.push({ ...at, field: 'orderId', message: 'is missing: the first line must name the columns' });
  }
  return issues;
}

/** More than these say nothing that the column itself does not. */
const MOST_STRAY_CELLS = 20;

/** The values below a column that is not known: of a few, each is a mistake of its row. */
function strayCells(field: string, index: number, body: readonly CsvRecord[]): RowIssue[] {
  const stray = body.flatMap(({ record, line }, at) =>
    isFilled(record, index) ? [{ row: at + 1, line, value: record[index]?.trim() ?? '' }] : [],
  );
  if (stray.length > MOST_STRAY_CELLS) return [];
  return stray.map((one) => ({ ...one, field, column: index + 1, message: 'is in a column that is not known' }));
}

const onlyOne = (names: readonly string[]): string | null => (names.length === 1 ? (names[0] ?? null) : null);

/** Spreadsheets of some countries write semicolons; a copied range has tabs. */
function delimiterOf(text: string): string {
  const header = /^[^\n]*/.exec(text.trimStart())?.[0] ?? '';
  const count = (delimiter: string) => header.split(delimiter).length;
  return [',', ';', '\t'].reduce((best, one) => (count(one) > count(best) ? one : best), ',');
}

const CSV_FAULTS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  INVALID_OPENING_QUOTE: 'there is a quote inside a value',
  CSV_INVALID_CLOSING_QUOTE: 'there is text after a closing quote',
  CSV_MAX_RECORD_SIZE: 'a row is too long',
};

const isCsvError = (error: unknown): error is CsvError =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && /CSV|QUOTE/.test(error.code);
