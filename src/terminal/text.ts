/**
 * Clusters (what a terminal draws as one character) and their cells. Latin text and box drawing are counted here. The
 * rest of the world (wide characters, emoji, combining marks) is measured by a library that takes 20 ms to load, and is
 * loaded when there is such text to show (`readyFor`).
 */
interface Clusters {
  split(text: string): string[];
  widthOf(cluster: string): number;
}

/** Characters of one cell that never join with others. */
const PLAIN =
  /^[ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0377\u037a-\u037f\u0384-\u03ff\u0400-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u2043\u2190-\u21ff\u2500-\u259f\u25a0-\u25fc\u2713\u2717\u2800-\u28ff\ufffd]*$/;

/** Good enough for lines that are drawn before the library is loaded: a spinner, a review, a provisional list. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}]/u;
const JOINS = /^[\p{M}\u200b\u200c\u200d]$/u;

const roughly: Clusters = {
  split(text) {
    const clusters: string[] = [];
    for (const character of text) {
      const last = clusters.at(-1);
      if (last !== undefined && (JOINS.test(character) || last.endsWith('\u200d'))) {
        clusters[clusters.length - 1] = last + character;
      } else clusters.push(character);
    }
    return clusters;
  },
  widthOf: (cluster) => (JOINS.test(cluster) ? 0 : WIDE.test(cluster) ? 2 : 1),
};

/** The exact widths of the library, once it is loaded. */
let exactly: Clusters | null = null;

const isPlain = (text: string): boolean => PLAIN.test(text);

/** Loads the library if this text needs it; null if all widths are exact already. */
export function readyFor(text: string): Promise<void> | null {
  if (exactly !== null || isPlain(text)) return null;
  return import('string-width').then(({ default: stringWidth }) => {
    const segmenter = new Intl.Segmenter();
    exactly = {
      split: (whole) => Array.from(segmenter.segment(whole), ({ segment }) => segment),
      widthOf: (cluster) => stringWidth(cluster),
    };
  });
}

/** Splits text without colour or links into what a terminal draws as one character. */
export const clustersOf = (text: string): string[] => (isPlain(text) ? [...text] : (exactly ?? roughly).split(text));

/** Cells of text without colour or links. */
export function cellsOf(text: string): number {
  if (isPlain(text)) return text.length;
  const { split, widthOf } = exactly ?? roughly;
  return split(text).reduce((sum, cluster) => sum + widthOf(cluster), 0);
}

/** Widths, cuts and harmless text. Widths are in terminal cells; colours and links (ours, from paint) take none. */

const ESCAPE = String.fromCharCode(27);
const BELL = String.fromCharCode(7);
/** SGR sequences, and the two halves of an OSC 8 link. */
const DRESS = new RegExp(`(${ESCAPE}\\[[0-9;]*m|${ESCAPE}\\]8;[^${ESCAPE}${BELL}]*(?:${BELL}|${ESCAPE}\\\\))`);
const DRESSES = new RegExp(DRESS.source, 'g');

export const unpainted = (text: string): string => text.replace(DRESSES, '');

/** Terminal cells that the text takes. */
export const textWidth = (text: string): number => cellsOf(text.includes(ESCAPE) ? unpainted(text) : text);

/** Cuts text to a width, with an ellipsis. Keeps clusters whole, and ends colours and links that have begun. */
export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  if (width < 1) return '';
  let kept = '';
  let ending = '';
  let left = width - 1;
  let isFull = false;
  for (const [index, part] of text.split(DRESS).entries()) {
    // The separators of the split, at odd places, are the colours and links.
    if (index % 2 === 1) {
      if (isFull) ending += part;
      else kept += part;
      continue;
    }
    for (const cluster of isFull ? [] : clustersOf(part)) {
      left -= cellsOf(cluster);
      isFull = left < 0;
      if (isFull) break;
      kept += cluster;
    }
  }
  return `${kept.trimEnd()}…${ending}`;
}

export const padEnd = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - textWidth(text)));
export const padStart = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - textWidth(text))) + text;

/** Blanks where a line may end: a number stays with its unit. */
const BREAKS = / (?!(?<=\d )(?:s|min|h|days?|hours?|minutes?|seconds?|USDC|SOL|lamports|[KM]iB)\b)/;

