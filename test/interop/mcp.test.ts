import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { BIN, farelockIn, PASSENGER } from '../e2e/farelock.ts';

/** The official SDK's client, against the built tool as a process. */

const tool = farelockIn();
const open: Client[] = [];

async function connect(...options: string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [BIN, 'mcp', ...options],
      env: { ...tool.env, PATH: process.env.PATH ?? '' },
      stderr: 'ignore',
    }),
  );
  open.push(client);
  return client;
}

interface Answer {
  readonly isError: boolean;
  readonly document: Record<string, unknown>;
  readonly code: unknown;
}

async function call(client: Client, name: string, given: Record<string, unknown> = {}): Promise<Answer> {
  const result = await client.callTool({ name, arguments: given });
  const document = (result.structuredContent ?? {}) as Record<string, unknown>;
  const error = document.error as { code?: unknown } | undefined;
  return { isError: result.isError === true, document, code: error?.code };
}

const SEARCH = { from: 'LIS', to: 'BER', depart: '+30d', limit: 50 };

interface Offer {
  readonly offer_id: string;
  readonly total_currency: string;
  readonly total_amount_decimal: string;
}
const offerIn = (answer: Answer): Offer => {
  const found = (answer.document.offers as Offer[]).find(
    (offer) =>
      offer.total_currency === 'USD' &&
      Number(offer.total_amount_decimal) > 5 &&
      offer.offer_id.startsWith('off_'),
  );
  if (!found) throw new Error('no offer in dollars');
  return found;
};
const balance = async (): Promise<number> =>
  Number((await tool.run(['wallet', 'balance', '--json'])).json<{ usdc: string }>().usdc);

beforeAll(async () => void (await balance()));
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});
afterAll(() => tool.close());

test('lists its tools with their input, and says which only read', async () => {
  const client = await connect();
  const { tools } = await client.listTools();
  const search = tools.find(({ name }) => name === 'search');
  expect(search?.inputSchema.required).toEqual(['from', 'to', 'depart']);
  expect(search?.inputSchema.properties?.adults).toMatchObject({ type: 'integer', minimum: 1, maximum: 9 });
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name)).toContain(
    'status',
  );
  expect(client.getInstructions()).toContain('no spending was allowed');
});

test('without an allowance it reads, and refuses to pay and to change', async () => {
  const client = await connect();
  const before = await balance();
  expect(await call(client, 'wallet_balance')).toMatchObject({ isError: false });
  expect(await call(client, 'search', SEARCH)).toMatchObject({ isError: true, code: 'payment_above_cap' });
  expect(await call(client, 'affiliate_create')).toMatchObject({
    isError: true,
    code: 'changes_not_allowed',
  });
  expect(await balance()).toBe(before);
});

test('what is not a tool, or not a parameter of it, is an error that says what there is', async () => {
  const client = await connect();
  expect(await call(client, 'keys_issue', { name: 'x' })).toMatchObject({ isError: true, code: 'usage' });
  expect(await call(client, 'status', { intent: 'int_1' })).toMatchObject({ isError: true, code: 'usage' });
  expect(await call(client, 'status', { intent_id: 'int_none' })).toMatchObject({ isError: true });
});

test('searches and locks; a booking above the cap is refused, and costs nothing', async () => {
  const client = await connect('--allow-spending', '5');
  const searched = await call(client, 'search', SEARCH);
  expect(searched.isError).toBe(false);
  const intent = await call(client, 'intent_create', { offer_id: offerIn(searched).offer_id });
  expect(intent.document).toMatchObject({ status: 'active', customer_support_code: null });
  const before = await balance();
  const booked = await call(client, 'book', {
    intent_id: intent.document.intent_id,
    passengers: [PASSENGER],
  });
  expect(booked).toMatchObject({ isError: true, code: 'payment_above_cap' });
  expect(await balance()).toBe(before);
});

test('books within the cap, and the allowance is for all payments together', async () => {
  const first = await connect('--allow-spending', '1');
  const offer = offerIn(await call(first, 'search', { ...SEARCH, depart: '+40d' }));
  const price = Number(offer.total_amount_decimal);
  const client = await connect('--allow-spending', (price + 0.15).toFixed(2));
  const intent = await call(client, 'intent_create', { offer_id: offer.offer_id });
  const booked = await call(client, 'book', {
    intent_id: intent.document.intent_id,
    passengers: [PASSENGER],
  });
  expect(booked.document).toMatchObject({ status: 'booked' });
  const more = await call(client, 'search', SEARCH);
  expect(more).toMatchObject({ isError: true, code: 'payment_above_cap' });
});

test('a cap for each payment holds below the allowance', async () => {
  const client = await connect('--allow-spending', '5', '--max-payment', '0.05');
  expect(await call(client, 'search', SEARCH)).toMatchObject({ isError: true, code: 'payment_above_cap' });
});
