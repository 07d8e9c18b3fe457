import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CreatedIntent, Offer, OfferDetailsResponse, Order } from '../../src/wire/flights/index.ts';
import { inMemory } from '../cli/memory.ts';
import { cases } from '../proof-only.ts';
import { farelockIn, PASSENGER, type Runner, type Served, serveIn } from './farelock.ts';

/** The lowcost journey, each step a process of its own where all is embedded: offers that land late, a fare menu, documents, the ticket. */

const DOCUMENTS = { nationality: 'PT', passport_number: 'CB123456', passport_expiry: '2099-05-01' };

const server = farelockIn();
const embedded = inMemory(farelockIn());
let remote: Runner;
let served: Served;
beforeAll(async () => {
  served = await serveIn(server);
  remote = inMemory(farelockIn({ FARELOCK_FLIGHTS_URL: served.flightsUrl, FARELOCK_RPC_URL: served.rpcUrl }));
  remote.env.FARELOCK_KEYPAIR = join(remote.home, 'me.json');
  await remote.run(['wallet', 'new']);
  await remote.run(['wallet', 'airdrop', '--sol', '1', '--usdc', '5000']);
});
afterAll(async () => {
  await served?.stop();
  for (const runner of [server, embedded, remote]) runner?.close();
});

const units = (decimal: string) => BigInt(Math.round(Number(decimal) * 1e6));
const balance = async (farelock: Runner) =>
  units((await farelock.run(['wallet', 'balance', '--json'])).json<{ usdc: string }>().usdc);
const fileIn = (farelock: Runner, name: string, passenger: object): string => {
  const path = join(farelock.home, name);
  writeFileSync(path, JSON.stringify([passenger]));
  return path;
};
const isLowcost = (offer: Offer) => offer.offer_id.startsWith('lowcost:');

