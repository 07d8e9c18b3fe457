import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { textWidth } from '../../src/terminal/text.ts';
import type { Offer } from '../../src/wire/flights/index.ts';
import { worldClock } from '../clock.ts';
import { proofTest } from '../proof-only.ts';
import { type MemoryOptions, runInMemory, temporaryHome } from './memory.ts';

/** `search LON BER`: the code of a city is any of its airports, a paid search for each. */

const place = temporaryHome();
const environment = { FARELOCK_HOME: place.home, FARELOCK_LOWCOST_MS: '20' };
const run = (line: string, options: MemoryOptions = {}) =>
  runInMemory(line.split(' '), { ...options, environment: { ...environment, ...options.environment } });
const payments = async () => (await run('payments list --json')).json().payments as unknown[];
const originsOf = (offers: readonly Offer[]) => new Set(offers.map((offer) => offer.slices[0]?.origin_iata));
const PARIS = ['CDG', 'ORY'];

beforeAll(async () => {
  await run('wallet show');
});
afterAll(() => place.close());

describe('off a terminal', () => {
  test('it is not paid for without --yes or --max-payment, and the error says how', async () => {
    const refused = await run('search PAR BER --depart +30d --json');
    expect(refused.exitCode).toBe(2);
    expect(refused.json().error).toMatchObject({
      message: '"PAR" matches 2 airports.',
      fix: expect.stringMatching(/^Choose one of CDG .*; ORY .*, or add --yes or --max-payment to search them all\.$/),
    });
    expect(await payments()).toEqual([]);
  });

  test('a dry run says how many searches it is and what they cost together', async () => {
    const planned = await run('search PAR BER --depart +30d --dry-run --yes --json');
    expect(planned.json()).toMatchObject({
      dry_run: true,
      searches: 2,
      price: '0.10',
      total: '0.20',
      routes: PARIS.map((origin_iata) => ({ origin_iata, destination_iata: 'BER' })),
    });
    expect(await payments()).toEqual([]);
  });

  test('less than they cost together is refused before any is paid', async () => {
    const refused = await run('search PAR BER --depart +30d --max-payment 0.15 --json');
    expect(refused.json().error).toMatchObject({ code: 'payment_above_cap', detail: { total: '0.20' } });
    expect(await payments()).toEqual([]);
  });

  test('each airport is one paid search, and what they found one sorted list', async () => {
    const found = await run('search PAR BER --depart +30d --max-payment 0.40 --limit 100 --json');
    expect(found.exitCode, found.stdout).toBe(0);
    expect(found.stderr).toMatch(/2 searches at 0\.10 USDC each: 0\.20 USDC/);
    expect(found.json()).toMatchObject({
      searches: 2,
      paid_amount: '0.20',
      routes: PARIS.map((origin_iata) => ({ origin_iata, destination_iata: 'BER', status: 'found' })),
    });
    expect(await payments()).toHaveLength(2);
    const offers = found.json().offers as Offer[];
    expect([...originsOf(offers)].toSorted()).toEqual(PARIS);
    const prices = offers.filter((one) => one.total_currency === 'USD').map((one) => Number(one.total_amount_decimal));
    expect(prices).toEqual(prices.toSorted((a, b) => a - b));
    const recent = JSON.parse(readFileSync(join(place.home, 'recent-offers.json'), 'utf8')) as {
      numbered: Record<string, string>;
    };
    expect(recent.numbered['1']).toBe(offers[0]?.offer_id);
  });

  proofTest('the same search pays for nothing that can still be had; another one does', async () => {
    const paid = (await payments()).length;
    const line = 'search PAR BER --depart +33d --wait --limit 100 --yes --json';
    const first = (await run(line)).json();
    expect(first).toMatchObject({ searches: 2, paid_amount: '0.20' });
    const planned = (await run(`${line} --dry-run`)).json();
    expect(planned).toMatchObject({ searches: 0, total: '0.00' });
    const again = await run(line);
    expect(again.json()).toEqual({ ...first, searches: 0, paid_amount: '0.00', payments: [] });
    expect(again.stderr).toMatch(/2 routes known from the last 10 minutes: not paid again\./);
    expect(again.stderr).not.toMatch(/Paid 0/);
    expect(await payments()).toHaveLength(paid + 2);
    const other = (await run(`${line} --adults 2`)).json();
    expect(other).toMatchObject({ searches: 2 });
    // Eleven minutes later it is another market.
    const later = { ...worldClock, now: () => worldClock.now() + 11 * 60_000 };
    expect((await run(line, { clock: later })).json()).toMatchObject({ searches: 2 });
  });

  test('the many days of a search want one airport', async () => {
    const refused = await run('search PAR BER --depart +30d --flex 1 --yes --json');
    expect(refused.json().error).toMatchObject({ message: '"PAR" matches 2 airports.' });
  });
});

describe('on a terminal', () => {
  test('it is a choice beside the airports, by code and by name', async () => {
    for (const text of ['PAR', 'paris']) {
      const planned = await run(`search ${text} BER --depart +30d --dry-run --json`, {
        terminal: true,
        answers: ['PAR'],
      });
      expect(planned.asked).toEqual([`${text}: which airport?`]);
      expect(planned.json()).toMatchObject({ searches: 2 });
    }
  });

  test.each([80, 100, 140])('each line has its airport, there and back, at %i columns', async (columns) => {
    // What was found at another width would not be paid for again.
    const days = `--depart +${columns}d --return +${columns + 7}d`;
    const found = await run(`search PAR BER ${days} --no-wait`, { terminal: true, columns, answers: ['PAR'] });
    expect(found.exitCode, found.stderr).toBe(0);
    expect(found.stdout).toMatch(/^PAR ⇄ BER /m);
    expect(found.stdout).toMatch(/→ CDG \d\d:\d\d–\d\d:\d\d/);
    expect(found.stdout).toMatch(/→ ORY \d\d:\d\d–\d\d:\d\d/);
    expect(found.stdout).toMatch(/← \d\d:\d\d–\d\d:\d\d(\+1)? +(CDG|ORY)/);
    expect(found.stdout.split('\n').every((line) => textWidth(line) <= columns)).toBe(true);
    expect(found.stderr).toMatch(/Paid 0\.\d\d USDC for 2 searches/);
  });
});