/** Breaks plain text at spaces; a word longer than the width gets a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.replace(/\s+/g, ' ').split(BREAKS).filter(Boolean)) {
    if (line && textWidth(line) + 1 + textWidth(word) > width) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  return line ? [...lines, line] : lines;
}

/** Wraps text behind a mark or a label; further lines begin under the first. */
export const wrapBehind = (mark: string, text: string, width: number): string[] =>
  wrap(text, width - textWidth(mark)).map((line, index) => (index === 0 ? mark : ' '.repeat(textWidth(mark))) + line);

/** Breaks plain text after as many characters as fit: scripts without blanks have no better place. */
export function fold(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  let left = width;
  for (const cluster of clustersOf(text)) {
    const cells = cellsOf(cluster);
    if (cells > left && line !== '') {
      lines.push(line);
      line = '';
      left = width;
    }
    line += cluster;
    left -= cells;
  }
  return [...lines, line];
}

/** Commands are copied in one piece: the terminal itself breaks them. */
const COMMAND = /^(\s*\$|Next:| +farelock) /;

/** Breaks a wide line at blanks; further lines begin under its text, behind its label or mark. Commands stay whole. */
export function brokenLine(line: string, width: number): string {
  const plain = unpainted(line);
  if (textWidth(plain) <= width || COMMAND.test(plain)) return line;
  const label = /^(\s*\S.*? {2,}|\s*[✓✗●○!•] +|\s*)/u.exec(plain)?.[0] ?? '';
  const hang = ' '.repeat(textWidth(label) <= width / 3 ? textWidth(label) : 0);
  const [first = '', ...words] = line.split(BREAKS);
  const lines = [first];
  for (const word of words) {
    const last = lines.at(-1) ?? '';
    if (textWidth(`${last} ${word}`) > width && last.trim() !== '') lines.push(hang + word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join('\n');
}

/**
 * Makes text from elsewhere harmless for a terminal: control characters (an escape sequence could repaint the screen),
 * line breaks, and marks that turn the direction of writing become a visible replacement.
 */
export const harmless = (text: string): string =>
  text.replace(/[\p{Cc}\u061c\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');

/** Makes a line harmless; a dressed line keeps our own colours and links. */
export const harmlessLine = (line: string, isDressed: boolean): string =>
  isDressed
    ? line
        .split(DRESS)
        .map((part, index) => (index % 2 === 1 ? part : harmless(part)))
        .join('')
    : harmless(line);

/** Makes every string of a document harmless, for views. */
export function harmlessDocument<T>(document: T): T {
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return harmless(value);
    if (Array.isArray(value)) return value.map(walk);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [harmless(name), walk(inner)]));
  };
  return walk(document) as T;
}

/** Writes JSON on one line or indented, and escapes characters that a terminal might act on. */
export const harmlessJson = (document: unknown, indent = 0): string =>
  JSON.stringify(document, null, indent).replace(
    /[\u007f-\u009f\u061c\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `3,060` */
export const grouped = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');

/** `1 traveller`, `2 travellers`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;

/** Lines for a screen reader: nothing is drawn, and each sign becomes a word. */

const WORDS: readonly (readonly [RegExp, string])[] = [
  // Lines, boxes, blocks and the frames of a spinner.
  [/[\u2500-\u259f\u2800-\u28ff]+/g, ' '],
  [/[▸❯]/g, ' '],
  [/✓/g, 'Done: '],
  [/✗/g, 'Failed: '],
  [/●/g, 'Now: '],
  [/○/g, 'Next: '],
  [/ *⇄ */g, ' and back to '],
  [/ *→ */g, ' to '],
  [/^ *← */, 'Back: '],
  [/ +· +/g, ', '],
  [/^– /, 'not given: '],
  [/ – /g, ' to '],
  [/ +/g, ' '],
];

/** Removes drawings and columns from a line, and keeps its information. */
export const spokenLine = (line: string): string =>
  WORDS.reduce((text, [sign, word]) => text.replace(sign, word), line).trim();

/** Makes the lines of a view spoken, without pure drawings. */
export const spokenLines = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => {
    const text = spokenLine(line);
    return text === '' && line.trim() !== '' ? [] : [text];
  });
