import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { problem } from '../../src/kernel/problems.ts';
import { runningClock } from '../flights/world.ts';
import { type MemoryRun, runInMemory, temporaryHome } from './memory.ts';

/** What a stranger sees of a served tool over a real socket: addresses, sizes, half sent bodies. */

const place = temporaryHome();
const stop = new AbortController();
let serving: Promise<MemoryRun>;
let url: string;
let port: number;
let told = '';

const started = async (argv: readonly string[], environment: Record<string, string>, signal: AbortSignal) => {
  let run: Promise<MemoryRun> | undefined;
  const line = await new Promise<string>((ready) => {
    run = runInMemory(['serve', '--port', '0', '--json', '--verbose', ...argv], {
      environment: { FARELOCK_HOME: place.home, ...environment },
      clock: runningClock(),
      interrupted: signal,
      onStdout: ready,
      onStderr: (text) => {
        told += text;
      },
    });
  });
  if (!run) throw new Error('it was not started');
  return { run, flightsUrl: (JSON.parse(line) as { flights_url: string }).flights_url };
};
beforeAll(async () => {
  const { run, flightsUrl } = await started([], { FARELOCK_TRUSTED_PROXIES: '127.0.0.2' }, stop.signal);
  serving = run;
  url = flightsUrl;
  port = Number(new URL(url).port);
});
afterAll(async () => {
  stop.abort(problem('interrupted'));
  await serving;
  place.close();
});

const TRIP = { origin_iata: 'LIS', destination_iata: 'BER', depart_date: '2026-12-20' };
const post = (path: string, body: unknown) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Speaks HTTP by hand: any Host header, from any address of the loopback network. */
function exchange(text: string, from = '127.0.0.1', at = port): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: at, host: '127.0.0.1', localAddress: from });
    let answer = '';
    socket.on('data', (chunk) => {
      answer += String(chunk);
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
    socket.write(text);
  });
}
const search = JSON.stringify(TRIP);
const asking = (headers: Record<string, string>) =>
  [
    'POST /air/search HTTP/1.1',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Content-Type: application/json',
    `Content-Length: ${search.length}`,
    'Connection: close',
    '',
    search,
  ].join('\r\n');
const resourceOf = async (headers: Record<string, string>, from?: string, at?: number) => {
  const answer = await exchange(asking(headers), from, at);
  const required = /^payment-required: (.*)$/im.exec(answer)?.[1] ?? '';
  const { resource } = JSON.parse(Buffer.from(required, 'base64').toString()) as { resource: { url: string } };
  return resource.url;
};

test('a Host header that is not this server’s is not repeated in a challenge', async () => {
  const own = `http://127.0.0.1:${port}/air/search`;
  expect(await resourceOf({ Host: 'evil.example' })).toBe(own);
  expect(await resourceOf({ Host: `evil.example:${port}` })).toBe(own);
  expect(await resourceOf({ Host: `127.0.0.1:${port + 1}` })).toBe(own);
  const forged = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https' };
  expect(await resourceOf(forged)).toBe(own);
  expect(await resourceOf({ Host: `LOCALHOST:${port}` })).toBe(`http://localhost:${port}/air/search`);
});

test('behind a trusted proxy that ends TLS it is the address that the proxy names', async () => {
  const proxied = { Host: '127.0.0.1', 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'fly.example' };
  expect(await resourceOf(proxied, '127.0.0.2')).toBe('https://fly.example/air/search');
  expect(await resourceOf({ Host: 'fly.example:8443', 'X-Forwarded-Proto': 'https' }, '127.0.0.2')).toBe(
    'https://fly.example:8443/air/search',
  );
  // What a client wrote itself stands further left.
  const appended = { ...proxied, 'X-Forwarded-Proto': 'http, https', 'X-Forwarded-Host': 'evil.example, fly.example' };
  expect(await resourceOf(appended, '127.0.0.2')).toBe('https://fly.example/air/search');
  const rubbish = { ...proxied, 'X-Forwarded-Host': 'a b"<script>/@evil' };
  expect(await resourceOf(rubbish, '127.0.0.2')).toBe(`http://127.0.0.1:${port}/air/search`);
});

test('a configured address is what every absolute address begins with, whatever the client says', async () => {
  const stopOther = new AbortController();
  const { run, flightsUrl } = await started(['--public-url', 'https://fly.example/v1/'], {}, stopOther.signal);
  const at = Number(new URL(flightsUrl).port);
  const forged = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'http' };
  expect(await resourceOf(forged, '127.0.0.1', at)).toBe('https://fly.example/v1/air/search');
  for (const path of ['/openapi.json', '/partner/openapi.json']) {
    expect(await (await fetch(`${flightsUrl}${path}`)).json()).toMatchObject({
      servers: [{ url: 'https://fly.example/v1' }],
    });
  }
  stopOther.abort(problem('interrupted'));
  expect((await run).exitCode).toBe(0);
  const wrong = await runInMemory(['serve', '--port', '0', '--public-url', 'ftp://x'], {
    environment: { FARELOCK_HOME: place.home },
  });
  expect([wrong.exitCode, wrong.stderr.includes('--public-url')]).toEqual([2, true]);
});

