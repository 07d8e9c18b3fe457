import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DaysDocument } from '../../src/cli/commands/search/result.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { textWidth } from '../../src/terminal/text.ts';
import type { SearchResponse } from '../../src/wire/flights/index.ts';
import { worldClock } from '../clock.ts';
import { proofTest } from '../proof-only.ts';
import { type MemoryOptions, runInMemory, temporaryHome } from './memory.ts';

/** `search --flex` and `--cheapest-day` against the real embedded service: many paid searches, one total. */

/** The wait for a lower price moves the clock; everything else takes its time. */
function jumpingClock(): Clock & { jump(ms: number): void } {
  let aheadMs = 0;
  return {
    now: () => worldClock.now() + aheadMs,
    sleep: async (ms, signal) => {
      if (signal?.aborted) return;
      if (ms < 5_000) return worldClock.sleep(ms, signal);
      aheadMs += ms;
      await worldClock.sleep(1);
    },
    jump: (ms) => {
      aheadMs += ms;
    },
  };
}

const place = temporaryHome();
const clock = jumpingClock();
/** Each command a minute after the one before: the searches of that one don't make this one dearer. */
const run = (line: string, options: MemoryOptions = {}) => {
  clock.jump(61_000);
  return runInMemory(line.split(' '), {
    clock,
    ...options,
    environment: { FARELOCK_HOME: place.home, FARELOCK_LOWCOST_MS: '20', ...options.environment },
  });
};
const usdc = async () => Number((await run('wallet balance --json')).json().usdc_atomic);
const documentOf = (text: string) => JSON.parse(text) as DaysDocument;
const code = (ran: { json(): Record<string, unknown> }) => (ran.json().error as { code: string }).code;

beforeAll(async () => {
  await run('wallet show');
});
afterAll(() => place.close());

