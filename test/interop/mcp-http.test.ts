import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { Connection, Keypair, PublicKey } from '@solana/web3.js';
import { x402Client } from '@x402/core/client';
import type { PaymentPayload, PaymentRequired } from '@x402/core/types';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { worldClock } from '../clock.ts';
import { farelockIn, PASSENGER, type Runner, type Served, serveIn } from '../e2e/farelock.ts';
import { cases, proofTest } from '../proof-only.ts';

/** Agents that have nothing but MCP and a keypair buy at `/mcp` of `farelock serve`, with stock clients of MCP and x402. */

const ROOT = resolve(import.meta.dirname, '../..');
const USDC = new PublicKey('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU');
const NEWEST = '2026-07-28';
const depart = (days: number) => new Date(worldClock.now() + days * 86_400_000).toISOString().slice(0, 10);
const SEARCH = { origin_iata: 'LIS', destination_iata: 'BER', depart_date: depart(30), limit: 50 };

const closing: (() => unknown)[] = [];
let home: Runner;
let served: Served;
let chain: Connection;
let me: Keypair;
let wallet: x402Client;

async function serving(): Promise<void> {
  served = await serveIn(home, ['--log', 'requests']);
  closing.push(served.stop);
  chain = new Connection(served.rpcUrl, 'confirmed');
  const signer = await createKeyPairSignerFromBytes(me.secretKey);
  wallet = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl: served.rpcUrl }));
  wallet.setSpendControls(false); // its own cap of 1 USD would refuse every fare
}

beforeAll(async () => {
  home = farelockIn();
  closing.push(home.close);
  me = Keypair.generate();
  await serving();
  const params = [me.publicKey.toBase58(), 9_000_000_000];
  await fetch(served.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'farelock_airdropUsdc', params }),
  });
}, 60_000);
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

const holds = async (): Promise<number> => {
  const { value } = await chain.getParsedTokenAccountsByOwner(me.publicKey, { mint: USDC });
  return value.reduce((sum, one) => sum + Number(one.account.data.parsed.info.tokenAmount.amount), 0);
};

type Json = Record<string, unknown>;
interface Result {
  readonly isError?: boolean;
  readonly structuredContent?: unknown;
  readonly content?: unknown;
  readonly _meta?: Json | undefined;
}
interface Agent {
  callTool(call: { name: string; arguments: Json; _meta?: Json }): Promise<unknown>;
}

/** Asks again where a busy machine was turned away. */
const patient = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
  const answer = await fetch(input, init);
  if (answer.status !== 503) return answer;
  await new Promise((wait) => setTimeout(wait, 500));
  return patient(input, init);
};

