import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { inMemory } from '../cli/memory.ts';
import { proofTest } from '../proof-only.ts';
import { farelockIn, serveIn } from './farelock.ts';

/** Traces of a service that is run with the SDK of OpenTelemetry, and without it. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Seen {
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly context: { readonly traceId: string } }[];
  readonly trace: string;
  readonly id: string;
  readonly parent: string | null;
}
const SERVER = 1;

/** A service with the SDK loaded before it, and one paid search there. */
async function traced(args: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-spans-'));
  const file = join(folder, 'spans');
  const home = farelockIn();
  const buyer = inMemory(farelockIn());
  closing.push(() => rmSync(folder, { recursive: true }), home.close, buyer.close);
  const env = {
    ...{ OTEL_SERVICE_NAME: 'fares', TEST_SPANS: file },
    NODE_OPTIONS: `--import ${pathToFileURL(join(import.meta.dirname, 'spans.mjs'))}`,
  };
  const served = await serveIn({ ...home, env: { ...home.env, ...env } }, args);
  closing.push(served.stop);
  Object.assign(buyer.env, { FARELOCK_FLIGHTS_URL: served.flightsUrl, FARELOCK_RPC_URL: served.rpcUrl });
  const spans = () =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Seen);
  return { served, buyer, spans };
}

const CALLER = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };
const traceparent = `00-${CALLER.trace}-${CALLER.span}-01`;

test('a search is a trace with what it asked of airline and payment, and nothing personal', async () => {
  const { served, buyer, spans } = await traced([]);
  for (const line of ['wallet new', 'wallet airdrop', 'search LIS BER --depart +30d']) {
    const { exitCode, stdout, stderr } = await buyer.run([...line.split(' '), '--json', '--yes']);
    expect(exitCode, stdout + stderr).toBe(0);
  }
  await fetch(`${served.flightsUrl}/ready?secret=1`, { headers: { traceparent } });
  await served.stop();
  const seen = spans();
  const found = seen.find(
    ({ name, attributes }) => name === 'POST /air/search' && attributes['http.response.status_code'] === 200,
  );
  expect(found).toMatchObject({
    kind: SERVER,
    attributes: { 'http.request.method': 'POST', 'http.route': '/air/search' },
  });
  expect(found?.attributes['farelock.payment_id']).toMatch(/^\w+/);
  const inside = seen.filter(({ parent }) => parent === found?.id);
  expect(inside.map(({ name }) => name)).toEqual(expect.arrayContaining(['sandbox search', 'settle']));
  expect(new Set(inside.map(({ trace }) => trace))).toEqual(new Set([found?.trace]));
  // A stranger's trace is named, and neither gone on with nor believed.
  const ready = seen.find(({ name }) => name === 'GET /ready');
  expect(ready?.parent).toBeNull();
  expect(ready?.trace).not.toBe(CALLER.trace);
  expect(ready?.links.map(({ context }) => context.traceId)).toEqual([CALLER.trace]);
  expect(JSON.stringify(seen)).not.toMatch(/secret|127\.0\.0\.1:\d+\/air/);
});

proofTest('the trace of a trusted proxy goes on', async () => {
  const { served, spans } = await traced(['--trusted-proxy', '127.0.0.1,::1']);
  await fetch(`${served.flightsUrl}/health`, { headers: { traceparent } });
  await served.stop();
  const health = spans().find(({ name }) => name === 'GET /health');
  expect(health).toMatchObject({ trace: CALLER.trace, parent: CALLER.span });
});

proofTest('OTEL_ variables without an SDK are said, and the service serves', async () => {
  const home = farelockIn({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  closing.push(home.close);
  const served = await serveIn(home);
  closing.push(served.stop);
  expect((await fetch(`${served.flightsUrl}/health`)).status).toBe(200);
  expect(await served.stop()).toBe(0);
  expect(served.log()).toContain('otel_sdk_missing');
});
