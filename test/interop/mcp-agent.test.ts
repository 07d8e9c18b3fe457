import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type ElicitRequest, ElicitRequestSchema, type ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { inMemory } from '../cli/memory.ts';
import { BIN, farelockIn, PASSENGER } from '../e2e/farelock.ts';
import { cases, proofTest } from '../proof-only.ts';
import { mcpInMemory } from './mcp-in-memory.ts';

/** An agent that has nothing but the list of tools, with the official SDK's client: what it can do, and what a person is asked. */

const tool = farelockIn();
/** What is looked at and prepared beside the server. */
const beside = inMemory(tool);
const open: Client[] = [];

const processOf = (...options: string[]) =>
  new StdioClientTransport({
    command: process.execPath,
    args: [BIN, 'mcp', ...options],
    env: { ...tool.env, PATH: process.env.PATH ?? '' },
    stderr: 'ignore',
  });

async function connect(client: Client, ...options: string[]): Promise<Client> {
  await client.connect(mcpInMemory(tool, options));
  open.push(client);
  return client;
}
const agent = (...options: string[]) => connect(new Client({ name: 'agent', version: '1.0.0' }), ...options);

/** A client with a person behind it. */
async function asking(
  answer: (asked: ElicitRequest['params']) => ElicitResult | Promise<ElicitResult>,
  ...options: string[]
) {
  const asked: string[] = [];
  const client = new Client({ name: 'agent', version: '1.0.0' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message);
    return answer(params);
  });
  return { client: await connect(client, ...options), asked };
}
const yes = (): ElicitResult => ({ action: 'accept', content: { pay: true } });

interface Document {
  readonly [field: string]: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly detail?: object };
}

async function call(client: Client, name: string, given: Record<string, unknown> = {}): Promise<Document> {
  const { structuredContent } = await client.callTool({ name, arguments: given });
  return (structuredContent ?? {}) as Document;
}

const balance = async (): Promise<number> =>
  Number((await beside.run(['wallet', 'balance', '--json'])).json<{ usdc: string }>().usdc);

beforeAll(async () => void (await balance()));
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});
afterAll(() => tool.close());

interface Offer {
  readonly offer_id: string;
  readonly total_currency: string;
  readonly total_amount_decimal: string;
  readonly identity_documents_required: boolean;
}
const offersOf = (document: Document) => document.offers as Offer[];
/** The cheapest that needs a passport. */
const lowcost = (document: Document) => {
  const found = offersOf(document).find(
    (one) => one.identity_documents_required && one.total_currency === 'USD' && Number(one.total_amount_decimal) > 10,
  );
  if (!found) throw new Error('no low-cost offer among the first');
  return found;
};

/** What a traveller tells their agent. */
const TRAVELLER: Readonly<Record<string, string>> = {
  ...PASSENGER,
  nationality: 'PT',
  passport_number: 'CA123456',
  passport_expiry: '2035-05-01',
};

proofTest(
  'an agent that has only the list of tools books a low-cost fare with a passport without one failed call',
  async () => {
    const client = await agent('--allow-spending', '900');
    const { tools } = await client.listTools();
    const failed: unknown[] = [];
    const ask = async (name: string, given: Record<string, unknown>) => {
      expect(tools.map((one) => one.name)).toContain(name);
      const document = await call(client, name, given);
      if (document.error) failed.push([name, document.error]);
      return document;
    };
    const fields = (tools.find(({ name }) => name === 'book')?.inputSchema.properties?.passengers ?? {}) as {
      items: { properties: Record<string, { enum?: string[]; pattern?: string }>; required: string[] };
    };
    const found = await ask('search', { from: 'LIS', to: 'BER', depart: '+42d', wait: true });
    const chosen = lowcost(found);
    const menu = await ask('offer', { offer_id: chosen.offer_id });
    expect(menu.passenger_fields).toEqual(Object.keys(fields.items.properties));
    const lock = await ask('intent_create', { offer_id: chosen.offer_id });
    expect(lock).toMatchObject({ passenger_count: 1, passenger_fields: menu.passenger_fields });
    const wanted = lock.passenger_fields as string[];
    const passenger = Object.fromEntries(wanted.map((field) => [field, TRAVELLER[field]]));
    for (const [field, { pattern = '', enum: choices }] of Object.entries(fields.items.properties)) {
      expect(passenger[field], field).toMatch(new RegExp(pattern));
      if (choices) expect(choices).toContain(passenger[field]);
    }
    const booked = await ask('book', { intent_id: lock.intent_id, passengers: [passenger] });
    expect(booked).toMatchObject({ status: 'booked' });
    const order = await ask('order', { id: lock.intent_id });
    expect(order).toMatchObject({ booking_reference: expect.any(String) });
    expect(failed).toEqual([]);
    const { resources } = await client.listResources();
    const [booking] = resources;
    const [content] = (await client.readResource({ uri: booking?.uri ?? '' })).contents;
    expect(JSON.parse((content as { text: string }).text)).toMatchObject({
      intent_id: lock.intent_id,
      status: 'booked',
    });
  },
);

