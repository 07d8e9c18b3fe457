import { afterEach, expect, test, vi } from 'vitest';
import { plainPaint } from '../../src/terminal/paint.ts';
import { createProgress } from '../../src/terminal/terminal.ts';

/** Whoever looks away from a long wait is called back, as far as the terminal can. */

afterEach(() => vi.restoreAllMocks());

/** What a wait of so many milliseconds wrote, phase lines apart. */
function afterWait(ms: number, environment: Readonly<Record<string, string>>, isTTY = true, columns = 80): string {
  let written = '';
  const stderr = { isTTY, columns, rows: 24, write: (text: string) => (written += text) };
  const progress = createProgress(stderr, false, plainPaint, environment);
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
  progress.phase('Ticketing');
  now.mockReturnValue(1_000 + ms);
  progress.ended('The flight is booked.');
  return written.replace('Ticketing…\n', '');
}

test.each<[string, Record<string, string>, string]>([
  ['any terminal', { TERM: 'xterm-256color' }, '\u0007'],
  ['iTerm2', { TERM_PROGRAM: 'iTerm.app' }, '\u001b]9;The flight is booked.\u001b\\\u0007'],
  ['kitty', { TERM: 'xterm-kitty' }, '\u001b]99;;The flight is booked.\u001b\\\u0007'],
])(
  'a wait of more than 5 s ends with the bell, and a notification where it is known: %s',
  (_name, environment, expected) => {
    expect(afterWait(6_000, environment)).toBe(expected);
  },
);

test('a short wait, a log and a terminal that prints everything get neither', () => {
  expect(afterWait(4_000, { TERM_PROGRAM: 'iTerm.app' })).toBe('');
  expect(afterWait(60_000, { TERM: 'dumb' })).toBe('');
  expect(afterWait(60_000, { CI: 'true' })).toBe('');
  expect(afterWait(60_000, {}, false)).toBe('');
});

test('a terminal of no columns, where a spinner would clear lines for ever, is treated as a log', () => {
  expect(afterWait(6_000, { TERM: 'xterm-256color' }, true, 0)).toBe('');
});