describe('search --flex', () => {
  test('says the total, pays each day once, and marks the cheapest and the day asked for', async () => {
    const before = await usdc();
    const ran = await run('search LIS BER --depart +40d --flex 2 --json');
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    expect(ran.stderr).toMatch(/^5 searches at 0\.10 USDC each: 0\.50 USDC, at most 1\.00 if the price rises\.$/m);
    expect(before - (await usdc())).toBe(500_000);
    const found = documentOf(ran.stdout);
    expect(found.departures).toHaveLength(5);
    expect([found.returns, found.searches, found.paid_amount]).toEqual([null, 5, '0.50']);
    expect(found.payments.map(({ amount }) => amount)).toEqual(Array(5).fill('0.10'));
    const prices = found.prices.flat().filter((price) => price !== null);
    expect(Number(found.cheapest?.total_amount_decimal)).toBe(Math.min(...prices.map(Number)));
    expect(found.departures).toContain(found.depart_date);
  });

  test('the same again within ten minutes pays nothing; later it pays', async () => {
    const before = await usdc();
    const again = await run('search LIS BER --depart +40d --flex 2 --json');
    expect([documentOf(again.stdout).searches, before - (await usdc())]).toEqual([0, 0]);
    expect(again.stderr).toMatch(/5 days known from the last 10 minutes: not paid again/);
    const one = await run('search LIS BER --depart +41d --flex 2 --json');
    expect(documentOf(one.stdout).searches).toBe(1);
    clock.jump(601_000);
    const later = await run('search LIS BER --depart +40d --flex 1 --json');
    expect(documentOf(later.stdout).searches).toBe(3);
  });

  proofTest('its prices are those that a search of the day shows', async () => {
    const found = documentOf((await run('search LIS MAD --depart +50d --flex 1 --json')).stdout);
    const searched = await run(`search LIS MAD --depart ${found.cheapest?.depart_date} --wait --json`);
    const [first] = (searched.json() as unknown as SearchResponse).offers;
    expect(found.cheapest?.total_amount_decimal).toBe(first?.total_amount_decimal);
    expect(found.cheapest?.owner_name).toBe(first?.owner_name);
  });

  test('a round trip is a grid: returns down, departures across, no way back before the way there', async () => {
    const ran = await run('search LIS BER --depart +60d --return +61d --flex 1 --no-wait --yes --json');
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    const found = documentOf(ran.stdout);
    expect([found.departures.length, found.returns?.length, found.days.length]).toEqual([3, 3, 8]);
    expect(found.prices[0]?.[2]).toBeNull();
    expect(found.days.every((day) => (day.return_date ?? '') >= day.depart_date)).toBe(true);
  });

  test('what is above the cap is asked for, or needs --yes or --max-payment for all of it', async () => {
    const before = await usdc();
    const line = 'search LIS CDG --depart +60d --return +90d --flex 2 --no-wait';
    const nobody = await run(`${line} --json`);
    expect([nobody.exitCode, code(nobody)]).toEqual([6, 'payment_above_cap']);
    const little = await run(`${line} --json --yes --max-payment 2.40`);
    expect([little.exitCode, code(little)]).toEqual([6, 'payment_above_cap']);
    const refused = await run(line, { terminal: true, answers: [false, false] });
    expect(refused.asked).toEqual([
      'Pay up to 4.50 USDC for 25 searches?',
      'Pay 2.50 USDC instead, and wait about 2 minutes for the price to fall?',
    ]);
    expect(refused.stderr.replaceAll('\n', ' ')).toContain(
      '25 searches at 0.10 USDC each: 2.50 USDC in about 2 minutes, or at most 4.50 at once.',
    );
    expect(refused.exitCode).toBe(6);
    expect(await usdc()).toBe(before);
  });

  test('days that are past, or too far ahead, are not searched', async () => {
    const found = documentOf((await run('search LIS VIE --depart today --flex 1 --no-wait --json')).stdout);
    expect(found.departures).toHaveLength(2);
    const far = documentOf((await run('search LIS VIE --depart +360d --flex 1 --no-wait --json')).stdout);
    expect(far.departures).toHaveLength(2);
  });

  test('what is wrong with the question is said before anything is paid', async () => {
    const before = await usdc();
    expect(code(await run('search LIS QQQ --depart +40d --flex 1 --json'))).toBe('invalid_request');
    expect(code(await run('search LIS BER --depart +40d --flex 1 --cheapest-day --json'))).toBe('usage');
    expect(code(await run('search LIS BER --depart +40d --flex 1 --limit 3 --json'))).toBe('usage');
    const plan = (await run('search LIS FRA --depart +40d --flex 3 --dry-run --json')).json();
    expect(plan).toMatchObject({ dry_run: true, searches: 7, price: '0.10', total: '0.70', at_most: '1.00' });
    expect(await usdc()).toBe(before);
  });

  proofTest(
    'on a terminal: a row of days, the asked one in brackets, the cheapest with its mark, what it cost',
    async () => {
      for (const columns of [60, 80, 140]) {
        const ran = await run('search LIS BER --depart +40d --flex 3', { terminal: true, columns });
        expect(ran.exitCode, ran.stderr).toBe(0);
        const lines = ran.stdout.trimEnd().split('\n');
        expect(lines.filter((line) => textWidth(line) > columns)).toEqual([]);
        // In 60 columns there is no room for cents.
        expect(ran.stdout).toMatch(columns === 60 ? /\[\d+\]/ : /\[\d+\.\d\d\]/);
        expect(ran.stdout).toMatch(columns === 60 ? /\d\]?\*/ : /\d\.\d\d\]?\*/);
        expect(ran.stdout).toMatch(/\* cheapest {3}\[ \] the days asked for/);
        expect(ran.stderr).toMatch(/Next: farelock (intent|offer) [\s\S]*farelock search LIS BER --depart 20/);
      }
    },
  );

  test('off a terminal: a row for each day', async () => {
    const ran = await run('search LIS BER --depart +40d --flex 1 --quiet');
    const rows = ran.stdout
      .trimEnd()
      .split('\n')
      .map((row) => row.split('\t'));
    expect(rows).toHaveLength(3);
    expect(rows.every((row) => row.length === 6 && row[2] === 'found')).toBe(true);
    expect(ran.stderr).toBe('');
  });

  test('the cheapest is number 1 of what comes next', async () => {
    const found = documentOf((await run('search LIS BER --depart +40d --flex 1 --json')).stdout);
    const recent = JSON.parse(readFileSync(join(place.home, 'recent-offers.json'), 'utf8')) as {
      numbered: Record<string, string>;
    };
    expect(recent.numbered).toEqual({ '1': found.cheapest?.offer_id });
    expect(statSync(join(place.home, 'recent-prices.json')).mode & 0o777).toBe(0o600);
  });

  test('Ctrl-C shows what was found and paid, and how to go on; nothing of it is paid twice', async () => {
    const interruption = new AbortController();
    const before = await usdc();
    const ran = await run('search LIS AMS --depart +70d --return +90d --flex 2 --no-wait --json --yes', {
      interrupted: interruption.signal,
      // The one thing that is waited for is what is being paid for.
      clock: { now: clock.now, sleep: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 2_000))) },
      onStderr: (text) => {
        if (/Searching 25 days/.test(text)) setTimeout(() => interruption.abort(), 400);
      },
    });
    expect(ran.exitCode, ran.stderr).toBe(130);
    const found = documentOf(ran.stdout);
    const known = found.days.filter((day) => day.status === 'found' || day.status === 'none').length;
    expect(known).toBeGreaterThan(0);
    expect(known).toBeLessThan(25);
    expect(before - (await usdc())).toBe(Number(found.paid_amount) * 1e6);
    expect(ran.stderr).toMatch(/Interrupted: \d+ of 25 days not known\. The same command within 10 minutes/);
    const plan = (await run('search LIS AMS --depart +70d --return +90d --flex 2 --no-wait --dry-run --json')).json();
    expect(plan.searches).toBe(25 - known);
  });
});

