import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Offer } from '../../src/wire/flights/index.ts';
import { inMemory } from '../cli/memory.ts';
import { proofTest } from '../proof-only.ts';
import { farelockIn, PASSENGER, type Runner } from './farelock.ts';

/** The first journey, each step a process of its own and nothing else running. */

let open: Runner[] = [];
afterEach(() => {
  for (const runner of open) runner.close();
  open = [];
});
const newHome = (env?: Record<string, string>): Runner => {
  const runner = farelockIn(env);
  open.push(runner);
  return runner;
};

interface Balance {
  usdc: string;
}
const units = (decimal: string) => BigInt(Math.round(Number(decimal) * 1e6));
const balance = async (farelock: Runner) =>
  units((await farelock.run(['wallet', 'balance', '--json'])).json<Balance>().usdc);

async function firstIntent(farelock: Runner) {
  const searched = await farelock.run(['search', 'LIS', 'BER', '--depart', '+30d', '--json', '--no-wait']);
  expect(searched.exitCode, searched.stderr).toBe(0);
  const { offers, payment } = searched.json<{ offers: Offer[]; payment: { amount: string; transaction: string } }>();
  expect(units(payment.amount)).toBe(100_000n);
  const offer = offers.find((one) => one.total_currency === 'USD');
  if (!offer) throw new Error('no offer in USD');
  const created = await farelock.run(['intent', 'create', offer.offer_id, '--json']);
  expect(created.exitCode, created.stdout).toBe(0);
  const intent = created.json<{
    intent_id: string;
    customer_support_code: string;
    escrow: { amount: number; address: string };
  }>();
  expect(intent.customer_support_code).toMatch(/^FLK-/);
  expect(BigInt(intent.escrow.amount)).toBe(units(offer.total_amount_decimal));
  const passengers = join(farelock.home, 'p.json');
  writeFileSync(passengers, JSON.stringify([PASSENGER]));
  return { offer, intent, passengers };
}

test('search, lock, pay, ticket and read the order: five processes, and the books agree to the unit', async () => {
  const farelock = newHome();
  const before = await balance(farelock);
  const { intent, passengers } = await firstIntent(farelock);
  const booked = await farelock.run(['book', intent.intent_id, '--passengers', passengers, '--yes', '--json']);
  expect(booked.exitCode, booked.stdout + booked.stderr).toBe(0);
  const done = booked.json<{ status: string; order_id: string; payment: { amount: string } }>();
  expect(done.status).toBe('booked');
  expect(units(done.payment.amount)).toBe(BigInt(intent.escrow.amount));

  const order = await farelock.run(['order', intent.intent_id, '--json']);
  expect(order.exitCode, order.stderr).toBe(0);
  const read = order.json<{ booking_reference: string; order_id: string; status: string; documents: unknown[] }>();
  expect(read.booking_reference).toMatch(/^[A-Z0-9]{6}$/);
  expect(read).toMatchObject({ order_id: done.order_id, status: 'ticketed' });
  expect(read.documents).toHaveLength(1);

  // 0.10 for the search, 0.10 for the intent, the fare, 0.01 for the order.
  expect(before - (await balance(farelock))).toBe(100_000n + 100_000n + BigInt(intent.escrow.amount) + 10_000n);

  const again = await farelock.run(['book', intent.intent_id, '--passengers', passengers, '--yes', '--json']);
  expect(again.exitCode).toBe(0);
  expect(again.json<{ status: string }>().status).toBe('booked');
});

proofTest('a booking whose ticketing fails pays everything back, and says so by its exit code', async () => {
  const farelock = inMemory(newHome({ FARELOCK_SCENARIO: 'ticketing_fails' }));
  const before = await balance(farelock);
  const { intent, passengers } = await firstIntent(farelock);
  const booked = await farelock.run(['book', intent.intent_id, '--passengers', passengers, '--yes', '--json']);
  expect(booked.exitCode, booked.stdout).toBe(8);
  const status = (await farelock.run(['status', intent.intent_id, '--json'])).json<{ status: string }>();
  expect(status.status).toBe('refunded');
  expect(before - (await balance(farelock))).toBe(200_000n);
});

proofTest('four commands that make one new home at the same moment all succeed, with one wallet', async () => {
  const farelock = newHome();
  const ran = await Promise.all([1, 2, 3, 4].map(() => farelock.run(['wallet', 'show', '--json'])));
  expect(ran.map((one) => one.exitCode)).toEqual([0, 0, 0, 0]);
  expect(new Set(ran.map((one) => one.json<{ address: string }>().address)).size).toBe(1);
});

proofTest('nothing private stands on the disk in clear, and every file is the user’s own', async () => {
  const farelock = newHome();
  const { intent, passengers } = await firstIntent(farelock);
  const booked = await farelock.run(['book', intent.intent_id, '--passengers', passengers, '--yes', '--json']);
  expect(booked.exitCode, booked.stdout).toBe(0);
  const files = readdirSync(farelock.home, { recursive: true, encoding: 'utf8' })
    .map((file) => join(farelock.home, file))
    .filter((file) => file !== passengers && statSync(file).isFile());
  expect(files.length).toBeGreaterThan(4);
  for (const file of files) {
    expect(statSync(file).mode & 0o077, file).toBe(0);
    const bytes = readFileSync(file).toString('latin1');
    const secrets = [intent.customer_support_code, PASSENGER.family_name, PASSENGER.phone_number];
    // Mail files stand in for SMTP: an address is what they are for.
    if (!file.endsWith('.eml')) secrets.push(PASSENGER.email);
    for (const secret of secrets) expect(bytes.includes(secret), `${file} holds ${secret}`).toBe(false);
  }
  expect(existsSync(join(farelock.home, 'wallet.json'))).toBe(true);
});