async function newAgent(mode: 'legacy' | { pin: string } = { pin: NEWEST }, carry = patient) {
  const client = new Client({ name: 'agent', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${served.flightsUrl}/mcp`), { fetch: carry }));
  closing.push(() => client.close());
  // From then on it would hold answers against an output schema.
  await client.listTools();
  return client;
}
async function oldAgent() {
  const client = new OldClient({ name: 'agent', version: '1.0.0' });
  await client.connect(new OldTransport(new URL(`${served.flightsUrl}/mcp`), { fetch: patient }) as never);
  closing.push(() => client.close());
  await client.listTools();
  return client;
}

const call = async (agent: Agent, name: string, given: Json, payment?: unknown) =>
  (await agent.callTool({
    name,
    arguments: given,
    ...(payment !== undefined && { _meta: { 'x402/payment': payment } }),
  })) as Result;
const said = ({ structuredContent, content }: Result): Json => {
  // Clients without structured content have the same as text.
  expect(JSON.parse((content as { text: string }[])[0]?.text ?? '')).toEqual(structuredContent);
  return structuredContent as Json;
};

async function signed(agent: Agent, name: string, given: Json): Promise<PaymentPayload> {
  const asked = await call(agent, name, given);
  expect(asked).toMatchObject({ isError: true, structuredContent: { x402Version: 2, accepts: [{ scheme: 'exact' }] } });
  return wallet.createPaymentPayload(said(asked) as unknown as PaymentRequired);
}

/** A paid call, as the specification of x402 over MCP has it. */
async function paid(agent: Agent, name: string, given: Json) {
  const payment = await signed(agent, name, given);
  const answer = await call(agent, name, given, payment);
  expect(answer.isError, JSON.stringify(answer)).not.toBe(true);
  expect(answer._meta?.['x402/payment-response']).toMatchObject({ success: true, payer: me.publicKey.toBase58() });
  return { document: said(answer), payment, answer };
}

const codeOf = (answer: Result) => (said(answer).error as { code?: string }).code;

describe.each(
  cases<[string, () => Promise<Agent>]>(
    [['the stock client 2.x by the newest version', () => newAgent()]],
    [
      ['the stock client 1.x', oldAgent],
      ['the stock client 2.x by a version before', () => newAgent('legacy')],
    ],
  ),
)('%s', (_name, connect) => {
  test('search, offer, lock, book, status, order: every call paid by the stock x402 client, every unit accounted for', async () => {
    const agent = await connect();
    const before = await holds();
    const { offers } = (await paid(agent, 'search', SEARCH)).document as { offers: Json[] };
    const { offer_id } =
      offers.find((one) => one.total_currency === 'USD' && String(one.offer_id).startsWith('off_')) ?? {};
    expect((await paid(agent, 'offer', { offer_id })).document).toMatchObject({ offer: { offer_id } });
    const lock = (await paid(agent, 'intent_create', { offer_id })).document;
    const { intent_id, customer_support_code } = lock;
    const given = { intent_id, passengers: [PASSENGER] };
    const booked = await paid(agent, 'book', given);

    const replayed = await call(agent, 'book', given, booked.payment);
    expect(replayed).toEqual(booked.answer);

    const polled = async () => {
      for (let i = 0; i < 100; i++) {
        const now = said(await call(agent, 'status', { intent_id }));
        if (now.status !== 'active') return now;
        await new Promise((wait) => setTimeout(wait, 100));
      }
      throw new Error('the intent stayed active');
    };
    const done = await polled();
    expect(done.status).toBe('booked');
    const order = await paid(agent, 'order', { order_id: done.order_id, customer_support_code });
    expect(order.document.booking_reference).toMatch(/^[A-Z0-9]{6}$/);
    const fare = (lock.escrow as { amount: number }).amount;
    expect(before - (await holds())).toBe(100_000 + 10_000 + 100_000 + fare + 10_000);
  });
});

test('one journal: what was paid over MCP is answered over HTTP as well, and neither charges twice', async () => {
  const agent = await newAgent();
  const given = { ...SEARCH, depart_date: depart(31) };
  const before = await holds();
  const { document, payment } = await paid(agent, 'search', given);
  const answer = await fetch(`${served.flightsUrl}/air/search`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64'),
    },
    body: JSON.stringify(given),
  });
  expect([answer.status, await answer.json()]).toEqual([200, document]);
  expect(before - (await holds())).toBe(100_000);
});

const withoutReceipt = (answer: object) => JSON.parse(JSON.stringify(answer).replace(/"signature":"ey[^"]+"/, '"":0'));

proofTest('a lost answer, and a service that dies: the same payment gets its answer, and is charged once', async () => {
  let losing = false;
  const lossy = async (input: string | URL | Request, init?: RequestInit) => {
    const answer = await patient(input, init);
    if (!losing) return answer;
    losing = false;
    await answer.text();
    throw new TypeError('fetch failed');
  };
  const agent = await newAgent({ pin: NEWEST }, lossy);
  const given = { ...SEARCH, depart_date: depart(32) };
  const before = await holds();
  const payment = await signed(agent, 'search', given);
  losing = true;
  await expect(call(agent, 'search', given, payment)).rejects.toThrow();
  const first = await call(agent, 'search', given, payment);
  expect(first.isError).not.toBe(true);

  const unsent = await signed(agent, 'search', { ...given, adults: 2 });
  const cut = call(agent, 'search', { ...given, adults: 2 }, unsent).catch(() => null);
  served.kill();
  await Promise.all([cut, served.ended]);
  await serving();
  const other = await newAgent();
  // Its receipt names the address, which has another port now.
  const again = await call(other, 'search', given, payment);
  expect(withoutReceipt(again)).toEqual(withoutReceipt(first));
  expect((await call(other, 'search', { ...given, adults: 2 }, unsent)).isError).not.toBe(true);
  expect(before - (await holds())).toBe(200_000);
});

test('a wrong payment is answered with the price again, and charges nothing', async () => {
  const agent = await newAgent();
  const given = { ...SEARCH, depart_date: depart(33) };
  const before = await holds();
  const payment = await signed(agent, 'search', given);
  const cheaper = { ...payment, accepted: { ...payment.accepted, amount: '1' } };
  for (const [sent, asked] of [
    [payment, { ...given, adults: 3 }],
    [cheaper, given],
  ] as const) {
    const refused = await call(agent, 'search', asked, sent);
    expect(refused).toMatchObject({ isError: true, structuredContent: { x402Version: 2 } });
    expect(said(refused).error).toMatch(/^payment_verification_failed: /);
    expect(refused._meta?.['x402/payment-response']).toBeUndefined();
  }
  for (const nonsense of [7, 'text', {}, null, { x402Version: 2, payload: { transaction: 'x' } }])
    expect(codeOf(await call(agent, 'search', given, nonsense))).toBe('invalid_payment_signature');
  expect(await holds()).toBe(before);
  // The challenge is as good as before.
  expect((await call(agent, 'search', given, payment)).isError).not.toBe(true);
  expect(before - (await holds())).toBe(100_000);
});

test('two calls at once with one payment are charged once and answered alike; a challenge is paid once', async () => {
  const [one, other] = [await newAgent(), await newAgent('legacy')];
  const given = { ...SEARCH, depart_date: depart(34) };
  const before = await holds();
  const asked = said(await call(one, 'search', given)) as unknown as PaymentRequired;
  const [payment, second] = [await wallet.createPaymentPayload(asked), await wallet.createPaymentPayload(asked)];
  const answers = await Promise.all([one, other].map((agent) => call(agent, 'search', given, payment)));
  expect(said(answers[0] as Result)).toEqual(said(answers[1] as Result));
  expect(before - (await holds())).toBe(100_000);
  if (JSON.stringify(second.payload) !== JSON.stringify(payment.payload))
    expect(await call(other, 'search', given, second)).toMatchObject({ isError: true });
  expect(before - (await holds())).toBe(100_000);
});

const post = (message: unknown, headers: Record<string, string> = {}) =>
  patient(`${served.flightsUrl}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
const newest = (method: string, params: Json = {}, capabilities: Json = {}) => ({
  message: {
    ...{ jsonrpc: '2.0', id: 1, method },
    params: {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': NEWEST,
        'io.modelcontextprotocol/clientInfo': { name: 'agent', version: '1.0.0' },
        'io.modelcontextprotocol/clientCapabilities': capabilities,
      },
    },
  },
  headers: {
    'mcp-protocol-version': NEWEST,
    'mcp-method': method,
    ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
  },
});

test('a client that knows the extension of x402 is asked by its own result type', async () => {
  const { message, headers } = newest(
    'tools/call',
    { name: 'search', arguments: SEARCH },
    { extensions: { 'org.x402/payment': {} } },
  );
  const { result } = (await (await post(message, headers)).json()) as { result: Json };
  expect(result).toMatchObject({
    resultType: 'payment_required',
    paymentRequired: { x402Version: 2, accepts: [{ scheme: 'exact', amount: '100000' }] },
  });
  expect(result.isError).toBeUndefined();
  const discover = newest('server/discover');
  expect(await (await post(discover.message, discover.headers)).json()).toMatchObject({
    result: { supportedVersions: [NEWEST], capabilities: { extensions: { 'org.x402/payment': {} } } },
  });
});

test('no session: a call needs none before it, and no stream is opened', async () => {
  const bare = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search', arguments: SEARCH } };
  const answer = await post(bare);
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('x402Version')]);
  expect(answer.headers.get('mcp-session-id')).toBeNull();
  for (const method of ['GET', 'DELETE']) {
    const refused = await fetch(`${served.flightsUrl}/mcp`, { method });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await refused.json()).toMatchObject({ code: 'method_not_allowed' });
  }
  const listen = newest('subscriptions/listen', { notifications: { toolsListChanged: true } });
  expect(await (await post(listen.message, listen.headers)).json()).toMatchObject({
    error: { message: 'Subscription limit reached' },
  });
});

