import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { METRICS } from '../../src/cli/commands/serve/metrics-table.ts';
import { problem } from '../../src/kernel/problems.ts';
import type { Offer } from '../../src/wire/flights/index.ts';
import { ANA, type MemoryRun, runInMemory, temporaryHome } from './memory.ts';

/** /metrics of `serve`: what a journey leaves there. */

const server = temporaryHome();
const traveller = temporaryHome();
const stop = new AbortController();
let serving: Promise<MemoryRun>;
let listening: { readonly flights_url: string; readonly rpc_url: string; readonly metrics_url: string };

beforeAll(async () => {
  const line = new Promise<string>((ready) => {
    serving = runInMemory(['serve', '--port', '0', '--metrics', '127.0.0.1:0', '--json'], {
      environment: { FARELOCK_HOME: server.home, FARELOCK_TICKETING_MS: '20' },
      interrupted: stop.signal,
      onStdout: ready,
    });
  });
  listening = JSON.parse(await line) as typeof listening;
});
afterAll(async () => {
  stop.abort(problem('interrupted'));
  expect((await serving).exitCode).toBe(0);
  server.close();
  traveller.close();
});

const run = (line: string): Promise<MemoryRun> =>
  runInMemory(line.split(' '), {
    environment: {
      FARELOCK_HOME: traveller.home,
      FARELOCK_FLIGHTS_URL: listening.flights_url,
      FARELOCK_RPC_URL: listening.rpc_url,
    },
  });

async function scraped(): Promise<string> {
  const answer = await fetch(listening.metrics_url);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  return answer.text();
}

/** The value of a line; undefined: there is no such line. */
const valueIn = (text: string, line: string): number | undefined => {
  const found = text.split('\n').find((one) => one.startsWith(`${line} `));
  return found === undefined ? undefined : Number(found.slice(line.length + 1));
};

test('a booking is seen by route, by payment, by airline call and by state, and no id or address is a label', async () => {
  await run('wallet new');
  await run('wallet airdrop --sol 1 --usdc 2000');
  const found = await run('search LIS BER --depart +30d --json --no-wait');
  const [offer] = (found.json().offers as Offer[]).filter((one) => one.total_currency === 'USD');
  const made = (await run(`intent ${offer?.offer_id} --json`)).json();
  const passengers = join(traveller.home, 'p.json');
  writeFileSync(passengers, JSON.stringify([ANA]));
  const booked = await run(`book ${made.intent_id} --passengers ${passengers} --yes --json`);
  expect(booked.json(), booked.stderr).toMatchObject({ status: 'booked' });

  const text = await scraped();
  const requests = (route: string, method: string, code: number) =>
    valueIn(text, `farelock_http_request_duration_seconds_count{route="${route}",method="${method}",code="${code}"}`);
  expect([requests('/air/search', 'POST', 402), requests('/air/search', 'POST', 200)]).toEqual([1, 1]);
  expect(requests('/air/intents/{intent_id}', 'GET', 200)).toBeGreaterThan(0);
  expect(requests('/rpc', 'POST', 200)).toBeGreaterThan(0);
  expect(valueIn(text, 'farelock_payments_total{outcome="settled"}')).toBe(3);
  expect(valueIn(text, 'farelock_payments_total{outcome="refused"}')).toBe(0);
  expect(valueIn(text, 'farelock_settlement_duration_seconds_count{outcome="settled"}')).toBe(3);
  expect(
    valueIn(text, 'farelock_airline_call_duration_seconds_count{airline="sandbox",call="createOrder",result="ok"}'),
  ).toBe(1);
  expect(valueIn(text, 'farelock_bookings_open{state="ordering"}')).toBe(0);
  expect(valueIn(text, 'farelock_jobs{kind="booking"}')).toBe(0);
  expect(valueIn(text, 'farelock_wallet_lamports{wallet="authority"}')).toBeGreaterThan(1e9);
  expect(valueIn(text, 'farelock_wallet_usdc{wallet="treasury"}')).toBeGreaterThanOrEqual(0);
  expect(valueIn(text, 'farelock_scrape_failed{part="database"}')).toBe(0);
  expect(text).not.toMatch(new RegExp([made.intent_id, offer?.offer_id, 'req_', '\\?'].join('|')));
}, 60_000);

test('every metric of the table is printed, with its type, and none besides', async () => {
  const text = await scraped();
  const printed = [...text.matchAll(/^# TYPE (farelock_\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]);
  expect(printed).toEqual(Object.entries(METRICS).map(([name, { type }]) => [name, type]));
});

test('the public port has no /metrics, and that port has nothing else', async () => {
  expect((await fetch(`${listening.flights_url}/metrics`)).status).toBe(404);
  expect((await fetch(new URL('/health', listening.metrics_url))).status).toBe(404);
});

test('an unknown path and an odd method are no labels of their own', async () => {
  await fetch(`${listening.flights_url}/secret-${'x'.repeat(20)}`, { method: 'PROPFIND' });
  const text = await scraped();
  expect(text).not.toContain('secret-');
  expect(valueIn(text, 'farelock_http_request_duration_seconds_count{route="none",method="other",code="404"}')).toBe(1);
});
