import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Offer, OfferDetailsResponse } from '../../src/wire/flights/index.ts';
import { runInMemory, temporaryHome } from './memory.ts';

/** What the last list showed is named by its number: an offer, a fare of an itinerary, a fare of a menu. */

const place = temporaryHome();
const run = (line: string) =>
  runInMemory(line.split(' '), {
    environment: { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20', FARELOCK_LOWCOST_MS: '20' },
  });
const numbered = () =>
  (JSON.parse(readFileSync(join(place.home, 'recent-offers.json'), 'utf8')) as { numbered: Record<string, string> })
    .numbered;
beforeAll(async () => {
  await run('wallet show');
});
afterAll(() => place.close());

test('intent create 1.2 locks the second fare of the first itinerary', async () => {
  const found = await run('search LIS BER --depart +30d --no-wait --json offers');
  const offers = found.json().offers as Offer[];
  const at = offers.findIndex((offer) => numbered()[`${offers.indexOf(offer) + 1}.2`] !== undefined);
  const fare = numbered()[`${at + 1}.2`];
  expect(fare).not.toBe(numbered()[`${at + 1}.1`]);
  expect(offers[at]?.fare_options?.map((one) => one.offer_id)).toContain(fare);
  const made = await run(`intent create ${at + 1}.2 --json`);
  expect(made.exitCode, made.stdout).toBe(0);
  expect(made.json().offer_id).toBe(fare);
  const none = await run('intent create 400.2 --json');
  expect([none.exitCode, (none.json().error as { code: string }).code]).toEqual([3, 'offer_not_found']);
});

test('intent create <n>.2 locks fare 2 of the menu that offer <n> opened, for its price', async () => {
  await run('search LIS BER --depart +30d --wait --all-fares --limit 500 --json');
  const [number] = Object.entries(numbered()).find(([, id]) => id.startsWith('lowcost:')) ?? [];
  const menu = (await run(`offer ${number} --json`)).json() as unknown as OfferDetailsResponse;
  const fare = menu.fare_menu?.fares.find((one) => one.fare_index === 2);
  const made = await run(`intent create ${number}.2 --json`);
  expect(made.exitCode, made.stdout).toBe(0);
  expect(made.json()).toMatchObject({ offer_id: fare?.offer_id, escrow: { amount: fare?.total_amount } });
  expect(fare?.offer_id).toMatch(/##2$/);
});
