import { closeSync, openSync, truncateSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Sqlite from 'libsql';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { inMemory } from '../cli/memory.ts';
import { worldClock } from '../clock.ts';
import { proofTest } from '../proof-only.ts';
import { farelockIn, type Runner, type Served, serveIn } from './farelock.ts';

/** `farelock doctor` against a service that runs: well, down, slow, with a wrong clock, another product, another cluster. */

interface Shown {
  readonly id: string;
  readonly status: 'ok' | 'warning' | 'failed';
  readonly message: string;
  readonly fix: string | null;
}

let operator: Runner;
let client: Runner;
let served: Served;
beforeAll(async () => {
  operator = farelockIn();
  served = await serveIn(operator);
  client = inMemory(farelockIn());
  client.env.FARELOCK_KEYPAIR = `${client.home}/me.json`;
  expect((await client.run(['wallet', 'new'])).exitCode).toBe(0);
  await client.run(['wallet', 'airdrop', '--sol', '1', '--usdc', '20'], { env: addresses(served.flightsUrl) });
});
afterAll(async () => {
  await served.stop();
  operator.close();
  client.close();
});

let env: Record<string, string>;
beforeEach(() => {
  env = addresses(served.flightsUrl);
});

const addresses = (url: string, rpcUrl = served.rpcUrl) => ({
  FARELOCK_FLIGHTS_URL: url,
  FARELOCK_PARTNER_URL: url,
  FARELOCK_RPC_URL: rpcUrl,
});

async function examined() {
  const run = await client.run(['doctor', '--json'], { env });
  const { checks } = run.json<{ checks: Shown[] }>();
  return { exitCode: run.exitCode, checks, check: (id: string) => checks.find((one) => one.id === id) };
}

/** Stands before the service, and changes what it says. */
async function before(
  answer: (request: IncomingMessage, response: ServerResponse, real: () => Promise<void>) => unknown,
  change: (headers: Headers, body: string) => string = (_headers, body) => body,
) {
  const server = createServer((request, response) => {
    const real = async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const sent = Buffer.concat(chunks);
      const got = await fetch(`${served.flightsUrl}${request.url}`, {
        method: request.method ?? 'GET',
        headers: { 'content-type': request.headers['content-type'] ?? 'application/json' },
        ...(sent.length > 0 && { body: sent }),
      });
      const headers = new Headers(got.headers);
      const body = change(headers, await got.text());
      for (const name of ['content-length', 'transfer-encoding', 'connection']) headers.delete(name);
      response.writeHead(got.status, Object.fromEntries(headers));
      response.end(body);
    };
    void answer(request, response, real);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

test('both services, the cluster and the price are well', async () => {
  const run = await examined();
  expect(run.checks.filter(({ status }) => status !== 'ok')).toEqual([]);
  const { host } = new URL(served.flightsUrl);
  expect(run.check('flight_service')?.message).toBe(`${host} is ready`);
  expect(run.check('partner_service')?.message).toBe(`${host} answers`);
  expect(run.check('charging')?.message).toBe('A search costs 0.10 USDC, paid on devnet');
  expect(run.exitCode).toBe(0);
});

test('services that are down are named, with why', async () => {
  const gone = await before(() => undefined);
  gone.close();
  env = addresses(gone.url);
  const run = await examined();
  expect(run.exitCode).toBe(8);
  const message = `Can't reach ${new URL(gone.url).host}: nothing listens there.`;
  expect(run.check('flight_service')).toMatchObject({ status: 'failed', message });
  expect(run.check('partner_service')).toMatchObject({ status: 'failed', message });
});

proofTest('services that are slow are named, and what else there is is told', async () => {
  const slow = await before(() => undefined);
  env = addresses(slow.url);
  const run = await examined();
  slow.close();
  const message = `${new URL(slow.url).host} did not answer in 4 s.`;
  expect(run.check('flight_service')).toMatchObject({ status: 'failed', message });
  expect(run.check('partner_service')).toMatchObject({ status: 'failed', message });
  expect(run.check('cluster')).toMatchObject({ status: 'ok' });
});

test.each([
  [
    'its health report',
    (_headers: Headers, body: string) =>
      body.replace(/"time":"[^"]+"/, `"time":"${new Date(worldClock.now() + 900_000).toISOString()}"`),
  ],
  [
    'the head of its answers alone',
    (headers: Headers, body: string) => {
      headers.set('date', new Date(worldClock.now() + 900_000).toUTCString());
      return body.includes('"status":"ok"') ? '{"status":"ok"}' : body;
    },
  ],
])('a clock that is wrong is told, by %s', async (_said, change) => {
  const off = await before((_request, _response, real) => real(), change);
  env = addresses(off.url);
  const run = await examined();
  off.close();
  expect(run.check('clock')).toMatchObject({
    status: 'failed',
    message: expect.stringMatching(/^This computer's clock is 15 min slow \(by the flight service\)$/),
  });
});

test('another product at the address is no service of ours', async () => {
  const other = await before((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<!doctype html><title>It works!</title>');
  });
  env = addresses(other.url);
  const run = await examined();
  other.close();
  const { host } = new URL(other.url);
  expect(run.check('flight_service')?.message).toBe(`${host} is no flight service: its answer is not JSON`);
  expect(run.check('partner_service')?.message).toBe(`${host} is no partner service: its answer is not JSON`);
  expect(run.check('clock')?.status).not.toBe('failed');
});

test('a cluster that is not the one the service is paid on is told before anything is paid', async () => {
  const elsewhere = farelockIn();
  const other = await serveIn(elsewhere);
  try {
    env = addresses(served.flightsUrl, other.rpcUrl);
    expect((await examined()).check('charging')).toMatchObject({
      status: 'failed',
      message: 'The fee payer of the service has no account on this devnet: it is another one',
    });
  } finally {
    await other.stop();
    elsewhere.close();
  }
});

test('one of two addresses of the cluster that is away is told by its host, and the other does', async () => {
  env = addresses(served.flightsUrl, `http://127.0.0.1:9/v2/S3CRETS3CRETS3CRET,${served.rpcUrl}`);
  const run = await examined();
  expect(run.check('cluster')).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(/^devnet at .*: no good answer from 127\.0\.0\.1:9$/),
  });
  expect(run.check('charging')?.status).toBe('ok');
  expect(JSON.stringify(run)).not.toContain('S3CRET');
});

test('a cluster of another name is told by its name', async () => {
  const mainnet = await before(
    (_request, _response, real) => real(),
    (_headers, body) =>
      body.replace(/"result":"[1-9A-HJ-NP-Za-km-z]{43,44}"/, '"result":"5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"'),
  );
  env = addresses(served.flightsUrl, `${mainnet.url}/rpc`);
  const run = await examined();
  mainnet.close();
  expect(run.check('charging')).toMatchObject({
    status: 'failed',
    message: expect.stringMatching(/not for the network of this profile.*cluster of this profile is mainnet/),
  });
});

proofTest('a large database that was not read through says so, and --full reads it', async () => {
  const large = inMemory(farelockIn());
  try {
    await large.run(['search', 'LIS', 'BER', '--depart', '+30d', '--no-wait', '--json']);
    const path = `${large.home}/service.db`;
    const database = new Sqlite(path);
    database.exec('pragma wal_checkpoint(truncate)');
    const page = database.prepare("select rootpage from sqlite_master where name = 'settlements'").get([]);
    const at = 4096 * ((page as { rootpage: number }).rootpage - 1);
    database.close();
    // What lies behind the pages that its head counts is nobody's: the file is large without taking room.
    truncateSync(path, 300 * 1024 * 1024);
    const look = async (...more: string[]) => {
      const run = await large.run(['doctor', '--json', ...more]);
      return run.json<{ checks: Shown[] }>().checks.find(({ id }) => id === 'service_database');
    };
    expect(await look()).toMatchObject({
      status: 'warning',
      message: `${path} is large and was not read through: up to date, as far as that shows`,
      next: ['farelock doctor --full'],
    });
    expect(await look('--full')).toMatchObject({ status: 'ok' });
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(4096, 7), 0, 4096, at);
    closeSync(file);
    expect(await look()).toMatchObject({ status: 'warning' });
    expect(await look('--full')).toMatchObject({ status: 'failed', message: expect.stringContaining('damaged') });
  } finally {
    large.close();
  }
});
