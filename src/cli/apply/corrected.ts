import { extname } from 'node:path';
import { readBounded } from '../../kernel/bounded-file.ts';
import { writeOnce } from '../../kernel/storage.ts';
import { csvLine, type FileForm, MARK, parsedJson, plainText, type ReadRows, type RowIssue } from './read.ts';

/**
 * Returns the whole file, since rows of one order must stay together, with every correction that is certain. If rows
 * stay wrong, a first column or field (`mistake`) says why.
 * @returns null if a part of the file could not be read, or nothing would change
 */
export function correctedText(text: string, { form }: ReadRows, issues: readonly RowIssue[]) {
  if (!form) return null;
  const byRow = new Map<number, RowIssue[]>();
  for (const issue of issues) {
    const same = byRow.get(issue.row ?? 0);
    if (same) same.push(issue);
    else byRow.set(issue.row ?? 0, [issue]);
  }
  const lines = plainText(text).split('\n');
  let at = 0;
  let corrected = 0;
  const pieces = form.ends.map(({ row, line }) => {
    const whole = lines.slice(at, line).join('\n');
    at = line;
    const [lead = ''] = BEFORE_ROW.exec(whole) ?? [];
    const wrong = byRow.get(row) ?? [];
    const certain = wrong.every((issue) => issue.corrected != null) ? (wrong[0]?.corrected ?? null) : null;
    if (certain !== null) corrected += wrong.length;
    const left = certain === null ? wrong : [];
    const why = left.map(({ field, message }) => (field ? `${field} ${message}` : message)).join('; ');
    return { row, lead, source: unmarked(certain ?? whole.slice(lead.length), form), why };
  });
  const isMarked = form.markColumn <= 1 && pieces.some(({ row, why }) => row > 0 && why !== '');
  const rows = pieces.map(
    ({ row, lead, source, why }) => `${lead}${isMarked ? marked(source, row === 0 ? MARK : why, form) : source}`,
  );
  const plain = [...rows, ...lines.slice(at)].join('\n');
  const broken = text.includes('\r\n') ? plain.replaceAll('\n', '\r\n') : plain;
  const written = text.startsWith(BYTE_ORDER_MARK) ? `${BYTE_ORDER_MARK}${broken}` : broken;
  return written === text ? null : { text: written, corrected, left: issues.length - corrected, isMarked };
}

/** Tells Excel that the file is UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF';

/** Matches empty lines, and Excel's line that names the delimiter. */
const BEFORE_ROW = /^\n*(?:"?sep=.[^\n]*\n+)?/i;

function marked(source: string, mark: string, { delimiter }: FileForm): string {
  if (delimiter !== null) return `${csvLine([mark], delimiter)}${delimiter}${source}`;
  if (mark === '' || parsedJson(source) === null) return source;
  return source.replace(
    /^\s*\{\s*(\}?)/,
    (_, end: string) => `{${JSON.stringify(MARK)}:${JSON.stringify(mark)}${end || ','}`,
  );
}

/** Removes the mark of an earlier correction from a row. */
function unmarked(source: string, { delimiter, markColumn }: FileForm): string {
  if (delimiter === null) return source.replace(/^\{"mistake":"(?:[^"\\]|\\.)*",?/, '{');
  if (markColumn !== 1) return source;
  const [quoted = ''] = /^"(?:[^"]|"")*"/.exec(source) ?? [];
  const end = source.indexOf(delimiter, quoted.length);
  return end < 0 ? source : source.slice(end + delimiter.length);
}

/**
 * Writes the text beside the given file, as `<name>.corrected.csv` or, if another text has that name, as
 * `<name>.corrected-2.csv` and so on.
 * @throws Problem of storage
 */
export function writeCorrected(file: string, text: string): string {
  const extension = extname(file);
  const stem = file.slice(0, file.length - extension.length).replace(/\.corrected(-\d+)?$/, '');
  for (let count = 1; ; count++) {
    const path = `${stem}.corrected${count > 1 ? `-${count}` : ''}${extension}`;
    if (writeOnce(path, text) || hasText(path, text)) return path;
  }
}

function hasText(path: string, text: string): boolean {
  try {
    return readBounded(path, { mostBytes: MOST_BYTES, isRegular: true })?.toString('utf8') === text;
  } catch {
    return false;
  }
}

/** Room for a given file (at most 64 MB) and its corrections. */
const MOST_BYTES = 256 * 1_048_576;
