import type { CsvError } from 'csv-parse/sync';
import { DEPOSIT_FIELDS, DEPOSIT_SYNONYMS, RETURN_FIELDS } from '../../kernel/domain/order-moves.ts';
import { repeatedName } from '../../kernel/domain/repeated-names.ts';
import { didYouMeanOneOf, nearest } from '../../kernel/nearest.ts';
import { isRecord } from '../../terminal/index.ts';

const PLAIN_FIELDS = [
  'orderId',
  'status',
  'sourceTransactionId',
  'destinationTransactionId',
  'reason',
  'customerFacingReason',
  'toAmount',
] as const;

/** The groups of nested fields; deposit instructions include their synonyms. */
export const GROUPS = {
  depositInstructions: [...DEPOSIT_FIELDS, ...Object.keys(DEPOSIT_SYNONYMS)],
  returnDetails: RETURN_FIELDS,
} as const;

/** The path of a field: `orderId`, `returnDetails.reason`, … */
export type FieldPath = string;

const FIELD_PATHS: readonly FieldPath[] = [
  ...PLAIN_FIELDS,
  ...Object.entries(GROUPS).flatMap(([group, fields]) => fields.map((field) => `${group}.${field}`)),
];

const squashed = (name: string): string => name.toLowerCase().replace(/[\s._-]/g, '');

/** The column, or field, in which a corrected file says what is wrong with a row; it is never sent. */
export const MARK = 'mistake';

const BY_NAME: ReadonlyMap<string, FieldPath> = new Map([...FIELD_PATHS, MARK].map((path) => [squashed(path), path]));

/** Finds the field of a name in camelCase, snake_case or kebab-case; null for an unknown name. */
export const fieldNamed = (name: string): FieldPath | null => BY_NAME.get(squashed(name)) ?? null;

const GROUP_NAMES = new Map(Object.keys(GROUPS).map((name) => [squashed(name), name]));

/** Finds the group of a name in any of these spellings; null for an unknown name. */
export const groupNamed = (name: string): string | null => GROUP_NAMES.get(squashed(name)) ?? null;

/** Finds the fields that a misspelt name may mean, with or without their group. */
export function fieldsNear(name: string): FieldPath[] {
  if (OTHER_IDS.test(squashed(name))) return ['orderId'];
  const forms = new Map(
    FIELD_PATHS.flatMap((path) => [squashed(path), leafOf(path)].map((form): [string, FieldPath] => [form, path])),
  );
  return [...new Set(nearest(squashed(name), [...forms.keys()]).flatMap((form) => forms.get(form) ?? []))];
}

/** Names of an order's id in other systems. */
const OTHER_IDS = /^(ramp)?(id|order|order(no|nr|number|ref|reference|uuid))$/;

const leafOf = (path: FieldPath): string => squashed(path.split('.').at(-1) ?? path);

/** A row of the file: values by field, not yet checked. */
export interface RawRow {
  /** From 1, without the header. */
  readonly row: number;
  /** Line of the file on which the row ends, from 1. */
  readonly line: number;
  readonly values: ReadonlyMap<FieldPath, unknown>;
  readonly written?: WrittenRow;
  /** True if the row also has an unknown field, which is reported separately. */
  readonly hasUnknown: boolean;
}

/** Knows how a row is written: finds the place of a mistake, and writes the row without it. */
export interface WrittenRow {
  /** The CSV column, or the character at which an NDJSON field begins, from 1; null for a missing field. */
  columnOf(field: FieldPath): number | null;
  /** The name of the field in the CSV header. Null for NDJSON, where the names differ from row to row. */
  nameOf(field: FieldPath): string | null;
  /** Writes the row with some values replaced. */
  corrected(values: ReadonlyMap<FieldPath, string>): string;
}

export interface RowIssue {
  /** Null for a mistake of the header or of the whole file. */
  readonly row: number | null;
  readonly line: number | null;
  readonly field: string | null;
  readonly message: string;
  /** The CSV column or NDJSON character, from 1. Null for a mistake of the whole row. */
  readonly column?: number | null;
  /** The text in that place. */
  readonly value?: string | null;
  /** The corrected line, if it is certain. That of a row has none of its mistakes left. */
  readonly corrected?: string | null;
}

export interface ReadRows {
  readonly rows: readonly RawRow[];
  readonly issues: readonly RowIssue[];
  /** Absent where a part of the file could not be read. */
  readonly form?: FileForm;
}

