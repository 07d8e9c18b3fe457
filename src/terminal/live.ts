import type { Clock } from '../kernel/clock.ts';
import type { Environment, Output, Streams } from './streams.ts';
import type { Terminal } from './terminal.ts';
import { textWidth, wrap } from './text.ts';

const ESCAPE = '\u001b[';
const CLEAR_LINE = `${ESCAPE}K`;
const CLEAR_BELOW = `${ESCAPE}J`;

/** A terminal that knows this sequence shows the whole frame at once; others ignore it. */
const BEGIN_FRAME = `${ESCAPE}?2026h`;

const END_FRAME = `${ESCAPE}?2026l`;
const DEFAULT_ROWS = 24;

/**
 * Draws a few lines on a terminal that change in place: the provisional list while slower offers land. Each frame is
 * one write over the last. A line is overwritten before its rest is erased, so that nothing flickers. The height of the
 * last frame depends on the present width: a terminal that was made narrower has wrapped it.
 */
export function createLive(output: Output) {
  let last: readonly string[] = [];
  let lastText = '';
  const columns = () => Math.max(1, output.columns ?? 80);
  const rowsOf = (line: string) => Math.max(1, Math.ceil(textWidth(line) / columns()));
  // After a line as wide as the terminal, the cursor is on its last cell, which would be erased.
  const whole = (line: string) => (textWidth(line) < columns() ? `${line}${CLEAR_LINE}` : line);
  const up = () => {
    const rows = last.reduce((sum, line) => sum + rowsOf(line), 0) - 1;
    return `\r${rows > 0 ? `${ESCAPE}${rows}A` : ''}`;
  };
  return {
    /** Replaces what was drawn. Lines are cut to the height of the terminal; the last one always shows. */
    draw(lines: readonly string[]): void {
      const most = Math.max(2, (output.rows ?? DEFAULT_ROWS) - 1);
      const shown = lines.length > most ? [...lines.slice(0, most - 1), ...lines.slice(-1)] : lines;
      const text = shown.map(whole).join('\r\n');
      if (text === lastText) return;
      // Only the line with the spinner has changed, and the cursor is on it.
      const sameList = last.length === shown.length && shown.slice(0, -1).every((line, index) => line === last[index]);
      const end = shown.at(-1) ?? '';
      output.write(
        sameList && rowsOf(last.at(-1) ?? '') === 1
          ? `\r${whole(end)}`
          : `${BEGIN_FRAME}${last.length > 0 ? up() : ''}${text}${CLEAR_BELOW}${END_FRAME}`,
      );
      last = shown;
      lastText = text;
    },
    /** Removes the lines: the cursor is then where the first one began. */
    clear(): void {
      if (last.length > 0) output.write(`${up()}${CLEAR_BELOW}`);
      last = [];
      lastText = '';
    },
  };
}

/** The part of the context of a command that redrawing needs. */
interface Drawn {
  readonly terminal: Terminal;
  readonly streams: Streams;
  readonly environment: Environment;
  readonly clock: Clock;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 120;

/** True if a person watches, on a terminal that can redraw lines. */
export function canDrawLive({ terminal, streams, environment }: Omit<Drawn, 'clock'>): boolean {
  const { json, quiet, plain } = terminal.settings;
  if (plain) return false;
  return streams.stdout.isTTY && streams.stderr.isTTY && environment.TERM !== 'dumb' && !json && !quiet;
}

/** Draws lines on stderr in place, with a spinner under them. */
export function openLiveSign({ terminal, streams, clock }: Omit<Drawn, 'environment'>) {
  const live = createLive(streams.stderr);
  const stopping = new AbortController();
  let above: readonly string[] = [];
  let text = '';
  let frame = 0;
  const draw = () => {
    const { paint, width } = terminal.asideScreen;
    const sign = paint.accent(FRAMES[frame % FRAMES.length] ?? '');
    const said = wrap(text, width - 2).map((line, at) => `${at === 0 ? sign : ' '} ${paint.dim(line)}`);
    live.draw(above.length > 0 ? [...above, '', ...said] : said);
  };
  const turn = async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(FRAME_MS, stopping.signal);
      frame++;
      if (!stopping.signal.aborted) draw();
    }
  };
  let turning: Promise<void> | null = null;
  return {
    show(lines: readonly string[], said: string): void {
      terminal.settle();
      above = lines;
      text = said;
      draw();
      turning ??= turn();
    },
    /** Takes everything off the screen. */
    async stop(): Promise<void> {
      stopping.abort();
      await turning;
      live.clear();
    },
  };
}
