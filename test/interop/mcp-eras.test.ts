import { Client, type ElicitResult } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { inMemory } from '../cli/memory.ts';
import { BIN, farelockIn, PASSENGER } from '../e2e/farelock.ts';
import { cases, proofTest } from '../proof-only.ts';
import { mcpInMemory } from './mcp-in-memory.ts';

/** Stock clients of both generations of the official SDK drive `farelock mcp`: by the version of 2026, in this process, and by those before, the built tool as a process. */

const tool = farelockIn();
const beside = inMemory(tool);
const closing: (() => unknown)[] = [];

beforeAll(async () => void (await beside.run(['wallet', 'airdrop', '--usdc', '3000'])));
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(() => tool.close());

const NEWEST = '2026-07-28';
type Mode = 'legacy' | 'auto' | { pin: string };

async function newClient(mode: Mode, options: readonly string[], answer?: () => ElicitResult) {
  const client = new Client(
    { name: 'agent', version: '1.0.0' },
    { versionNegotiation: { mode }, ...(answer && { capabilities: { elicitation: { form: {} } } }) },
  );
  const asked: string[] = [];
  if (answer)
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      return answer();
    });
  await client.connect(mcpInMemory(tool, options));
  closing.push(() => client.close());
  return { client, asked };
}

async function oldClient(options: readonly string[]) {
  const client = new OldClient({ name: 'agent', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [BIN, 'mcp', ...options],
      env: { ...tool.env, PATH: process.env.PATH ?? '' },
      stderr: 'ignore',
    }),
  );
  closing.push(() => client.close());
  return client;
}

type Document = Readonly<Record<string, unknown>>;
interface Caller {
  callTool(call: { name: string; arguments: Document }): Promise<{ [field: string]: unknown }>;
}
async function call(client: Caller, name: string, given: Document): Promise<Document> {
  return ((await client.callTool({ name, arguments: given })).structuredContent ?? {}) as Document;
}

const balance = async (): Promise<number> =>
  Number((await beside.run(['wallet', 'balance', '--json'])).json<{ usdc: string }>().usdc);

const pinned = async (options: readonly string[]) => (await newClient({ pin: NEWEST }, options)).client;
type Connect = (options: readonly string[]) => Promise<Caller & { listTools(): Promise<object> }>;
const CLIENTS = cases<[string, Connect]>(
  [['2.x, by the newest version alone', pinned]],
  [
    ['1.x', oldClient],
    ['2.x, which asks for the newest and takes others', async (options) => (await newClient('auto', options)).client],
    ['2.x, by a version before', async (options) => (await newClient('legacy', options)).client],
  ],
);

test.each(CLIENTS)(
  'the whole journey by the stock client %s: search, offer, lock, book, status, order',
  async (name, connect) => {
    const client = await connect(['--allow-spending', '900']);
    const before = await balance();
    const found = await call(client, 'search', { from: 'LIS', to: 'BER', depart: '+40d', wait: true, limit: 100 });
    const { offer_id } =
      (found.offers as { offer_id: string; total_currency: string }[]).find(
        (one) => one.total_currency === 'USD' && one.offer_id.startsWith('off_'),
      ) ?? {};
    expect(await call(client, 'offer', { offer_id })).toMatchObject({ offer: { offer_id } });
    const lock = await call(client, 'intent_create', { offer_id });
    const { intent_id } = lock;
    expect(await call(client, 'book', { intent_id, passengers: [PASSENGER] })).toMatchObject({ status: 'booked' });
    expect(await call(client, 'status', { intent_id })).toMatchObject({ intent_id, status: 'booked' });
    expect(await call(client, 'order', { id: intent_id })).toMatchObject({ booking_reference: expect.any(String) });
    const fare = (lock.escrow as { amount: number }).amount / 1e6;
    expect(before - (await balance())).toBeCloseTo(0.1 + 0.01 + 0.1 + fare + 0.01, 5);
    const listed = await client.listTools();
    // A client of 2026 keeps the list, which is the same while the server runs.
    expect('ttlMs' in listed && listed.ttlMs, name).toEqual(/newest/.test(name) ? 3_600_000 : false);
  },
);

test('the newest version: who it is, what it can and how to use it, without a session', async () => {
  const { client } = await newClient('auto', []);
  expect(client.getNegotiatedProtocolVersion()).toBe(NEWEST);
  expect(client.getInstructions()).toContain('no spending was allowed');
  expect(client.getServerVersion()).toMatchObject({ name: 'farelock' });
  expect(client.getServerCapabilities()).toMatchObject({ tools: {}, resources: {} });
  await expect(client.readResource({ uri: 'farelock://offers/off_none' })).rejects.toThrow(/There is no/);
});

proofTest('it reports its progress to a client of 2026 too', async () => {
  const { client } = await newClient({ pin: NEWEST }, ['--allow-spending', '900']);
  const heard: number[] = [];
  await client.callTool(
    { name: 'search', arguments: { from: 'LIS', to: 'OPO', depart: '+41d', wait: true } },
    { onprogress: ({ progress }) => heard.push(progress) },
  );
  expect(heard.length).toBeGreaterThan(0);
});

test('a client of 2026 asks its person, and repeats the call with the answer: a yes pays once, anything else nothing', async () => {
  const given = { from: 'LIS', to: 'BER', depart: '+57d' };
  const before = await balance();
  const no = await newClient({ pin: NEWEST }, ['--allow-spending', '0'], () => ({ action: 'decline' }));
  expect((await call(no.client, 'search', given)).error).toMatchObject({ code: 'payment_above_cap' });
  expect([no.asked.length, await balance()]).toEqual([1, before]);

  const yes = await newClient({ pin: NEWEST }, ['--allow-spending', '0'], () => ({
    action: 'accept',
    content: { pay: true },
  }));
  expect((await call(yes.client, 'search', given)).error).toBeUndefined();
  expect(yes.asked).toHaveLength(1);
  expect(yes.asked[0]).toContain('Pay 0.10 USDC');
  expect(before - (await balance())).toBeCloseTo(0.1, 5);
});

test('a yes is for its own call, and counts once: with another state, another call or a second time it is asked anew', async () => {
  const { client } = await newClient({ pin: NEWEST }, ['--allow-spending', '0'], () => ({ action: 'cancel' }));
  const before = await balance();
  const raw = (depart: string, requestState?: string) =>
    client.request(
      {
        method: 'tools/call',
        params: {
          name: 'search',
          arguments: { from: 'LIS', to: 'BER', depart },
          ...(requestState && { requestState, inputResponses: { pay: { action: 'accept', content: { pay: true } } } }),
        },
      },
      { allowInputRequired: true },
    ) as Promise<{ resultType?: string; requestState?: string; isError?: boolean }>;
  const first = await raw('+58d');
  expect(first).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
  for (const answer of [await raw('+58d', 'made-up'), await raw('+59d', first.requestState)])
    expect(answer).toMatchObject({ resultType: 'input_required' });
  expect(await balance()).toBe(before);
  // The state was used up by the other call.
  const again = await raw('+58d', first.requestState);
  expect(again).toMatchObject({ resultType: 'input_required' });
  expect((await raw('+58d', again.requestState)).isError).toBe(false);
  expect(await raw('+58d', again.requestState)).toMatchObject({ resultType: 'input_required' });
  expect(before - (await balance())).toBeCloseTo(0.1, 5);
});
