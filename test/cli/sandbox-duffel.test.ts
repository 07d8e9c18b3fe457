import { createHmac } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { proofTest } from '../proof-only.ts';
import { orderOf } from '../sandbox/duffel/served.ts';
import type { Body, Thing } from '../sandbox/duffel/shapes.ts';
import { runInMemory, temporaryHome } from './memory.ts';

/** `sandbox duffel` as it is run: a server of its own that tells a real receiver. */

const SECRET = 'QKfUULLQh+8SegYmIsF6kA==';
const own = temporaryHome();
const secretFile = join(own.home, 'webhook.secret');
const told: { signature: string; body: string }[] = [];
const receiver = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  told.push({ signature: String(request.headers['x-duffel-signature']), body: Buffer.concat(chunks).toString() });
  response.end('{}');
});
let hook: string;
beforeAll(async () => {
  await new Promise<void>((ready) => receiver.listen(0, '127.0.0.1', ready));
  hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/webhooks/duffel`;
  writeFileSync(secretFile, `${SECRET}\n`);
  chmodSync(secretFile, 0o600);
});
afterAll(async () => {
  await new Promise((closed) => receiver.close(closed));
  own.close();
});

/** Runs the command, and works with it while it serves. */
async function served(args: readonly string[], work: (url: string) => Promise<void>): Promise<number> {
  const stop = new AbortController();
  let working: Promise<void> = Promise.resolve();
  const ran = await runInMemory(['sandbox', 'duffel', '--port', '0', '--json', ...args], {
    environment: { FARELOCK_HOME: own.home },
    interrupted: stop.signal,
    onStdout: (text) => {
      working = work((JSON.parse(text) as { url: string }).url).finally(() => stop.abort(new Error('enough')));
    },
  });
  await working;
  return ran.exitCode;
}

const call = async (
  url: string,
  method: string,
  path: string,
  data?: object,
): Promise<{ status: number } & Body<Thing>> => {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: 'Bearer duffel_test_cli', 'duffel-version': 'v2', 'content-type': 'application/json' },
    body: data === undefined ? null : JSON.stringify({ data }),
  });
  return { status: answer.status, ...((await answer.json()) as Body<Thing>) };
};

test('an order is told to the receiver with a true signature, and is there after a restart', async () => {
  let orderId = '';
  const exitCode = await served(['--webhook-url', hook, '--webhook-secret-file', secretFile], async (url) => {
    const search = await call(url, 'POST', '/air/offer_requests', {
      slices: [{ origin: 'VIE', destination: 'LIS', departure_date: '2026-12-20' }],
      passengers: [{ type: 'adult' }],
    });
    const made = await call(url, 'POST', '/air/orders', orderOf(search.data.offers[0], 'cli'));
    expect(made.status).toBe(201);
    orderId = made.data.id;
    for (let tries = 0; told.length === 0 && tries < 400; tries++) await new Promise((later) => setTimeout(later, 25));
  });
  expect(exitCode).toBe(0);
  const [{ signature, body } = { signature: '', body: '{}' }] = told;
  expect(JSON.parse(body)).toMatchObject({ type: 'order.created', data: { object: { id: orderId } } });
  const [, seconds = '', digest] = /^t=(\d+),v1=(\w+)$/.exec(signature) ?? [];
  expect(createHmac('sha256', SECRET).update(`${seconds}.${body}`).digest('hex')).toBe(digest);
  await served([], async (url) => {
    expect((await call(url, 'GET', `/air/orders/${orderId}`)).data.metadata).toEqual({ reference: 'cli' });
  });
});

proofTest('a connection that is cut has no answer at all', async () => {
  await served([], async (url) => {
    await fetch(`${url}/sandbox/behaviours`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ order_read: ['cut'] }),
    });
    await expect(call(url, 'GET', '/air/orders')).rejects.toThrow();
    expect((await call(url, 'GET', '/air/orders')).status).toBe(200);
  });
});

test.each([
  ['an address without a secret', ['--webhook-url', 'http://127.0.0.1:1/hook']],
  ['a secret without an address', ['--webhook-secret-file', 'gone']],
])('%s is a mistake of usage', async (_what, args) => {
  const { exitCode, stderr } = await runInMemory(['sandbox', 'duffel', '--port', '0', ...args], {
    environment: { FARELOCK_HOME: own.home },
  });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--webhook-secret-file')]);
});
