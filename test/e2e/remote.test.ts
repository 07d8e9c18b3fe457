import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Offer } from '../../src/wire/flights/index.ts';
import { inMemory } from '../cli/memory.ts';
import { proofTest } from '../proof-only.ts';
import { farelockIn, PASSENGER, type Runner, type Served, serveIn } from './farelock.ts';

/** The tool through a remote profile, against a second process: the same commands, the same answers. */

let server: Runner;
let client: Runner;
let served: Served;
beforeAll(async () => {
  server = farelockIn();
  served = await serveIn(server);
  client = inMemory(farelockIn({ FARELOCK_FLIGHTS_URL: served.flightsUrl, FARELOCK_RPC_URL: served.rpcUrl }));
  client.env.FARELOCK_KEYPAIR = join(client.home, 'me.json');
});
afterAll(async () => {
  await served?.stop();
  client?.close();
  server?.close();
});

test('a wallet is made and filled, and the journey ends with a booking reference', async () => {
  expect((await client.run(['wallet', 'new', '--json'])).exitCode).toBe(0);
  const filled = await client.run(['wallet', 'airdrop', '--sol', '1', '--usdc', '2500', '--json']);
  expect(filled.exitCode, filled.stdout + filled.stderr).toBe(0);
  const searched = await client.run(['search', 'LIS', 'BER', '--depart', '+30d', '--json', '--no-wait']);
  expect(searched.exitCode, searched.stdout + searched.stderr).toBe(0);
  const offer = searched.json<{ offers: Offer[] }>().offers.find((one) => one.total_currency === 'USD');
  const created = await client.run(['intent', 'create', offer?.offer_id ?? '', '--json']);
  expect(created.exitCode, created.stdout).toBe(0);
  const { intent_id } = created.json<{ intent_id: string }>();
  const passengers = join(client.home, 'p.json');
  writeFileSync(passengers, JSON.stringify([PASSENGER]));
  const booked = await client.run(['book', intent_id, '--passengers', passengers, '--yes', '--json']);
  expect(booked.exitCode, booked.stdout + booked.stderr).toBe(0);
  const order = await client.run(['order', intent_id, '--json']);
  expect(order.json<{ booking_reference: string }>().booking_reference).toMatch(/^[A-Z0-9]{6}$/);
});

test('without a service at the address the tool says so and exits 7', async () => {
  const ran = await client.run(['search', 'LIS', 'BER', '--depart', '+30d', '--json'], {
    env: { FARELOCK_FLIGHTS_URL: 'http://127.0.0.1:9' },
  });
  expect(ran.exitCode).toBe(7);
  expect(ran.json<{ error: { code: string } }>().error.code).toBe('network_unreachable');
});

proofTest('serve drains on SIGTERM and exits 0', async () => {
  const other = farelockIn();
  const running = await serveIn(other);
  expect((await fetch(`${running.flightsUrl}/ready`)).status).toBe(200);
  expect(await running.stop()).toBe(0);
  other.close();
});