test('bad input is an error with what to do, never a failure of the service', async () => {
  const agent = await newAgent();
  expect(codeOf(await call(agent, 'fly', {}))).toBe('usage');
  expect(codeOf(await call(agent, 'search', { origin_iata: 'LISBON' }))).toBe('invalid_request');
  expect(codeOf(await call(agent, 'status', {}))).toBe('invalid_request');
  expect(codeOf(await call(agent, 'status', { intent_id: 'int_1', verbose: true }))).toBe('invalid_request');
  expect(codeOf(await call(agent, 'status', { intent_id: '../../operator/stuck' }))).toBe('intent_not_found');
  expect(codeOf(await call(agent, 'order', { order_id: 'ord_1', customer_support_code: 'x' }))).toMatch(
    /^(order_not_found|support_code_mismatch)$/,
  );
  const given = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
  const statuses = await Promise.all([
    ...['{', '[]', '7', '{"jsonrpc":"1.0"}'].map((text) => post(text)),
    ...[{}, { name: 7 }, { name: 'search', arguments: [] }].map((params) => post({ ...given, params })),
    post(given, { 'content-type': 'text/plain' }),
    post({ ...given, params: { name: 'search', arguments: { x: 'x'.repeat(70_000) } } }),
    post({ ...given, params: { name: 'search', arguments: {} } }, { origin: 'https://evil.example' }),
  ]);
  expect(statuses.filter(({ status }) => status >= 500)).toEqual([]);
  expect(statuses.slice(-3).map(({ status }) => status)).toEqual([415, 413, 403]);
  expect((await post(given, { origin: 'http://localhost:6274' })).status).not.toBe(403);
});

