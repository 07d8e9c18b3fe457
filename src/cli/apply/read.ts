import { repeatedName } from '../../kernel/domain/repeated-names.ts';
import { isRecord } from '../../terminal/index.ts';
import { readCsv } from './csv.ts';
import {
  type FieldPath,
  fieldNamed,
  groupNamed,
  type RawRow,
  type ReadRows,
  type RowIssue,
  unknownField,
  type WrittenRow,
} from './rows.ts';

/**
 * The rows of a CSV file (with a header) or of NDJSON (an UpdateOrder a line), whichever the text is; everything that
 * is wrong with its form is told at once.
 */
export async function readRows(text: string): Promise<ReadRows> {
  // One kind of line break, so that lines are counted as editors count them.
  const plain = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const first = plain.trimStart().charAt(0);
  if (first === '') return failed('The file is empty.');
  if (first === '[') return failed('The file is one JSON array. Write one JSON object per line, or use CSV.');
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
      issues.push({ ...at, field: null, message: 'is not a JSON object', ...brokenJson(source) });
      continue;
    }
    const read = rowOf(at, parsed, writtenJson(source, parsed));
    rows.push(...read.rows);
    // JSON.parse keeps the last of two and says nothing: another reader of the line would see the first.
    const repeated = repeatedName(source);
    if (repeated !== null) issues.push({ ...at, field: repeated, message: 'is given twice' });
    issues.push(...read.issues);
  }
  return { rows, issues };
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

/** Where a line stops being JSON, and the line with a comma or quotes put right, if that is all. */
function brokenJson(source: string): Pick<RowIssue, 'column' | 'corrected'> {
  const repairs = [source.replace(/,(\s*[}\]])/g, '$1'), `${source}}`, source.replaceAll("'", '"')];
  return { column: brokenAt(source), corrected: repairs.find((one) => parsedLine(one) !== null)?.trim() ?? null };
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

/** A field of a group is found by its own name: a row has each name once, or has that mistake. */
const writtenJson = (source: string, parsed: Record<string, unknown>): WrittenRow => ({
  columnOf(field) {
    const leaf = /[^.]*$/.exec(field)?.[0] ?? field;
    const named = [...source.matchAll(/"([^"\\]*)"\s*:/g)].find(
      ([, name = '']) => name === leaf || fieldNamed(name) === field || sameName(name, leaf),
    );
    return named ? named.index + 1 : null;
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

const sameName = (name: string, leaf: string): boolean =>
  name.replace(/[_-]/g, '').toLowerCase() === leaf.toLowerCase();

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
    else if (path === null) fields.unknown.push({ field: whole, message: unknownField(whole) });
    else if (fields.values.has(path)) fields.unknown.push({ field: whole, message: 'is given twice' });
    else fields.values.set(path, value);
  }
  return fields;
}
