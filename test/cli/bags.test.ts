import { afterAll, expect, test } from 'vitest';
import { parseUsdc } from '../../src/kernel/money.ts';
import type { CreatedIntent, Intent, Offer, OfferDetailsResponse, Order } from '../../src/wire/flights/index.ts';
import { ANA, runInMemory, temporaryHome } from './memory.ts';

const place = temporaryHome();
afterAll(() => place.close());
const run = (line: string, given: NonNullable<Parameters<typeof runInMemory>[1]> = {}) =>
  runInMemory(line.split(' '), {
    environment: { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20', FARELOCK_LOWCOST_MS: '20' },
    ...given,
  });

const LINE = 'search LIS JFK --depart +30d --bags 2 --limit 500';

test('a row of a list with bags is shown, locked and booked at its price with them; --bags 0 leaves them out', async () => {
  const offers = (await run(`${LINE} --json offers`)).json().offers as Offer[];
  const at = offers.findIndex(({ with_bags }) => with_bags?.way === 'service');
  const offer = offers[at] as Offer;
  const bags = parseUsdc(offer.with_bags?.bags_amount_decimal ?? '');
  const total = parseUsdc(offer.total_amount_decimal) + bags;
  const details = (await run(`offer ${at + 1} --json`)).json() as unknown as OfferDetailsResponse;
  expect(details.offer.with_bags).toEqual(offer.with_bags);
  expect((await run(`offer ${at + 1}`)).stdout).toMatch(/With bags +[\d.]+ USD, [\d.]+ of it for bags/);

  const bare = await run(`intent create ${at + 1} --bags 0 --dry-run --json`);
  expect(bare.exitCode).toBe(0);
  expect(bare.stdout).not.toContain('"bags"');
  const made = (await run(`intent create ${at + 1} --json`)).json() as unknown as CreatedIntent;
  expect(made).toMatchObject({ escrow: { amount: Number(total) }, bags: { checked: 2, total_amount: Number(bags) } });
  expect((await run('intent show')).stdout).toMatch(/With +2 bags each, [\d.]+ USDC of the price/);
  const booked = await run(`book ${made.intent_id} --passengers - --yes --json`, { stdin: JSON.stringify([ANA]) });
  expect(booked.json()).toMatchObject({ status: 'booked' } satisfies Partial<Intent>);
  const order = (await run(`order ${made.intent_id} --json`)).json() as unknown as Order;
  expect(order.bags).toEqual([{ type: 'checked', quantity: expect.any(Number) }]);
  expect(parseUsdc(order.total_amount_decimal)).toBe(total);
});

test('no line of a list with bags is wider than 80 cells, and unknown is said to be unknown', async () => {
  const shown = await run('search VIE JFK --depart +30d --bags 2 --carry-on', { terminal: true, columns: 80 });
  for (const line of shown.stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  expect(shown.stdout).toMatch(/with 2 bags and a cabin/);
  expect(shown.stdout).toMatch(/\+\d+\.\d\d/);
});

test('days are compared without bags, which is said before anything is paid', async () => {
  const days = await run('search LIS BER --depart +30d --flex 1 --bags 1 --json');
  expect([days.exitCode, (days.json().error as { code: string }).code]).toEqual([2, 'usage']);
});
