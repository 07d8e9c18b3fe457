import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Clock } from '../../src/kernel/clock.ts';
import { worldClock } from '../clock.ts';
import { type MemoryOptions, runInMemory, temporaryHome } from './memory.ts';

/** `watch`: looks within a budget, one notice a fall, across kills, clocks and processes. */

let place = temporaryHome();
let aheadMs = 0;
let stop = new AbortController();
/** Sleeping moves the clock on at once; `slept` may stop it. */
let slept: (now: number) => void = () => undefined;
const clock: Clock = {
  now: () => worldClock.now() + aheadMs,
  async sleep(ms, signal) {
    // Shorter pauses are those of a service at work.
    if (ms >= 30_000) aheadMs += ms;
    else await worldClock.sleep(Math.min(ms, 5), signal);
    slept(clock.now());
    await new Promise((resolve) => setImmediate(resolve));
  },
};
beforeEach(() => {
  place = temporaryHome();
  aheadMs = 0;
  stop = new AbortController();
  slept = () => undefined;
});
afterEach(() => place.close());

const run = (line: string, options: MemoryOptions = {}) =>
  runInMemory(line.split(' '), {
    environment: { FARELOCK_HOME: place.home, FARELOCK_LOWCOST_MS: '5' },
    clock,
    interrupted: stop.signal,
    ...options,
  });
interface LookLine {
  number: number;
  status: string;
  price: string;
  is_below: boolean;
  at: string;
  paid_amount: string;
  notices: { way: string; state: string }[];
}
const linesOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as LookLine);
const ROUTE = 'watch LIS BER --depart +30d';
const payments = async () => {
  const { payments: all } = (await run('payments list --limit 200 --json')).json() as { payments: { state: string }[] };
  return all.filter(({ state }) => state === 'answered');
};
/** Stops the watch after so many hours. */
const stopAfter = (hours: number) => {
  const endMs = clock.now() + hours * 3_600_000;
  stop = new AbortController();
  const ending = stop;
  slept = (now) => now >= endMs && ending.abort(new Error('enough'));
};

test('the budget is said and agreed to first; a dry run, a refusal and a budget that is too small pay nothing', async () => {
  const plan = await run(`${ROUTE} --no-basic --below 90 --every 4h --daily 0.60 --until +10d --dry-run`, {
    terminal: true,
    columns: 200,
  });
  expect(plan.stdout).toContain(
    'Watch LIS → BER, Mon 21 Dec 2026, --no-basic, 6 looks a day of 0.10 USDC, at most 0.60 USDC a day, until Tue 1 Dec 2026; at most',
  );
  const asked = await run(`${ROUTE} --below 90`, { terminal: true, answers: [false] });
  expect([asked.exitCode, asked.asked]).toEqual([6, ['Pay up to 0.60 USDC a day?']]);
  const small = await run(`${ROUTE} --below 90 --every 1h --daily 0.60 --yes`);
  expect([small.exitCode, small.stderr]).toEqual([2, expect.stringContaining('Use --daily 2.40, or --every 4h.')]);
  const alone = await run(`${ROUTE} --below 90`);
  expect(alone.exitCode).toBe(2);
  expect(await payments()).toEqual([]);
});