/** The form in which a file is written. */
export interface FileForm {
  /** Null for NDJSON. */
  readonly delimiter: string | null;
  /** The last line of each row, in the order of the file; row 0 is the CSV header. */
  readonly ends: readonly { readonly row: number; readonly line: number }[];
  /** The CSV column of marks (`mistake`), from 1; 0 if there is none. */
  readonly markColumn: number;
}

/** The message about an unknown field. */
export function unknownField(name: string): string {
  const near = didYouMeanOneOf(fieldsNear(name));
  return `is not a known field${near && `. ${near}`}`;
}

/** Reads the rows of a CSV file by the columns that its header names. */
export async function readCsv(given: string): Promise<ReadRows> {
  // Excel's first line names the delimiter. Its line break stays, so that lines are counted as editors count them.
  const named = /^\s*"?sep=(.)"?[^\n]*/i.exec(given);
  const text = named ? given.slice(named[0].length) : given;
  const { parse } = await import('csv-parse/sync');
  const records: CsvRecord[] = [];
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
    if (records.length === 0) return { rows: [], issues: broken };
  }
  const [header, ...body] = records;
  const columns = columnsOf(withoutEmptyEnd(header?.record ?? [], body));
  const issues = [...headerIssues(columns, body, delimiter), ...broken];
  // Without a column of ids every row would lack its id. Other mistakes of the header are reported with those of rows.
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
  if (broken.length > 0) return { rows, issues };
  const ends = [{ row: 0, line: header?.line ?? 1 }, ...rows];
  return { rows, issues, form: { delimiter, ends, markColumn: columns.findIndex(({ path }) => path === MARK) + 1 } };
}

interface Column {
  readonly name: string;
  /** The field of its cells; null for an unknown column. */
  readonly path: FieldPath | null;
  /** True if the name is misspelt and can only mean this field. */
  readonly isMeant: boolean;
}

interface CsvRecord {
  readonly record: readonly string[];
  readonly line: number;
}

/** Drops columns at the end without name and values, as spreadsheets write them. */
function withoutEmptyEnd(names: readonly string[], body: readonly CsvRecord[]): readonly string[] {
  const isUsed = (name: string, at: number) => name.trim() !== '' || body.some(({ record }) => isFilled(record, at));
  return names.slice(0, names.findLastIndex(isUsed) + 1);
}

/** Finds the field of each column; cells below a misspelt name are checked too. */
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

/** Reports the quote that breaks a file, on its first line: an open quote swallows all lines after it. */
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

export const csvLine = (cells: readonly string[], delimiter: string): string =>
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

/** Reads the cells that have a value. */
const cellsOf = (record: readonly string[], columns: readonly Column[]): Map<FieldPath, string> =>
  new Map(
    columns.flatMap(({ path }, index): [FieldPath, string][] =>
      path !== null && path !== MARK && isFilled(record, index) ? [[path, record[index]?.trim() ?? '']] : [],
    ),
  );