test('no paid tool has an output schema, and inputs are those of the calls', async () => {
  const { tools } = await (await newAgent()).listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    'search',
    'search_updates',
    'offer',
    'intent_create',
    'book',
    'status',
    'order',
  ]);
  expect(tools.filter(({ outputSchema }) => outputSchema !== undefined)).toEqual([]);
  const { components } = (await (await fetch(`${served.flightsUrl}/openapi.json`)).json()) as {
    components: { schemas: Record<string, object> };
  };
  const schema = (name: string) => tools.find((one) => one.name === name)?.inputSchema;
  expect(schema('search')).toEqual(components.schemas.SearchRequest);
  expect(schema('intent_create')).toEqual(components.schemas.CreateIntentRequest);
  expect(JSON.stringify(tools)).not.toContain('$ref');
  expect(JSON.stringify(tools).length).toBeLessThan(9_000);
});

test('the log names the tool, the payment and the intent, and no passenger', async () => {
  const lines = served
    .log()
    .split('\n')
    .filter((line) => line.includes('"route":"/mcp'))
    .map((line) => JSON.parse(line) as Json);
  expect(lines.some((line) => line.route === '/mcp/search' && typeof line.payment_id === 'string')).toBe(true);
  expect(new Set(lines.map(({ route }) => route))).not.toContain('/mcp/fly');
  expect(served.log()).not.toMatch(/Moreira|ana@example/);
});

test('the lines of docs/agents.md buy a search', async () => {
  const page = readFileSync(join(ROOT, 'docs/agents.md'), 'utf8');
  const [, code = ''] = /^```js\n([\s\S]*?)^```/m.exec(page) ?? [];
  const before = await holds();
  writeFileSync(join(home.home, 'me.json'), JSON.stringify([...me.secretKey]));
  const ran = await execa(process.execPath, ['--input-type=module'], {
    cwd: ROOT,
    input: code,
    env: {
      ...home.env,
      ...{ KEYPAIR: join(home.home, 'me.json'), DEPART: depart(36) },
      ...{ FLIGHTS_URL: served.flightsUrl, RPC_URL: served.rpcUrl },
    },
  });
  expect(JSON.parse(ran.stdout.replace(/ \d+ offers$/, ''))).toMatchObject({
    success: true,
    payer: me.publicKey.toBase58(),
  });
  expect(before - (await holds())).toBe(100_000);
});
