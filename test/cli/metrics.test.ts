import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
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

const DOCS = resolve(import.meta.dirname, '../../docs');

test.each(['operations.md', 'operations/alerts.yml', 'operations/dashboard.json'])(
  'every metric, label and state that docs/%s names is printed',
  async (file) => {
    const text = await scraped();
    const page = readFileSync(join(DOCS, file), 'utf8').replaceAll('\\"', '"');
    const names = new Set(page.match(/\b(?:farelock|nodejs|process)_\w+/g));
    expect(names.size).toBeGreaterThan(5);
    const typeOf = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => [name, type]));
    for (const name of names) {
      const plain = name.replace(/_(bucket|count|sum)$/, '');
      expect(typeOf.has(name) || typeOf.get(plain) === 'histogram', name).toBe(true);
    }
    for (const [, name = '', selector = ''] of page.matchAll(/\b(farelock_\w+)\{([^}]*)\}/g)) {
      const metric = METRICS[name.replace(/_(bucket|count|sum)$/, '') as keyof typeof METRICS];
      for (const [, label = '', how, value = ''] of selector.matchAll(/(\w+)(=~|!~|!?=)"([^"]*)"/g)) {
        expect(metric.labels, `${name}{${label}}`).toContain(label);
        // Connections are of PostgreSQL alone.
        if (metric.type === 'histogram' || how === '!=' || name === 'farelock_database_connections') continue;
        for (const one of value.split('|')) expect(text).toMatch(new RegExp(`^${name}\\{${label}="${one}"\\}`, 'm'));
      }
    }
  },
);

test('every alert says how urgent it is, and what to do', () => {
  const { groups } = parse(readFileSync(join(DOCS, 'operations/alerts.yml'), 'utf8')) as {
    groups: { rules: { alert: string; labels: object; annotations: object }[] }[];
  };
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(10);
  for (const { alert, labels, annotations } of rules) {
    expect(labels, alert).toEqual({ severity: expect.stringMatching(/^(page|ticket)$/) });
    expect(annotations, alert).toEqual({ summary: expect.any(String), action: expect.stringMatching(/.{40}/) });
  }
});
