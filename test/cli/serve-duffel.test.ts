import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Offer } from '../../src/wire/flights/index.ts';
import { worldClock } from '../clock.ts';
import { proofTest } from '../proof-only.ts';
import { type ServedDuffel, serveDuffel } from '../sandbox/duffel/served.ts';
import { ANA, type MemoryOptions, type MemoryRun, runInMemory, temporaryHome } from './memory.ts';

/** serve --provider duffel against the sandbox of its API, and the tool against that service. */

interface Listening {
  readonly flights_url: string;
  readonly rpc_url: string;
  readonly airline: object;
}

const TOKEN = 'duffel_test_ofTheTests';
const server = temporaryHome();
const traveller = temporaryHome();
const stop = new AbortController();
let duffel: ServedDuffel;
let serving: Promise<MemoryRun>;
let listening: Listening;

const run = (line: string, options: MemoryOptions = {}): Promise<MemoryRun> =>
  runInMemory(line.split(' '), {
    ...options,
    environment: {
      FARELOCK_HOME: traveller.home,
      FARELOCK_FLIGHTS_URL: listening.flights_url,
      FARELOCK_RPC_URL: listening.rpc_url,
      ...options.environment,
    },
  });

beforeAll(async () => {
  duffel = await serveDuffel({ clock: worldClock, stepMs: 50 });
  const tokenFile = join(server.home, 'token');
  writeFileSync(tokenFile, `${TOKEN}\n`, { mode: 0o600 });
  const line = new Promise<string>((ready, failed) => {
    serving = runInMemory(
      [
        'serve',
        '--port',
        '0',
        '--provider',
        'duffel',
        '--duffel-url',
        duffel.url,
        '--duffel-token-file',
        tokenFile,
        '--json',
      ],
      {
        environment: { FARELOCK_HOME: server.home, FARELOCK_DUFFEL_WEBHOOK_SECRET: 'whsec' },
        interrupted: stop.signal,
        onStdout: ready,
      },
    );
    void serving.then((ended) => failed(new Error(ended.stderr)));
  });
  listening = JSON.parse(await line) as Listening;
});
afterAll(async () => {
  stop.abort();
  const ended = await serving;
  await duffel.close();
  server.close();
  traveller.close();
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(ended.stdout + ended.stderr).not.toContain(TOKEN);
});

test('the whole journey: searched, locked, paid, ticketed, captured, its refund quoted and paid out', async () => {
  expect((await run('wallet new')).exitCode).toBe(0);
  expect((await run('wallet airdrop --sol 1 --usdc 5000')).exitCode).toBe(0);
  const found = await run('search LIS BER --depart +30d --json');
  expect(found.exitCode, found.stdout + found.stderr).toBe(0);
  const offers = found.json().offers as Offer[];
  const offer = offers.find(
    (one) => one.total_currency === 'USD' && !one.identity_documents_required && one.conditions?.refund_allowed,
  );
  const made = await run(`intent ${offer?.offer_id} --json`);
  expect(made.exitCode, made.stdout + made.stderr).toBe(0);
  const { intent_id } = made.json();
  const passengers = join(traveller.home, 'p.json');
  writeFileSync(passengers, JSON.stringify([ANA]));
  const booked = await run(`book ${intent_id} --passengers ${passengers} --yes --json`);
  expect(booked.exitCode, booked.stdout + booked.stderr).toBe(0);
  expect(booked.json()).toMatchObject({ status: 'booked' });
  const order = (await run(`order ${intent_id} --json`)).json();
  expect(order).toMatchObject({ status: 'ticketed', booking_reference: expect.any(String) });

  const asked = await run(`refund request ${intent_id} --reason ill --yes --json`);
  expect(asked.exitCode, asked.stdout + asked.stderr).toBe(0);
  const key = readFileSync(join(server.home, 'keys', 'operator.key'), 'utf8').trim();
  const operator = { environment: { FARELOCK_OPERATOR_KEY: key } };
  const plan = await run(`refund approve ${intent_id} --dry-run --json`, operator);
  expect(plan.exitCode, plan.stdout + plan.stderr).toBe(0);
  expect(plan.json().airline_quote).toMatchObject({ quote_id: expect.any(String), refund_currency: 'USD' });
  const approved = await run(`refund approve ${intent_id} --yes --json`, operator);
  expect(approved.exitCode, approved.stdout + approved.stderr).toBe(0);
  expect(approved.json()).toMatchObject({ status: 'refunded' });
}, 120_000);

