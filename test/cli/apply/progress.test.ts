import { expect, test } from 'vitest';
import { openProgress } from '../../../src/cli/commands/partner/progress.ts';
import { manualClock } from '../../clock.ts';

/** A run of rows on a terminal, or off one, by a clock that the test moves. */
function rowsOn({ isTTY, quiet = false }: { isTTY: boolean; quiet?: boolean }) {
  const clock = manualClock();
  const lines: string[] = [];
  const paint = Object.assign((text: string) => text, {});
  const context = {
    clock,
    environment: {},
    streams: { stderr: { isTTY, columns: 100, write: (text: string) => lines.push(text) } },
    terminal: {
      settings: { quiet },
      asideScreen: { paint: { accent: paint, dim: (text: string) => text, bad: paint } },
      note: (text: string) => lines.push(text),
      settle: () => undefined,
    },
  };
  const progress = openProgress(context as never, { total: 5000, before: 2000, unit: 'row' });
  const work = async (rows: number, ms: number) => {
    for (let row = 0; row < rows; row++) progress.step(row === 0);
    clock.advance(ms);
    await Promise.resolve();
    await Promise.resolve();
  };
  return { progress, work, lines };
}

test('off a terminal a line every five seconds has the rows of all runs, the rate of this one, and the time left', async () => {
  const { progress, work, lines } = rowsOn({ isTTY: false });
  await work(500, 4_900);
  expect(lines).toEqual([]);
  await work(500, 100);
  expect(lines).toEqual(['3,000 of 5,000 rows, 2 failed, 200 rows/s, 10 s left']);
  await work(0, 5_000);
  expect(lines.at(-1)).toBe('3,000 of 5,000 rows, 2 failed, 100 rows/s, 20 s left');
  progress.end();
  await work(0, 60_000);
  expect(lines.length).toBe(2);
});

test('on a terminal one line begins where the run before ended, and goes when it ends', async () => {
  const { progress, work, lines } = rowsOn({ isTTY: true });
  expect(lines.join('')).toContain('2,000 of 5,000 rows');
  await work(1, 1_000);
  expect(lines.at(-1)).toContain('2,001 of 5,000 rows  1 failed  1.0 rows/s  50 min left');
  progress.end();
  expect(lines.at(-1)).not.toContain('rows');
});

test('--quiet says nothing', async () => {
  const { work, lines } = rowsOn({ isTTY: false, quiet: true });
  await work(10, 60_000);
  expect(lines).toEqual([]);
});
