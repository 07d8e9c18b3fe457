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

/** A line without drawings and columns, with the same information. */
export const spokenLine = (line: string): string =>
  WORDS.reduce((text, [sign, word]) => text.replace(sign, word), line).trim();

/** The lines of a view; one that was only drawn is left out. */
export const spokenLines = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => {
    const text = spokenLine(line);
    return text === '' && line.trim() !== '' ? [] : [text];
  });