describe.each(cases([['over HTTP', () => remote]], [['embedded', () => embedded]]))('%s', (_name, runner) => {
  let intent: CreatedIntent;

  test('search waits for the slower offers, and the fast ones alone come at once', async () => {
    const farelock = runner();
    const search = ['search', 'LIS', 'BER', '--depart', '+30d', '--json', '--wait', '--all-fares', '--limit', '500'];
    const first = (await farelock.run([...search, '--no-wait'])).json<{ status: string; offers: Offer[] }>();
    expect(first.status).toBe('enriching');
    expect(first.offers.filter(isLowcost)).toEqual([]);
    const all = (await farelock.run(search)).json<{ status: string; offers: Offer[]; total_offers: number }>();
    expect(all.status).toBe('complete');
    expect(all.offers.filter(isLowcost).length).toBeGreaterThan(0);
    expect(all.offers).toHaveLength(all.total_offers);
    const prices = all.offers.map((offer) => Number(offer.total_currency !== 'USD') * 1e12 + offer.total_amount);
    expect(prices).toEqual(prices.toSorted((a, b) => a - b));
  });

  test('as NDJSON: a line for each offer, the lowcost ones after the first answer, then the status', async () => {
    const ran = await runner().run(['search', 'LIS', 'BER', '--depart', '+30d', '--ndjson']);
    expect(ran.exitCode).toBe(0);
    const lines = ran.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Offer & { status?: string });
    expect(lines.at(-1)).toMatchObject({ status: 'complete', total_offers: lines.length - 1 });
    const tiers = lines.slice(0, -1).map(isLowcost);
    expect(tiers).toEqual(tiers.toSorted());
    expect(tiers).toContain(true);
  });

  test('offer opens the fare menu, and one of its fares is locked for its own price', async () => {
    const farelock = runner();
    const found = await farelock.run(['search', 'LIS', 'BER', '--depart', '+30d', '--json', '--wait']);
    const { offers } = found.json<{ offers: Offer[] }>();
    const ids = offers.flatMap((offer) => (offer.fare_options ?? []).map((fare) => fare.offer_id));
    const flight = ids.find((id) => id.startsWith('lowcost:')) ?? '';
    const opened = await farelock.run(['offer', flight, '--json']);
    expect(opened.exitCode, opened.stdout).toBe(0);
    const details = opened.json<OfferDetailsResponse & { payment: { amount: string } }>();
    expect(details.payment.amount).toBe('0.10');
    expect(details.fare_menu?.status).toBe('ready');
    const fare = details.fare_menu?.fares.at(-1);
    expect(fare?.offer_id).toBe(`${flight}##${fare?.fare_index}`);
    const created = await farelock.run(['intent', 'create', fare?.offer_id ?? '', '--json']);
    expect(created.exitCode, created.stdout).toBe(0);
    intent = created.json<CreatedIntent>();
    expect(intent.escrow.amount).toBe(fare?.total_amount);
    expect(intent.offer_id).toBe(fare?.offer_id);
  });

  test('without travel documents, or with expired ones, nothing is paid', async () => {
    const farelock = runner();
    const before = await balance(farelock);
    for (const passenger of [PASSENGER, { ...PASSENGER, ...DOCUMENTS, passport_expiry: '2020-01-01' }]) {
      const file = fileIn(farelock, 'wrong.json', passenger);
      const refused = await farelock.run(['book', intent.intent_id, '--passengers', file, '--yes', '--json']);
      expect(refused.exitCode).toBe(2);
      expect(refused.stdout).toMatch(/passport_expiry/);
    }
    expect(await balance(farelock)).toBe(before);
  });

  test('with them it is ticketed, captured, and its order and calendar can be read', async () => {
    const farelock = runner();
    const file = fileIn(farelock, 'right.json', { ...PASSENGER, ...DOCUMENTS });
    const booked = await farelock.run(['book', intent.intent_id, '--passengers', file, '--yes', '--json']);
    expect(booked.exitCode, booked.stdout + booked.stderr).toBe(0);
    expect(booked.json<{ status: string }>().status).toBe('booked');
    const ics = join(farelock.home, 'trip.ics');
    const read = await farelock.run(['order', intent.intent_id, '--json', '--ics', ics]);
    expect(read.exitCode, read.stdout + read.stderr).toBe(0);
    const order = read.json<Order>();
    expect(order).toMatchObject({ status: 'ticketed', booking_reference: expect.stringMatching(/^\w{6}$/) });
    const calendar = readFileSync(ics, 'utf8');
    expect(calendar.match(/BEGIN:VEVENT/g)).toHaveLength(order.slices.flatMap((slice) => slice.segments).length);
    expect(calendar).toContain(order.booking_reference);
    const again = await farelock.run(['order', intent.intent_id, '--ics', ics]);
    expect(again.exitCode).toBe(2);
    expect(existsSync(ics)).toBe(true);
    const piped = await farelock.run(['order', order.order_id, '--ics', '-']);
    expect(piped.stdout).toMatch(/^BEGIN:VCALENDAR/);
  });
});

test('a price that differs at the till is paid back, and said', async () => {
  const farelock = embedded;
  const env = { FARELOCK_SCENARIO: 'price_differs_at_till' };
  const found = await farelock.run(['search', 'LIS', 'BER', '--depart', '+31d', '--json', '--wait', '--all-fares'], {
    env,
  });
  const flight = found.json<{ offers: Offer[] }>().offers.find(isLowcost)?.offer_id ?? '';
  const created = await farelock.run(['intent', 'create', flight, '--json'], { env });
  expect(created.exitCode, created.stdout).toBe(0);
  const { intent_id } = created.json<CreatedIntent>();
  const before = await balance(farelock);
  const file = fileIn(farelock, 'right.json', { ...PASSENGER, ...DOCUMENTS });
  const booked = await farelock.run(['book', intent_id, '--passengers', file, '--yes', '--json'], { env });
  expect(booked.exitCode, booked.stdout).toBe(8);
  expect(booked.json<{ status: string }>().status).toBe('refunded');
  expect(await balance(farelock)).toBe(before);
});