test('what it sells from is said at the start: the provider, test or live, and the low-cost carriers', () => {
  expect(listening.airline).toEqual({ provider: 'duffel', mode: 'test', lowcost: 'none' });
});

test('--max-price says how many fares it left out for their currency, on the screen and in the answer', async () => {
  const search = 'search LIS BER --depart +30d --all-fares --limit 500';
  const all = (await run(`${search} --json`)).json().offers as Offer[];
  const others = all.filter(({ total_currency }) => total_currency !== 'USD').length;
  expect(others).toBeGreaterThan(1);
  const priced = await run(`${search} --max-price 9000 --json`);
  expect(priced.json()).toMatchObject({ total_offers: all.length - others, other_currency_offers: others });
  const shown = await run(`${search} --max-price 9000 --max-stops 0`);
  const direct = all.filter(({ total_currency, stops }) => total_currency !== 'USD' && stops === 0).length;
  expect(shown.stdout + shown.stderr).toMatch(
    new RegExp(`Without ${direct} fares? in (another currency|other currencies): --max-price is in US dollars`),
  );
  expect((await run(`${search} --json`)).json().other_currency_offers).toBeUndefined();

  const foreign = all.find(({ total_currency }) => total_currency !== 'USD');
  const offer = await run(`offer ${foreign?.offer_id}`);
  expect(offer.stderr).toContain('Next: choose another offer: only offers in USD can be locked');
  expect(offer.stdout + offer.stderr).not.toContain('intent create');
}, 60_000);

proofTest(
  'a city is one paid search where the airline takes cities',
  async () => {
    const planned = await run('search LON JFK --depart +30d --dry-run --yes --json');
    expect(planned.json()).toMatchObject({ searches: 1, routes: [{ origin_iata: 'LON', destination_iata: 'JFK' }] });
    const found = await run('search LON JFK --depart +30d --max-payment 0.60 --limit 500 --json');
    expect(found.json()).toMatchObject({ searches: 1 });
    const origins = new Set((found.json().offers as Offer[]).map(({ origin_iata: origin }) => origin));
    expect(origins.size).toBeGreaterThan(1);
  },
  60_000,
);

test('a message without the right signature is refused', async () => {
  const answer = await fetch(`${listening.flights_url}/webhooks/airline`, { method: 'POST', body: '{}' });
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([401, 'unauthorized']);
});

test('the tool by itself does not touch a home whose bookings are with a real airline', async () => {
  const own = await runInMemory(['stuck', '--json'], { environment: { FARELOCK_HOME: server.home } });
  expect([own.exitCode, own.json().code ?? (own.json().error as { code: string }).code]).toEqual([
    2,
    'airline_of_another_service',
  ]);
});

describe('what does not go together is refused with what is missing', () => {
  const refused = async (line: string, environment: Record<string, string> = {}) => {
    const home = temporaryHome();
    const ended = await runInMemory(['serve', '--port', '0', ...line.split(' ')], {
      environment: { FARELOCK_HOME: home.home, ...environment },
    });
    home.close();
    return `${ended.exitCode} ${ended.stderr}`;
  };
  const token = { FARELOCK_DUFFEL_TOKEN: TOKEN };

  test.each([
    ['no token', '--provider duffel', {}, /^2[\s\S]*needs a token[\s\S]*FARELOCK_DUFFEL_TOKEN/],
    ['a token of something else', '--provider duffel', { FARELOCK_DUFFEL_TOKEN: 'sk_123' }, /^2[\s\S]*begins with/],
    ['an address in the clear', '--provider duffel --duffel-url http://duffel.example', token, /^4[\s\S]*unencrypted/],
    ['an address of nothing', '--provider duffel --duffel-url duffel', token, /^2[\s\S]*must be the address/],
    ['an address without the provider', '--duffel-url http://localhost:1', {}, /^2[\s\S]*belongs to --provider duffel/],
    [
      'a live token on play money',
      '--provider duffel',
      { FARELOCK_DUFFEL_TOKEN: 'duffel_live_x' },
      /^2[\s\S]*play money/,
    ],
    ['the cluster alone', '--cluster-only --provider sandbox', {}, /^2[\s\S]*--provider is an option of the services/],
  ])('%s', async (_what, line, environment, words) => {
    expect(await refused(line, environment)).toMatch(words);
  });
});
