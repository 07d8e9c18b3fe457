import type { Output } from '../../terminal/streams.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { brokenLine, textWidth } from '../../terminal/text.ts';

/** The lines that a walk has written under its questions, so that going back a step can take them away. */
export interface Transcript {
  /** The terminal, whose lines are written down. */
  readonly terminal: Terminal;
  /** Where the next line will stand. */
  mark(): number;
  /** Removes the lines from there on; those that have left the screen stay. Whether it could. */
  takeBack(mark: number): boolean;
  /** The last line of a kind. */
  last(isOne: (line: string) => boolean): string | undefined;
  /** Writes the last lines again, on a screen that was cleared. */
  again(): void;
}

/** Enough to see where the walk stands, and room for the question. */
const AGAIN_LINES = 6;
const ESCAPE = '\u001b[';

export function openTranscript(terminal: Terminal, stderr: Output): Transcript {
  let written: string[] = [];
  // What has gone by before this line can't be taken back: a result stands between, or the screen has scrolled.
  let fixed = 0;
  const keep = (lines: readonly string[]) => void written.push(...lines);
  const columns = () => Math.max(1, stderr.columns ?? 80);
  const rowsOf = (line: string) =>
    brokenLine(line, columns())
      .split('\n')
      .reduce((rows, part) => rows + Math.max(1, Math.ceil(textWidth(part) / columns())), 0);
  const settle = () => {
    fixed = written.length;
  };
  return {
    terminal: {
      ...terminal,
      note(text) {
        keep([text]);
        terminal.note(text);
      },
      review(lines) {
        keep(lines);
        terminal.review(lines);
      },
      aside(lines) {
        keep(lines);
        terminal.aside(lines);
      },
      done(text) {
        keep([`✓ ${text}`]);
        terminal.done(text);
      },
      result(document, view) {
        settle();
        terminal.result(document, view);
      },
      event(document, view) {
        settle();
        terminal.event(document, view);
      },
      tell(lines) {
        settle();
        terminal.tell(lines);
      },
    },
    mark: () => written.length,
    takeBack(mark) {
      const rows = written.slice(mark).reduce((sum, line) => sum + rowsOf(line), 0);
      if (mark < fixed || rows >= (stderr.rows ?? 24)) return false;
      if (rows > 0) stderr.write(`\r${ESCAPE}${rows}A${ESCAPE}J`);
      written = written.slice(0, mark);
      return true;
    },
    last: (isOne) => written.findLast(isOne),
    again() {
      for (const line of written.slice(-AGAIN_LINES)) terminal.note(line);
    },
  };
}
