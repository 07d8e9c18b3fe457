import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Intent, Offer, Order } from '../../src/wire/flights/index.ts';
import { ANA, type MemoryOptions, runInMemory, temporaryHome } from './memory.ts';

/** Two adults and a child with bags: the child is refunded, an adult later, then the rest. */

const place = temporaryHome();
const environment = { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20' };
const run = (line: string, options: MemoryOptions = {}) =>
  runInMemory(line.split(' '), { ...options, environment: { ...environment, ...options.environment } });
const seen = (line: string) => run(line, { terminal: true, columns: 110 });
afterAll(() => place.close());

const BEN = { ...ANA, given_name: 'Ben', email: 'ben@example.com', born_on: '1988-02-01', title: 'mr', gender: 'm' };
const LEO = { ...BEN, given_name: 'Leo', born_on: '2018-12-01' };

const usdc = async () => BigInt(Number((await run('wallet balance --json')).json().usdc_atomic));
const FEE = 100_000n;

test('a family of three is refunded one after the other, and the screen says who flies', async () => {
  const file = join(place.home, 'p.json');
  writeFileSync(file, JSON.stringify([ANA, BEN, LEO]));
  const found = await run(
    'search LIS BER --depart +30d --adults 2 --child-ages 7 --bags 1 --refundable --all-fares --limit 500 --json',
  );
  const offer = (found.json().offers as Offer[]).find(
    (one) =>
      one.total_currency === 'USD' &&
      Number(one.conditions?.refund_penalty_amount) > 0 &&
      !one.identity_documents_required,
  );
  const id = String((await run(`intent ${offer?.offer_id} --bags 2 --json`)).json().intent_id);
  const booked = await run(`book ${id} --passengers ${file} --yes --json`);
  expect(booked.exitCode, booked.stdout).toBe(0);
  const price = BigInt((booked.json() as unknown as Intent).escrow.amount);
  const { passengers = [] } = (await run(`order ${id} --json`)).json() as unknown as Order;
  const back = passengers.map(({ refund_amount }) => BigInt(refund_amount ?? 0));
  expect(passengers.reduce((sum, { paid_amount }) => sum + BigInt(paid_amount ?? 0), 0n)).toBe(price);

  const alone = await seen(`refund ${id} --passenger 1,2 --reason Ill --yes`);
  expect([alone.exitCode, alone.stderr]).toEqual([5, expect.stringMatching(/A child under 12 would fly without/)]);
  const wrong = await run(`refund ${id} --passenger 0 --reason Ill --json`);
  expect([wrong.exitCode, wrong.json()]).toEqual([2, expect.objectContaining({ error: expect.anything() })]);

  const before = await usdc();
  const asked = await seen(`refund ${id} --passenger 3 --reason Ill --yes`);
  expect(asked.exitCode, asked.stderr).toBe(0);
  expect(asked.stderr).toMatch(/Paid for traveller 3: [\d.]+ USDC of [\d.]+ USDC\./);
  expect(asked.stdout).toMatch(/✓ Refund requested for traveller 3 of /);
  const shown = await seen(`refund show ${id}`);
  expect(shown.stdout).toMatch(/Refund of +3 \(child\) [\d.]+ USDC; the others stay/);
  const plan = await seen(`refund approve ${id} --dry-run`);
  expect(plan.stdout).toMatch(/Cancel traveller 3 of order[\s\S]*Keep the booking of the other travellers/);
  const approved = await seen(`refund approve ${id} --yes`);
  expect(approved.stdout).toMatch(/traveller 3 cancelled, the others stay/);
  expect((await usdc()) - before).toBe((back[2] ?? 0n) - FEE);

  expect((await seen(`status ${id}`)).stdout).toMatch(/booked, 2 of 3 fly\n[\s\S]*✓ refund +requested for traveller 3/);
  expect((await seen(`order ${id} --yes`)).stdout).toMatch(
    /Passengers +2\nTraveller 1 +adult, [\d.]+ USDC, refundable alone: [\d.]+ USDC\n[\s\S]*Traveller 3 +child, [\d.]+ USDC, refunded\n/,
  );
  const calendar = join(place.home, 'trip.ics');
  await run(`order ${id} --ics ${calendar} --yes`);
  expect(readFileSync(calendar, 'utf8').replaceAll('\r\n ', '')).toContain(
    'Travellers 1 and 2 fly\\; refunded: traveller 3',
  );
  expect((await seen('intent list')).stdout).toContain('booked, 2 of 3 fly');
  expect((await seen('wallet history')).stdout).toMatch(/pay-out/);
  const again = await run(`refund ${id} --passenger 3 --reason Ill --json`);
  expect([again.exitCode, again.json()]).toEqual([
    5,
    { error: expect.objectContaining({ code: 'already_refunded', message: 'Traveller 3 was refunded before.' }) },
  ]);

  expect((await run(`refund ${id} --passenger 2 --reason Ill --json`)).exitCode).toBe(0);
  expect((await run(`refund approve ${id} --yes --json`)).exitCode).toBe(0);
  const rest = await seen(`refund ${id} --reason Ill --yes`);
  expect(rest.stderr).toMatch(/Paid for traveller 1: /);
  expect((await run(`refund approve ${id} --yes --json`)).exitCode).toBe(0);
  // Two reads of the order were paid, too.
  expect((await usdc()) - before).toBe(back.reduce((sum, one) => sum + one, 0n) - 3n * FEE - 20_000n);
  expect((await seen(`status ${id}`)).stdout).toMatch(
    /refunded\n[\s\S]*✓ refunded +[\d.]+ USDC for traveller 3 to [\s\S]*✓ refunded +[\d.]+ USDC for traveller 2 to [\s\S]*✓ refund +requested for traveller 1/,
  );
});