describe('search --cheapest-day', () => {
  test('a month is searched for what it costs now: a price that has risen is waited for', async () => {
    // A month of which no day is known: some of them would leave money for a dearer search.
    const line = 'search LIS HEL --depart +45d --cheapest-day --no-wait';
    const { total } = (await run(`${line} --dry-run --json`)).json();
    const before = await usdc();
    const ran = await run(`${line} --max-payment ${total} --json`);
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    const found = documentOf(ran.stdout);
    expect(found.days.length).toBeGreaterThan(27);
    expect(found.days.every((day) => day.status !== 'not_searched')).toBe(true);
    expect(found.payments.every(({ amount }) => amount === '0.10')).toBe(true);
    expect(ran.stderr).toMatch(/USDC, about \d+ (seconds|minutes) of waiting for the price to fall/);
    // One line for each wait: what is known, what it costs now, and when it goes on.
    expect(ran.stderr).toMatch(/^\d+ of \d+ days · a search costs 0\.20 USDC now, continuing in about \d+ seconds/m);
    expect(before - (await usdc())).toBe(found.searches * 100_000);
  });

  proofTest('who would rather wait than pay more pays the lower total, for all of it', async () => {
    const before = await usdc();
    const line = 'search LIS PRG --depart +45d --cheapest-day --no-wait';
    const ran = await run(line, { terminal: true, answers: [false, true] });
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(ran.stdout).not.toContain('·  not searched');
    expect(before - (await usdc())).toBeLessThanOrEqual(3_100_000);
    expect(ran.stderr).toMatch(/Paid (2\.[89]|3\.[01])0 USDC for \d+ searches/);
  });

  proofTest(
    'Ctrl-C while it waits for the price shows the days that are known; the rest is paid the next time',
    async () => {
      const interruption = new AbortController();
      const month = 'search LIS OSL --depart +45d --cheapest-day --no-wait --json';
      const line = `${month} --max-payment ${(await run(`${month} --dry-run`)).json().total}`;
      const before = await usdc();
      const ran = await run(line, {
        interrupted: interruption.signal,
        clock: { now: clock.now, sleep: (ms, signal) => worldClock.sleep(Math.min(ms, 2_000), signal) },
        onStderr: (text) => {
          if (/costs 0\.20 USDC now/.test(text)) interruption.abort();
        },
      });
      expect(ran.exitCode, ran.stderr).toBe(130);
      const first = documentOf(ran.stdout);
      expect(first.searches).toBeGreaterThan(9);
      expect(before - (await usdc())).toBe(first.searches * 100_000);
      const again = await run(line);
      const second = documentOf(again.stdout);
      expect(second.searches).toBe(second.days.length - first.searches);
      expect(second.days.every(({ status }) => status === 'found' || status === 'none')).toBe(true);
    },
  );

  proofTest('is a bar for each day on a terminal, no wider than it', async () => {
    for (const columns of [80, 140]) {
      const ran = await run('search LIS BER --depart +45d --cheapest-day --no-wait --yes', { terminal: true, columns });
      const lines = ran.stdout.trimEnd().split('\n');
      expect(lines.filter((line) => textWidth(line) > columns)).toEqual([]);
      expect(lines.filter((line) => /█/.test(line)).length).toBeGreaterThan(20);
      expect(lines.filter((line) => /^\[/.test(line))).toHaveLength(1);
    }
  });
});
