/**
 * The clusters that a terminal draws as one character, and their cells. Latin text and box drawing are counted here; the
 * rest of the world (wide characters, emoji, combining marks) is measured by a library that takes 20 ms to load and is
 * loaded when there is such text to show (`readyFor`).
 */
interface Clusters {
  split(text: string): string[];
  widthOf(cluster: string): number;
}

/** One cell each, and none of them joins with another. */
const PLAIN =
  /^[ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0377\u037a-\u037f\u0384-\u03ff\u0400-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u2043\u2190-\u21ff\u2500-\u259f\u25a0-\u25fc\u2713\u2717\u2800-\u28ff\ufffd]*$/;

/** Near enough for lines that are drawn before the library is there: a spinner, a review, a provisional list. */
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

/** The library, once it was needed: a program either shows such text or it doesn't. */
let exactly: Clusters | null = null;

const isPlain = (text: string): boolean => PLAIN.test(text);

/** Makes the widths of this text exact; null where they are already. */
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

/** Text without colour or links, character by character as a terminal draws it. */
export const clustersOf = (text: string): string[] => (isPlain(text) ? [...text] : (exactly ?? roughly).split(text));

/** Cells of text without colour or links. */
export function cellsOf(text: string): number {
  if (isPlain(text)) return text.length;
  const { split, widthOf } = exactly ?? roughly;
  return split(text).reduce((sum, cluster) => sum + widthOf(cluster), 0);
}
