import type { CsvError } from 'csv-parse/sync';
import { repeatedName } from '../../domain/repeated-names.ts';
import { isRecord } from '../spec/json.ts';
import { type FieldPath, fieldNamed, groupNamed } from './fields.ts';

/** A row as it stands in the file: values by field, not yet checked. */
export interface RawRow {
  /** From 1, without the header. */
  readonly row: number;
  /** Line of the file on which the row ends, from 1. */
  readonly line: number;
  readonly values: ReadonlyMap<FieldPath, unknown>;
  /** It also has a field that is not known, which is told by itself. */
  readonly hasUnknown: boolean;
}

export interface RowIssue {
  /** null: the file as a whole, or its header. */
  readonly row: number | null;
  readonly line: number | null;
  readonly field: string | null;
  readonly message: string;
}

interface ReadRows {
  readonly rows: readonly RawRow[];
  readonly issues: readonly RowIssue[];
}

/**
 * The rows of a CSV file (with a header) or of NDJSON (an UpdateOrder a line), whichever the text is; everything that
 * is wrong with its form is told at once.
 */
export async function readRows(text: string): Promise<ReadRows> {
  // One kind of line break, so that lines are counted as editors count them.
  const plain = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const first = plain.trimStart().charAt(0);
  if (first === '') return failed('The file is empty.');
  if (first === '[') return failed('That is one JSON array. Give a line of JSON for each row, or CSV.');
  return first === '{' ? readNdjson(plain) : readCsv(plain);
}

const failed = (message: string, line: number | null = null): ReadRows => ({
  rows: [],
  issues: [{ row: null, line, field: null, message }],
});

/* NDJSON */

function readNdjson(text: string): ReadRows {
  const rows: RawRow[] = [];
  const issues: RowIssue[] = [];
  let row = 0;
  for (const [index, source] of text.split('\n').entries()) {
    if (source.trim() === '') continue;
    const at = { row: ++row, line: index + 1 };
    const parsed = parsedLine(source);
    if (parsed === null) {
      issues.push({ ...at, field: null, message: 'is not a JSON object' });
      continue;
    }
    const read = rowOf(at, parsed);
    rows.push(...read.rows);
    // JSON.parse keeps the last of two and says nothing: another reader of the line would see the first.
    const repeated = repeatedName(source);
    if (repeated !== null) issues.push({ ...at, field: repeated, message: 'is given twice' });
    issues.push(...read.issues);
  }
  return { rows, issues };
}

/** One row from an object with the fields of UpdateOrder. */
export function rowOf(at: { row: number; line: number }, given: Record<string, unknown>): ReadRows {
  const { values, unknown } = fieldsOf(given);
  return {
    rows: [{ ...at, values, hasUnknown: unknown.length > 0 }],
    issues: unknown.map((one) => ({ ...at, ...one })),
  };
}

function parsedLine(source: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(source);
    return isRecord(parsed) ? parsed : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

interface Fields {
  readonly values: Map<FieldPath, unknown>;
  readonly unknown: { field: string; message: string }[];
}

function fieldsOf(given: Record<string, unknown>, group = '', into?: Fields): Fields {
  const fields: Fields = into ?? { values: new Map(), unknown: [] };
  const groups = new Set<string>();
  for (const [name, value] of Object.entries(given)) {
    // As in ProtoJSON, null is unset.
    if (value === null) continue;
    const whole = group ? `${group}.${name}` : name;
    const nested = group ? null : groupNamed(name);
    const path = fieldNamed(whole);
    if (nested && groups.has(nested)) fields.unknown.push({ field: whole, message: 'is given twice' });
    else if (nested && isRecord(value)) {
      groups.add(nested);
      fieldsOf(value, nested, fields);
    } else if (nested) fields.unknown.push({ field: whole, message: 'is not an object' });
    else if (path === null) fields.unknown.push({ field: whole, message: 'is not a field of UpdateOrder' });
    else if (fields.values.has(path)) fields.unknown.push({ field: whole, message: 'is given twice' });
    else fields.values.set(path, value);
  }
  return fields;
}

/* CSV */

async function readCsv(text: string): Promise<ReadRows> {
  const { parse } = await import('csv-parse/sync');
  const records: { readonly record: string[]; readonly line: number }[] = [];
  try {
    parse(text, {
      delimiter: delimiterOf(text),
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
    const line = typeof error.lines === 'number' ? error.lines : null;
    return failed(`is not CSV: ${CSV_FAULTS[error.code] ?? 'a row cannot be read'}`, line);
  }
  const [header, ...body] = records;
  const columns = header?.record.map((name) => ({ name: name.trim(), path: fieldNamed(name) })) ?? [];
  const issues = headerIssues(columns);
  // Without the column of ids every row would be said to lack one; what else is wrong is told with the rows.
  if (!columns.some(({ path }) => path === 'orderId')) return { rows: [], issues };
  const hasUnknown = columns.some(({ path }) => path === null);
  const rows: RawRow[] = [];
  for (const [index, { record, line }] of body.entries()) {
    const at = { row: index + 1, line };
    if (record.length > columns.length && record.slice(columns.length).some((cell) => cell.trim() !== '')) {
      const message = `has ${record.length} values, and the header names ${columns.length}`;
      issues.push({ ...at, field: null, message });
    }
    rows.push({ ...at, values: cellsOf(record, columns), hasUnknown });
  }
  return { rows, issues };
}

/** An empty cell is a value that is not given. */
function cellsOf(
  record: readonly string[],
  columns: readonly { path: FieldPath | null }[],
): Map<FieldPath, string> {
  const values = new Map<FieldPath, string>();
  for (const [index, { path }] of columns.entries()) {
    const cell = record[index]?.trim() ?? '';
    if (path !== null && cell !== '') values.set(path, cell);
  }
  return values;
}

function headerIssues(columns: readonly { name: string; path: FieldPath | null }[]): RowIssue[] {
  const at = { row: null, line: 1 };
  const issues: RowIssue[] = columns
    .filter(({ path }) => path === null)
    .map(({ name }) => ({ ...at, field: name, message: 'is not a field of UpdateOrder' }));
  for (const path of new Set(columns.map((column) => column.path))) {
    if (path !== null && columns.filter((column) => column.path === path).length > 1) {
      issues.push({ ...at, field: path, message: 'is given by two columns' });
    }
  }
  if (!columns.some(({ path }) => path === 'orderId')) {
    issues.push({ ...at, field: 'orderId', message: 'is missing: the first line names the columns' });
  }
  return issues;
}

/** Spreadsheets of some countries write semicolons; a copied range has tabs. */
function delimiterOf(text: string): string {
  const header = /^[^\n]*/.exec(text.trimStart())?.[0] ?? '';
  const count = (delimiter: string) => header.split(delimiter).length;
  return [',', ';', '\t'].reduce((best, one) => (count(one) > count(best) ? one : best), ',');
}

const CSV_FAULTS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  INVALID_OPENING_QUOTE: 'a quote stands inside a value',
  CSV_INVALID_CLOSING_QUOTE: 'something follows a closing quote',
  CSV_MAX_RECORD_SIZE: 'a row is too long',
};

const isCsvError = (error: unknown): error is CsvError =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && /CSV|QUOTE/.test(error.code);