test('many unknown fields get a short answer that counts the rest, from both services', async () => {
  const key = readFileSync(join(place.home, 'keys', 'partner-par_sandbox_bank.key'), 'utf8').trim();
  const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`unknown_${n}`, 1]));
  const long = { ...TRIP, ['x'.repeat(50_000)]: 1 };
  const flights = await post('/air/search', { ...TRIP, ...many });
  const text = await flights.text();
  expect(flights.status).toBe(400);
  expect(text.length).toBeLessThan(10_000);
  expect(JSON.parse(text)).toMatchObject({
    code: 'invalid_request',
    detail: { issues: expect.any(Array), issues_omitted: 2_980 },
  });
  expect((await (await post('/air/search', long)).text()).length).toBeLessThan(2_000);
  const query = Array.from({ length: 900 }, (_, n) => `q${n}=1`).join('&');
  expect((await (await post(`/air/search?${query}`, TRIP)).text()).length).toBeLessThan(10_000);
  for (const body of [many, long]) {
    const partner = await fetch(`${url}/farelock.core.v1.partner.Service/GetOrders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify(body),
    });
    expect(partner.status).toBe(400);
    const said = await partner.text();
    expect(said.length).toBeLessThan(10_000);
    expect(JSON.parse(said)).toMatchObject({ detail: { reason: 'invalid_request' } });
  }
});

test('a client that goes away in the middle of its body is no error of ours: 400 body_incomplete', async () => {
  const before = told.length;
  const paths = ['/air/search', '/air/intents', '/farelock.core.v1.partner.Service/GetOrders'];
  for (const path of paths) {
    for (const end of ['destroy', 'end'] as const) {
      await new Promise<void>((done) => {
        const socket = connect(port, '127.0.0.1', () => {
          socket.write(
            `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n{"a":`,
          );
          setTimeout(() => socket[end](), 50);
        });
        socket.on('error', () => done());
        socket.on('close', () => done());
        socket.resume();
      });
    }
  }
  await new Promise((later) => setTimeout(later, 200));
  expect(told.slice(before)).not.toMatch(/"level":"(error|warn)"|request_failed|Error/);
  expect((await fetch(`${url}/health`)).status).toBe(200);
});

test('an optional field that is null is one that is left out', async () => {
  const nulls = {
    return_date: null,
    adults: null,
    cabin_class: null,
    max_stops: null,
    departure_after: null,
    departure_before: null,
    max_price: null,
    sort: null,
    limit: null,
    cheapest_per_itinerary: null,
  };
  expect((await post('/air/search', { ...TRIP, ...nulls })).status).toBe(402);
  expect((await post('/air/search', { ...TRIP, origin_iata: null })).status).toBe(400);
});

test.each([
  ['departure_before', { departure_after: '18:00', departure_before: '06:00' }],
  ['max_price', { max_price: 0 }],
  ['max_price', { max_price: '0.00' }],
  ['max_price', { max_price: -1 }],
  ['return_date', { return_date: '2026-12-01' }],
  ['limit', { limit: 0 }],
])('a search that can find nothing is refused before it is charged: %s %j', async (path, filters) => {
  const answer = await post('/air/search', { ...TRIP, ...filters });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({
    code: 'invalid_request',
    detail: { issues: [{ path, message: expect.stringMatching(/\w/) }] },
  });
  const equal = { departure_after: '10:00', departure_before: '10:00' };
  expect((await post('/air/search', { ...TRIP, ...equal })).status).toBe(402);
});

test('/openapi.json declares what each paid operation costs, and free ones nothing', async () => {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { 'x-payment-info'?: unknown; responses: object }>>;
  };
  const declared = Object.fromEntries(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) => {
        expect('x-payment-info' in operation).toBe('402' in operation.responses);
        return operation['x-payment-info'] ? [[`${method} ${path}`, operation['x-payment-info']]] : [];
      }),
    ),
  );
  const info = (price: object) => ({ price: { currency: 'USD', ...price }, protocols: [{ x402: {} }] });
  const fixed = (amount: string) => info({ mode: 'fixed', amount });
  const range = (min: string, max: string) => info({ mode: 'dynamic', min, max });
  expect(declared).toEqual({
    'post /air/search': range('0.10', '5.00'),
    'post /air/offer-details': range('0.01', '0.10'),
    'post /air/intents': fixed('0.10'),
    'post /air/book': range('10.00', '10000.00'),
    'post /air/refund-requests': fixed('0.10'),
    'get /air/orders/{order_id}': fixed('0.01'),
  });
});
