/** Widths, cuts and harmless text. Widths are in terminal cells; SGR sequences (ours, from paint) take none. */

const ESCAPE = String.fromCharCode(27);
const SGR = new RegExp(`${ESCAPE}\\[[0-9;]*m`, 'g');
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}]/u;
const ZERO = /\p{M}|[\u200b\u200c]|\u200d/u;

export const unpainted = (text: string): string => text.replace(SGR, '');

/** Terminal cells that the text takes. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of unpainted(text)) width += ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** Cuts plain text to a width, with an ellipsis where something was cut. */
export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  if (width < 1) return '';
  let kept = '';
  for (const character of text) {
    if (textWidth(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

export const padEnd = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - textWidth(text)));
export const padStart = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - textWidth(text))) + text;

/** Breaks plain text at spaces; a word longer than the width stands on a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (line && textWidth(line) + 1 + textWidth(word) > width) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  return line ? [...lines, line] : lines;
}

/**
 * Text from elsewhere made harmless for a terminal: control characters (an escape sequence could repaint the
 * screen), line breaks, and the marks that turn the direction of writing become a visible replacement.
 */
export const harmless = (text: string): string =>
  text.replace(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');

/** `harmless` for every string in a document; what views are given. */
export function harmlessDocument<T>(document: T): T {
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return harmless(value);
    if (Array.isArray(value)) return value.map(walk);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [harmless(name), walk(inner)]));
  };
  return walk(document) as T;
}

/** JSON on one line or indented; characters that a terminal might act on are escaped. */
export const harmlessJson = (document: unknown, indent = 0): string =>
  JSON.stringify(document, null, indent).replace(
    /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** `1 traveller`, `2 travellers`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
