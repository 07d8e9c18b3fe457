import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { problem } from '../../src/kernel/problems.ts';
import type { Offer } from '../../src/wire/flights/index.ts';
import { ANA, type MemoryOptions, type MemoryRun, runInMemory, temporaryHome } from './memory.ts';

/** serve, and the same commands through a remote profile with a home of their own. */

interface Listening {
  readonly flights_url: string;
  readonly rpc_url: string;
  readonly network: string;
}

const server = temporaryHome();
const traveller = temporaryHome();
const stop = new AbortController();
let serving: Promise<MemoryRun>;
let listening: Listening;

const remote = (): Record<string, string> => ({
  FARELOCK_HOME: traveller.home,
  FARELOCK_FLIGHTS_URL: listening.flights_url,
  FARELOCK_RPC_URL: listening.rpc_url,
});
const run = (line: string, options: MemoryOptions = {}): Promise<MemoryRun> =>
  runInMemory(line.split(' '), { ...options, environment: { ...remote(), ...options.environment } });

beforeAll(async () => {
  const line = new Promise<string>((ready) => {
    serving = runInMemory(['serve', '--port', '0', '--json'], {
      environment: { FARELOCK_HOME: server.home, FARELOCK_TICKETING_MS: '20', FARELOCK_TRUSTED_PROXIES: '127.0.0.1' },
      interrupted: stop.signal,
      onStdout: ready,
    });
  });
  listening = JSON.parse(await line) as Listening;
});
afterAll(() => {
  server.close();
  traveller.close();
});

test('--json says where everything is, in one line', () => {
  expect(listening).toMatchObject({
    flights_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    rpc_url: `${listening.flights_url}/rpc`,
    partner_url: listening.flights_url,
    network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    operator_key_file: expect.stringMatching(/operator\.key$/),
  });
});

test('a remote profile makes no wallet by itself, and says how to get one', async () => {
  const none = await run('search LIS BER --depart +30d');
  expect(none.exitCode).toBe(4);
  expect(none.stderr).toMatch(/No wallet[\s\S]*farelock wallet new/);
});

test('a wallet of one’s own, play money through /rpc, and the whole journey against another process’ service', async () => {
  expect((await run('wallet new')).exitCode).toBe(0);
  expect((await run('wallet airdrop --sol 1 --usdc 2000')).exitCode).toBe(0);
  expect((await run('wallet balance --json')).json()).toMatchObject({ usdc: '2000.00', sol: '1' });
  const found = await run('search LIS BER --depart +30d --json');
  const [offer] = (found.json().offers as Offer[]).filter((one) => one.total_currency === 'USD');
  const made = (await run(`intent ${offer?.offer_id} --json`)).json();
  const passengers = join(traveller.home, 'p.json');
  writeFileSync(passengers, JSON.stringify([ANA]));
  const booked = await run(`book ${made.intent_id} --passengers ${passengers} --yes --json`);
  expect(booked.exitCode, booked.stdout + booked.stderr).toBe(0);
  expect(booked.json()).toMatchObject({ status: 'booked' });
  const order = await run(`order ${made.intent_id} --json`);
  expect(order.json()).toMatchObject({ booking_reference: expect.stringMatching(/^\w{6}$/) });
});

test('a named profile of the settings file is the same as the environment', async () => {
  const profiles = { test: { flights_url: listening.flights_url, rpc_url: listening.rpc_url } };
  writeFileSync(join(traveller.home, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
  const shown = await runInMemory(['--profile', 'test', 'wallet', 'balance', '--json'], {
    environment: { FARELOCK_HOME: traveller.home },
  });
  expect(shown.exitCode, shown.stdout).toBe(0);
  const unknown = await runInMemory(['--profile', 'prod', 'wallet', 'show'], {
    environment: { FARELOCK_HOME: traveller.home },
  });
  expect(unknown.stderr).toMatch(/local, test/);
});

test('a service that is away, or is none, is exit 7', async () => {
  const away = await run('status int_1', { environment: { FARELOCK_FLIGHTS_URL: 'http://127.0.0.1:1' } });
  expect(away.exitCode).toBe(7);
  const stranger = createServer((_request, response) => response.end('<html>'));
  await new Promise<void>((ready) => stranger.listen(0, '127.0.0.1', ready));
  const { port } = stranger.address() as AddressInfo;
  const odd = await run('status int_1', { environment: { FARELOCK_FLIGHTS_URL: `http://127.0.0.1:${port}` } });
  expect(odd.exitCode).toBe(7);
  stranger.close();
});

test('behind a trusted proxy a client is throttled by its own address, whatever it writes before it', async () => {
  const [intent] = (await run('intent list --json')).json().intents as { intent_id: string }[];
  const { order_id: orderId } = (await run(`status ${intent?.intent_id} --json`)).json();
  const guess = async (url: string, forwardedFor: string) => {
    const answer = await fetch(`${url}/air/orders/${String(orderId)}`, {
      headers: { 'X-Customer-Support-Code': 'FLK-0000-0000-0000-0000', 'X-Forwarded-For': forwardedFor },
    });
    return answer.status;
  };
  const flood = async (url: string, addresses: readonly string[]) => {
    const statuses: number[] = [];
    for (const address of addresses) statuses.push(await guess(url, address));
    return statuses;
  };
  const again = (address: string) => Array<string>(6).fill(`6.6.6.6, ${address}`);
  expect(await flood(listening.flights_url, again('203.0.113.1'))).toEqual([403, 403, 403, 403, 403, 429]);
  const forged = ['1.1.1.1', '1.1.1.2'].map((claimed) => `${claimed}, 203.0.113.1`);
  expect(await flood(listening.flights_url, forged)).toEqual([429, 429]);
  const wrong = await runInMemory(['serve', '--port', '0'], {
    environment: { FARELOCK_HOME: server.home, FARELOCK_TRUSTED_PROXIES: 'proxy.example' },
  });
  expect([
    wrong.exitCode,
    wrong.stderr.includes('FARELOCK_TRUSTED_PROXIES must be a list of addresses and ranges'),
  ]).toEqual([2, true]);
});

test('a taken port and an unknown scenario are usage errors', async () => {
  const environment = { FARELOCK_HOME: server.home };
  const port = new URL(listening.flights_url).port;
  const taken = await runInMemory(['serve', '--port', port], { environment });
  expect(taken.exitCode).toBe(2);
  expect(taken.stderr).toMatch(/is already in use/);
  const scenario = await runInMemory(['serve', '--port', '0', '--scenario', 'storm'], { environment });
  expect(scenario.stderr).toMatch(/--scenario must be a scenario of the sandbox \(got storm\)[\s\S]*ticketing_fails/);
});

test('told to stop, it drains and exits 0', async () => {
  stop.abort(problem('interrupted'));
  expect((await serving).exitCode).toBe(0);
});