test('a look each interval within the budget of 24 hours, across a stop; below the threshold it says so once, by each way, and exits 0', async () => {
  const told = join(place.home, 'told.txt');
  const tell = join(place.home, 'tell.sh');
  writeFileSync(tell, `#!/bin/sh\necho "$WATCH_ID $WATCH_PRICE $WATCH_TITLE $1" >> '${told}'\n`);
  chmodSync(tell, 0o700);
  stopAfter(26);
  const first = await run(`${ROUTE} --below 20 --every 4h --daily 0.60 --yes --json`);
  expect(first.exitCode).toBe(130);
  const looks = linesOf(first.stdout.replace(/\n\{"error[\s\S]*/, ''));
  expect(looks.length).toBeGreaterThanOrEqual(6);
  expect(looks.every(({ status, paid_amount }) => status === 'found' && paid_amount === '0.10')).toBe(true);
  const gaps = looks.slice(1).map(({ at }, index) => Date.parse(at) - Date.parse(looks[index]?.at ?? ''));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(4 * 3_600_000);
  expect(await payments()).toHaveLength(looks.length);

  stop = new AbortController();
  slept = () => undefined;
  const fall = await run(
    `${ROUTE} --below 5000 --notify page --notify mail:ana@example.com --notify command:${tell} --yes --json`,
  );
  expect(fall.exitCode, fall.stderr).toBe(0);
  const [only] = linesOf(fall.stdout);
  expect(only).toMatchObject({ number: 1, is_below: true });
  const pages = readFileSync(join(place.home, 'outbox', 'pages.ndjson'), 'utf8')
    .trim()
    .split('\n');
  expect(pages).toHaveLength(1);
  expect(JSON.parse(pages[0] ?? '')).toMatchObject({
    event: 'fare_fell',
    fields: { price: only?.price, below: '5000.00' },
  });
  expect(readdirSync(join(place.home, 'outbox', 'mail'))).toHaveLength(1);
  expect(readFileSync(told, 'utf8')).toMatch(new RegExp(`^wch_\\w+ ${only?.price} LIS → BER, \\w+ \\d+ Dec 2026 \\n$`));

  // Still below: no second notice.
  stopAfter(9);
  const again = await run('watch resume --json');
  expect(again.exitCode).toBe(130);
  expect(readFileSync(told, 'utf8').trim().split('\n')).toHaveLength(1);
  const history = (await run('watch history --json')).json() as unknown as { looks: LookLine[]; paid_amount: string };
  expect(history.looks.length).toBeGreaterThanOrEqual(3);
  expect(history.looks[0]?.notices.map(({ state }) => state)).toEqual(['sent', 'sent', 'sent']);
  expect(history.paid_amount).toBe(`0.${history.looks.length}0`);
});

test('a clock that is set back or jumps ahead buys no look beyond the budget; at its end without a fall it exits 8', async () => {
  stopAfter(9);
  await run(`${ROUTE} --below 20 --every 4h --until +2d --yes`);
  const before = (await payments()).length;
  aheadMs -= 9 * 3_600_000;
  stopAfter(3);
  expect((await run('watch resume')).exitCode).toBe(130);
  expect((await payments()).length - before).toBeLessThanOrEqual(1);
  aheadMs += 100 * 3_600_000;
  stop = new AbortController();
  slept = () => undefined;
  const over = await run('watch resume', { terminal: true });
  expect([over.exitCode, over.stderr]).toEqual([8, expect.stringContaining('the price was not seen to fall')]);
  expect((await run('watch resume')).exitCode).toBe(3);
});

test('looks of a time that the clock was set back from count in the budget of 24 hours', async () => {
  stopAfter(8.2);
  await run(`${ROUTE} --below 20 --every 8h --daily 0.30 --yes`);
  for (let times = 0; times < 3; times++) {
    aheadMs -= 8.2 * 3_600_000;
    stopAfter(8.2);
    await run('watch resume');
  }
  expect(await payments()).toHaveLength(3);
});

test('two that follow one watch make each look once', async () => {
  stopAfter(1);
  await run(`${ROUTE} --below 20 --every 4h --yes`);
  stopAfter(10);
  const both = await Promise.all([run('watch resume --json'), run('watch resume --json')]);
  expect(both.map(({ exitCode }) => exitCode)).toEqual([130, 130]);
  const { looks } = (await run('watch history --json')).json() as unknown as { looks: LookLine[] };
  // The last one may have been stopped before it was paid.
  const found = looks.filter(({ status }) => status === 'found').length;
  expect([found, looks.length]).toContain((await payments()).length);
  expect(new Set(looks.map(({ number }) => number)).size).toBe(looks.length);
  expect(looks.length).toBeLessThanOrEqual(4);
});

test('an offer is watched until it is gone; ended, it is not resumed; the file of its command has to be a program', async () => {
  await run('search LIS BER --depart +30d --no-wait', { terminal: true });
  const gone = await run('watch 1 --below 1 --every 15m --yes --json', { terminal: true });
  expect(gone.exitCode).toBe(8);
  const looks = linesOf(gone.stdout);
  expect(looks[0]).toMatchObject({ status: 'found', paid_amount: '0.01' });
  expect(looks.at(-1)).toMatchObject({ status: 'failed', paid_amount: '0.00' });
  expect((await run('watch resume')).exitCode).toBe(3);
  const list = (await run('watch list --json')).json() as { watches: { state: string }[] };
  expect(list.watches.map(({ state }) => state)).toEqual(['ended']);
  const wrong = await run(`${ROUTE} --below 1 --notify command:./none.sh --yes`);
  expect([wrong.exitCode, existsSync(join(place.home, 'none.sh'))]).toEqual([2, false]);
});