function headerIssues(columns: readonly Column[], body: readonly CsvRecord[], delimiter: string): RowIssue[] {
  const at = { row: null, line: 1 };
  const names = columns.map(({ name, path, isMeant }) => (isMeant ? path : path === null ? null : name));
  const corrected = names.includes(null) ? null : csvLine(names.map(String), delimiter);
  const issues: RowIssue[] = columns.flatMap(({ name, path, isMeant }, index) => {
    if (path !== null && !isMeant) return [];
    const message = name === '' ? 'has no name' : unknownField(name);
    const issue = { ...at, field: name, message, column: index + 1, value: name, corrected };
    return [issue, ...(path === null ? strayCells(name, index, body) : [])];
  });
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

/** With more stray cells, only their column is reported. */
const MOST_STRAY_CELLS = 20;

/** Reports each value below an unknown column as a mistake of its row, if there are only a few. */
function strayCells(field: string, index: number, body: readonly CsvRecord[]): RowIssue[] {
  const stray = body.flatMap(({ record, line }, at) =>
    isFilled(record, index) ? [{ row: at + 1, line, value: record[index]?.trim() ?? '' }] : [],
  );
  if (stray.length > MOST_STRAY_CELLS) return [];
  return stray.map((one) => ({ ...one, field, column: index + 1, message: 'is in a column that is not known' }));
}

export const onlyOne = (names: readonly string[]): string | null => (names.length === 1 ? (names[0] ?? null) : null);

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

/** Reads the rows of CSV (with a header) or NDJSON (an UpdateOrder a line), and finds all mistakes of form at once. */
export async function readRows(text: string): Promise<ReadRows> {
  const plain = plainText(text);
  const first = plain.trimStart().charAt(0);
  if (first === '') return failed('The file is empty.');
  if (first === '[') return failed('The file is one JSON array. Write one JSON object per line, or use CSV.');
  return first === '{' ? readNdjson(plain) : readCsv(plain);
}

/** Makes all line breaks alike, so that lines are counted as editors count them. */
export const plainText = (text: string): string => text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');

const failed = (message: string, line: number | null = null): ReadRows => ({
  rows: [],
  issues: [{ row: null, line, field: null, message }],
});

function readNdjson(text: string): ReadRows {
  const rows: RawRow[] = [];
  const issues: RowIssue[] = [];
  const ends: { row: number; line: number }[] = [];
  for (const [index, source] of text.split('\n').entries()) {
    if (source.trim() === '') continue;
    const at = { row: ends.length + 1, line: index + 1 };
    ends.push(at);
    const parsed = parsedJson(source);
    if (parsed === null) {
      issues.push({ ...at, field: null, message: 'is not a JSON object', ...brokenJson(source) });
      continue;
    }
    const read = rowOf(at, parsed, writtenJson(source, parsed));
    rows.push(...read.rows);
    // If a name is repeated, JSON.parse keeps the last value; another reader might take the first.
    const repeated = repeatedName(source);
    if (repeated !== null) issues.push({ ...at, field: repeated, message: 'is given twice' });
    issues.push(...read.issues);
  }
  return { rows, issues, form: { delimiter: null, ends, markColumn: 0 } };
}

/** One row from an object with the fields of UpdateOrder. */
export function rowOf(
  at: { row: number; line: number },
  given: Record<string, unknown>,
  written?: WrittenRow,
): ReadRows {
  const { values, unknown } = fieldsOf(given);
  return {
    rows: [{ ...at, values, hasUnknown: unknown.length > 0, ...(written && { written }) }],
    issues: unknown.map((one) => ({ ...at, ...(written && { column: written.columnOf(one.field) }), ...one })),
  };
}

/** Finds where a line stops being JSON, and corrects it if only a comma, a brace or quotes are wrong. */
function brokenJson(source: string): Pick<RowIssue, 'column' | 'corrected'> {
  const repairs = [source.replace(/,(\s*[}\]])/g, '$1'), `${source}}`, source.replaceAll("'", '"')];
  return { column: brokenAt(source), corrected: repairs.find((one) => parsedJson(one) !== null)?.trim() ?? null };
}

function brokenAt(source: string): number | null {
  try {
    JSON.parse(source);
    return 1;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const [, position] = /position (\d+)/.exec(error.message) ?? [];
    return position === undefined ? source.trimEnd().length + 1 : Number(position) + 1;
  }
}

const writtenJson = (source: string, parsed: Record<string, unknown>): WrittenRow => ({
  columnOf(field) {
    let column: number | null = null;
    repeatedName(source, (path, at) => {
      if (squashed(path) === squashed(field)) column ??= at + 1;
    });
    return column;
  },
  nameOf: () => null,
  corrected(values) {
    const put = (object: Record<string, unknown>, group: string): Record<string, unknown> =>
      Object.fromEntries(
        Object.entries(object).map(([name, value]) => {
          const inner = group === '' ? groupNamed(name) : null;
          if (inner !== null && isRecord(value)) return [name, put(value, inner)];
          return [name, values.get(fieldNamed(group ? `${group}.${name}` : name) ?? '') ?? value];
        }),
      );
    return JSON.stringify(put(parsed, ''));
  },
});

export function parsedJson(source: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(source);
    return isRecord(parsed) ? parsed : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function fieldsOf(
  given: Record<string, unknown>,
  group = '',
  fields = { values: new Map<FieldPath, unknown>(), unknown: [] as { field: string; message: string }[] },
) {
  const groups = new Set<string>();
  for (const [name, value] of Object.entries(given)) {
    // In ProtoJSON null means unset.
    if (value === null || (!group && squashed(name) === MARK)) continue;
    const whole = group ? `${group}.${name}` : name;
    const nested = group ? null : groupNamed(name);
    const path = fieldNamed(whole);
    if (nested && groups.has(nested)) fields.unknown.push({ field: whole, message: 'is given twice' });
    else if (nested && isRecord(value)) {
      groups.add(nested);
      fieldsOf(value, nested, fields);
    } else if (nested) fields.unknown.push({ field: whole, message: 'is not an object' });
    else if (path === null) fields.unknown.push({ field: whole, message: unknownField(whole) });
    else if (fields.values.has(path)) fields.unknown.push({ field: whole, message: 'is given twice' });
    else fields.values.set(path, value);
  }
  return fields;
}