describe('a payment above the allowance is asked of the person behind the client', () => {
  test('a yes pays exactly it, once: amount, purpose and network are in the question', async () => {
    const { client, asked } = await asking(yes, '--allow-spending', '0.30');
    const found = await call(client, 'search', { from: 'LIS', to: 'BER', depart: '+47d', wait: true, limit: 100 });
    const { offer_id } =
      offersOf(found).find((one) => one.offer_id.startsWith('off_') && one.total_currency === 'USD') ?? {};
    const lock = await call(client, 'intent_create', { offer_id });
    expect(asked).toEqual([]);
    const before = await balance();
    const booked = await call(client, 'book', { intent_id: lock.intent_id, passengers: [PASSENGER] });
    expect(booked).toMatchObject({ status: 'booked' });
    const paid = Number((lock.escrow as { amount: number }).amount) / 1e6;
    expect(before - (await balance())).toBeCloseTo(paid, 5);
    expect(asked).toHaveLength(1);
    for (const said of [paid.toFixed(2), 'book int_', 'LIS-BER', 'devnet']) expect(asked[0]).toContain(said);
    // The allowance itself is as it was: what fits is not asked, what does not is asked again.
    expect((await call(client, 'search', { from: 'LIS', to: 'BER', depart: '+48d' })).error).toBeUndefined();
    expect(asked).toHaveLength(1);
    expect((await call(client, 'search', { from: 'LIS', to: 'BER', depart: '+49d' })).error).toBeUndefined();
    expect(asked).toHaveLength(2);
  });

  test.each(
    cases<[string, ElicitResult]>(
      [['a no', { action: 'accept', content: { pay: false } }]],
      [
        ['a decline', { action: 'decline' }],
        ['a cancel', { action: 'cancel' }],
      ],
    ),
  )('%s is the same refusal as without a person, and costs nothing', async (_name, said) => {
    const { client, asked } = await asking(() => said, '--allow-spending', '0');
    const before = await balance();
    const refused = await call(client, 'search', { from: 'LIS', to: 'BER', depart: '+52d' });
    const silent = await call(await agent('--allow-spending', '0'), 'search', {
      from: 'LIS',
      to: 'BER',
      depart: '+52d',
    });
    expect(refused).toEqual(silent);
    expect(refused.error).toMatchObject({ code: 'payment_above_cap', detail: { left: '0.00' } });
    expect(asked).toHaveLength(1);
    expect(await balance()).toBe(before);
  });

  proofTest(
    'nobody is asked for what a yes cannot allow: --max-payment, limits of the wallet, no allowance at all',
    async () => {
      const given = { from: 'LIS', to: 'BER', depart: '+53d' };
      for (const options of [[], ['--allow-spending', '0.01', '--max-payment', '0.05']]) {
        const { client, asked } = await asking(yes, ...options);
        expect((await call(client, 'search', given)).error).toMatchObject({ code: 'payment_above_cap' });
        expect(asked).toEqual([]);
      }
      await beside.run(['wallet', 'limits', 'set', '--per-call', '0.05']);
      const { client, asked } = await asking(yes, '--allow-spending', '0');
      expect((await call(client, 'search', given)).error).toMatchObject({ code: 'payment_above_cap' });
      expect(asked).toEqual([]);
      await beside.run(['wallet', 'limits', 'set', '--per-call', 'none']);
    },
  );

  proofTest('calls at once with one yes: each is asked, and a yes pays for its own call alone', async () => {
    let left = 1;
    const answer = (): ElicitResult => (left-- > 0 ? yes() : { action: 'decline' });
    const { client, asked } = await asking(answer, '--allow-spending', '0');
    const before = await balance();
    const days = [54, 55, 56];
    const ends = await Promise.all(
      days.map((day) => call(client, 'search', { from: 'LIS', to: 'BER', depart: `+${day}d` })),
    );
    expect(ends.filter(({ error }) => error === undefined)).toHaveLength(1);
    expect(asked).toHaveLength(3);
    expect(before - (await balance())).toBeCloseTo(0.1, 5);
  });

  proofTest(
    'killed after a yes: the next server sends it again only with a yes of its own, and charges once',
    async () => {
      const before = await balance();
      const given = { from: 'LIS', to: 'BER', depart: '+71d' };
      const first = new Client({ name: 'agent', version: '1.0.0' }, { capabilities: { elicitation: {} } });
      const transport = processOf('--allow-spending', '0');
      first.setRequestHandler(ElicitRequestSchema, () => {
        // After the answer has left, in the middle of the payment.
        setTimeout(() => process.kill(transport.pid ?? 0, 'SIGKILL'), 30);
        return yes();
      });
      await first.connect(transport);
      open.push(first);
      await call(first, 'search', given).catch(() => null);
      expect((await call(await agent('--allow-spending', '0'), 'search', given)).error).toMatchObject({
        code: 'payment_above_cap',
      });
      const { client, asked } = await asking(yes, '--allow-spending', '0');
      expect((await call(client, 'search', given)).error).toBeUndefined();
      expect(asked).toHaveLength(1);
      expect(before - (await balance())).toBeCloseTo(0.1, 5);
    },
  );

  proofTest(
    'a pay-out above the allowance is asked too: after a no nothing is decided, after a yes it is paid out',
    async () => {
      await beside.run(['wallet', 'airdrop', '--usdc', '3000']);
      const found = await beside.run('search LIS BER --depart +33d --all-fares --limit 500 --json'.split(' '));
      const refundable = found
        .json<{ offers: (Offer & { conditions: { refund_allowed: boolean | null } | null })[] }>()
        .offers.find(
          (one) =>
            one.conditions?.refund_allowed === true && one.total_currency === 'USD' && one.offer_id.startsWith('off_'),
        );
      const made = await beside.run(['intent', 'create', refundable?.offer_id ?? '', '--json']);
      const { intent_id: id } = made.json<{ intent_id: string }>();
      await beside.run(['book', id, '--passengers', '-', '--yes'], { input: JSON.stringify([PASSENGER]) });
      await beside.run(['refund', 'request', id, '--reason', 'Illness']);
      const options = ['--tools', 'refunds', '--allow-changes', '--allow-spending', '0'];
      const before = await balance();
      const no = await asking(() => ({ action: 'decline' }), ...options);
      expect((await call(no.client, 'refund_approve', { id })).error).toMatchObject({ code: 'payment_above_cap' });
      expect(await call(no.client, 'refund_show', { id })).toMatchObject({ status: 'received' });
      const { client, asked } = await asking(yes, ...options);
      expect(await call(client, 'refund_approve', { id })).toMatchObject({ status: 'refunded' });
      expect([no.asked.length, asked.length]).toEqual([1, 1]);
      expect(asked[0]).toContain(`${((await balance()) - before).toFixed(2)} USDC for refund_approve ${id}`);
    },
  );

  proofTest('a server that is stopped answers a call with an open question as a no', async () => {
    const { client, asked } = await asking(() => new Promise(() => undefined), '--allow-spending', '0');
    const cut = call(client, 'search', { from: 'LIS', to: 'BER', depart: '+72d' });
    await vi.waitFor(() => expect(asked).toHaveLength(1), { timeout: 30_000 });
    process.kill((client.transport as StdioClientTransport).pid ?? 0, 'SIGINT');
    expect((await cut).error).toMatchObject({ code: 'payment_above_cap' });
  });
});
