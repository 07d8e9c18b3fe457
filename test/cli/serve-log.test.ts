import { afterAll, beforeAll, expect, test } from 'vitest';
import { problem } from '../../src/kernel/problems.ts';
import type { Offer } from '../../src/wire/flights/index.ts';
import { type MemoryRun, runInMemory, temporaryHome } from './memory.ts';

/** Standard error of `serve --json`: a log. */

const server = temporaryHome();
const traveller = temporaryHome();
let lines: Record<string, unknown>[] = [];
let intentId = '';
let offerId = '';

beforeAll(async () => {
  const stop = new AbortController();
  let serving: Promise<MemoryRun> | undefined;
  const where = JSON.parse(
    await new Promise<string>((ready) => {
      serving = runInMemory(['serve', '--port', '0', '--log', 'requests', '--json'], {
        environment: { FARELOCK_HOME: server.home },
        interrupted: stop.signal,
        onStdout: ready,
      });
    }),
  );
  const run = (line: string) =>
    runInMemory(line.split(' '), {
      environment: {
        FARELOCK_HOME: traveller.home,
        FARELOCK_FLIGHTS_URL: where.flights_url,
        FARELOCK_RPC_URL: where.rpc_url,
      },
    });
  await run('wallet new');
  await run('wallet airdrop --sol 1 --usdc 2000');
  const found = await run('search LIS BER --depart +30d --json --no-wait');
  offerId = (found.json().offers as Offer[]).find((one) => one.total_currency === 'USD')?.offer_id ?? '';
  intentId = String((await run(`intent ${offerId} --json`)).json().intent_id);
  await fetch(`${where.flights_url}/air/intents/${intentId}`);
  await fetch(`${where.flights_url}/nothing/ana@example.com?passport=X1234567`);
  stop.abort(problem('interrupted'));
  const ended = await serving;
  lines = (ended?.stderr ?? '')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}, 60_000);
afterAll(() => {
  server.close();
  traveller.close();
});

test('every line is JSON, with a time and an event, the words for a person too', () => {
  for (const line of lines)
    expect(line).toMatchObject({ at: expect.any(String), level: expect.any(String), event: expect.any(String) });
  expect(lines.filter(({ event }) => event === 'note').map(({ message }) => message)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^Stopped\./)]),
  );
});

const requests = (route: string | null) => lines.filter((line) => line.event === 'request' && line.route === route);

test('a request has a line: its route, its payment and its intent, where there are any', () => {
  expect(requests('/air/search')).toMatchObject([
    { method: 'POST', status: 402, payment_id: null },
    {
      method: 'POST',
      status: 200,
      payment_id: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/),
      duration_ms: expect.any(Number),
    },
  ]);
  expect(requests('/air/intents').at(-1)).toMatchObject({ status: 201, intent_id: intentId });
  expect(requests('/air/intents/{intent_id}').at(-1)).toMatchObject({ status: 200, intent_id: intentId });
  for (const { request_id } of requests('/air/intents')) expect(request_id).toMatch(/^req_/);
});

test('no line has a query, an address of a client, or a path that no route has', () => {
  expect(requests(null)).toMatchObject([{ status: 404 }]);
  const all = JSON.stringify(lines);
  expect(all).not.toMatch(/ana@|passport|127\.0\.0\.1|LIS|support_code/);
  expect(all).not.toContain(offerId);
});
