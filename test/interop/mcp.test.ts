import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { inMemory } from '../cli/memory.ts';
import { BIN, farelockIn, PASSENGER, type Runner } from '../e2e/farelock.ts';
import { proofTest } from '../proof-only.ts';
import { mcpInMemory } from './mcp-in-memory.ts';

/** The official SDK's client, against the tool; where it is killed, against the built one as a process. */

const tool = farelockIn();
/** What is looked at and prepared beside the server. */
const beside = inMemory(tool);
const open: Client[] = [];
/** Of servers that may spend nothing: one for each set of options. */
const frugal = new Map<string, Promise<Client>>();

/** A client that has listed the tools: from then on it holds every answer against the tool's outputSchema. */
const connect = (...options: string[]): Promise<Client> => {
  if (options.includes('--allow-spending')) return connectTo(tool, ...options);
  const key = options.join(' ');
  const found = frugal.get(key) ?? connectTo(tool, ...options);
  frugal.set(key, found);
  return found;
};

const connectTo = (runner: Runner, ...options: string[]) => connectOver(mcpInMemory(runner, options));

async function connectOver(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  open.push(client);
  await client.listTools();
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
      offer.total_currency === 'USD' && Number(offer.total_amount_decimal) > 5 && offer.offer_id.startsWith('off_'),
  );
  if (!found) throw new Error('no offer in dollars');
  return found;
};
const balance = async (): Promise<number> =>
  Number((await beside.run(['wallet', 'balance', '--json'])).json<{ usdc: string }>().usdc);

beforeAll(async () => void (await balance()));
afterEach(async () => {
  const kept = new Set(await Promise.all(frugal.values()));
  await Promise.all(open.splice(0).map((client) => kept.has(client) || client.close()));
});
afterAll(async () => {
  for (const client of frugal.values()) await (await client).close();
  tool.close();
});

test('lists its tools with their input, and says which only read', async () => {
  const client = await connect('--allow-spending', '5');
  const { tools } = await client.listTools();
  const search = tools.find(({ name }) => name === 'search');
  expect(search?.inputSchema.required).toEqual(['from', 'to', 'depart']);
  expect(search?.inputSchema.properties?.adults).toMatchObject({ type: 'integer', minimum: 1, maximum: 9 });
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name)).toContain('status');
  expect(tools.some(({ outputSchema }) => outputSchema !== undefined)).toBe(false);
  expect((await connect()).getInstructions()).toContain('no spending was allowed');
});

test('without an allowance it reads, and refuses to pay and to change', async () => {
  const client = await connect('--tools', 'all');
  const before = await balance();
  expect(await call(client, 'wallet_balance')).toMatchObject({ isError: false });
  expect(await call(client, 'search', SEARCH)).toMatchObject({ isError: true, code: 'payment_above_cap' });
  expect(await call(client, 'affiliate_create')).toMatchObject({ isError: true, code: 'changes_not_allowed' });
  expect(await balance()).toBe(before);
});

const namesOf = async (client: Client): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);

test('what may not be called is not listed, and says which option allows it when it is called', async () => {
  const fixOf = async (client: Client, name: string, given: Record<string, unknown> = {}) =>
    ((await call(client, name, given)).document.error as { fix?: string } | undefined)?.fix;
  const reading = await connect();
  expect(await namesOf(reading)).toEqual(expect.arrayContaining(['airports', 'status', 'intent_list', 'schema']));
  expect((await reading.listTools()).tools.filter(({ annotations }) => !annotations?.readOnlyHint)).toEqual([]);
  expect(await fixOf(reading, 'search', SEARCH)).toContain('farelock mcp --allow-spending');
  expect(await fixOf(reading, 'payments_list')).toMatch(/farelock mcp --tools travel,money$/);
  expect(await fixOf(reading, 'refund_approve')).toMatch(
    /--tools travel,refunds --allow-spending <usdc> --allow-changes$/,
  );
  const spending = await connect('--allow-spending', '5', '--tools', 'travel,refunds');
  expect(await namesOf(spending)).toEqual(expect.arrayContaining(['search', 'book', 'refund_request', 'refund_show']));
  expect(await namesOf(spending)).not.toContain('refund_reject');
  expect(await fixOf(spending, 'refund_reject', { id: 'rfr_1' })).toContain('--allow-changes');
  const changing = await connect('--allow-changes', '--tools', 'refunds');
  expect(await namesOf(changing)).toContain('refund_reject');
  expect(await namesOf(changing)).not.toContain('refund_approve');
});

test('an unknown set of tools is refused with the list, before anything is served', async () => {
  const ran = await beside.run(['mcp', '--tools', 'travel,trips', '--json']);
  expect([ran.exitCode, ran.stdout]).toEqual([
    2,
    expect.stringMatching(/travel, money, refunds, operator, partner, all/),
  ]);
});

test('takes at most 13 kB for a traveller and 40 kB for everything, with every permission', async () => {
  const permissions = ['--allow-spending', '5', '--allow-changes'];
  const bytesOf = async (...options: string[]) =>
    JSON.stringify(await (await connect(...permissions, ...options)).listTools()).length;
  expect(await bytesOf()).toBeLessThan(13_000);
  expect(await bytesOf('--tools', 'all')).toBeLessThan(40_000);
  expect(await bytesOf('--tools', 'travel,money,refunds,operator,partner')).toBe(await bytesOf('--tools', 'all'));
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
  const booked = await call(client, 'book', { intent_id: intent.document.intent_id, passengers: [PASSENGER] });
  expect(booked).toMatchObject({ isError: true, code: 'payment_above_cap' });
  expect(await balance()).toBe(before);
});

test('books within the cap, and the allowance is for all payments together', async () => {
  const first = await connect('--allow-spending', '1');
  const offer = offerIn(await call(first, 'search', { ...SEARCH, depart: '+40d' }));
  const price = Number(offer.total_amount_decimal);
  const client = await connect('--allow-spending', (price + 0.15).toFixed(2));
  const intent = await call(client, 'intent_create', { offer_id: offer.offer_id });
  const booked = await call(client, 'book', { intent_id: intent.document.intent_id, passengers: [PASSENGER] });
  expect(booked.document).toMatchObject({ status: 'booked' });
  const more = await call(client, 'search', SEARCH);
  expect(more).toMatchObject({ isError: true, code: 'payment_above_cap' });
});

proofTest('a search is continued for free, or waits for every seller by itself', async () => {
  const client = await connect('--allow-spending', '1');
  const asked = { from: 'LIS', to: 'BER', depart: '+42d' };
  const first = await call(client, 'search', asked);
  expect(first.document).toMatchObject({ status: 'enriching' });
  expect(first.document.offers).toHaveLength(8);
  const before = await balance();
  const { search_id } = first.document;
  const later = await call(client, 'search_updates', { search_id, wait: true });
  expect(later.document).toMatchObject({ status: 'complete', search_id });
  const landed = later.document.offers as Offer[];
  expect(landed.some(({ offer_id }) => offer_id.startsWith('lowcost:'))).toBe(true);
  const none = await call(client, 'search_updates', { search_id, cursor: later.document.cursor });
  expect(none.document).toMatchObject({ status: 'complete', offers: [] });
  expect(await balance()).toBe(before);
  const whole = await call(client, 'search', { ...asked, depart: '+43d', wait: true, limit: 500 });
  expect(whole.document).toMatchObject({ status: 'complete' });
  expect((whole.document.offers as Offer[]).some(({ offer_id }) => offer_id.startsWith('lowcost:'))).toBe(true);
});

proofTest('the plan of a booking names fare, passengers and the wallet that a refund goes to', async () => {
  const client = await connect('--allow-spending', '1');
  const searched = await call(client, 'search', { ...SEARCH, depart: '+45d' });
  const intent = await call(client, 'intent_create', { offer_id: offerIn(searched).offer_id });
  const plan = await call(client, 'book', {
    intent_id: intent.document.intent_id,
    passengers: [PASSENGER],
    dry_run: true,
  });
  expect(plan.document).toMatchObject({
    dry_run: true,
    fare: expect.anything(),
    passengers: [expect.objectContaining({ family_name: PASSENGER.family_name })],
    refund_wallet: intent.document.refund_wallet,
  });
});

describe('a call that takes its time', () => {
  const slow = farelockIn({ FARELOCK_TICKETING_MS: '4000' });
  const looking = inMemory(slow);
  afterAll(() => slow.close());
  const money = async (): Promise<number> =>
    Number((await looking.run(['wallet', 'balance', '--json'])).json<{ usdc: string }>().usdc);

  test('reports its progress, which keeps a client of 2 s waiting; cancelled, it is neither lost nor paid twice', async () => {
    await looking.run(['wallet', 'balance']);
    const client = await connectTo(slow, '--allow-spending', '2000');
    const offer = offerIn(await call(client, 'search', SEARCH));
    const lock = async () =>
      String((await call(client, 'intent_create', { offer_id: offer.offer_id })).document.intent_id);
    const given = { intent_id: await lock(), passengers: [PASSENGER] };
    const before = await money();
    const leaving = new AbortController();
    const cancelled = client
      .callTool({ name: 'book', arguments: given }, undefined, {
        signal: leaving.signal,
        onprogress: () => leaving.abort(),
      })
      .catch((error: unknown) => error);
    expect(await cancelled).toBeInstanceOf(Error);
    const heard: { progress: number; message?: string | undefined }[] = [];
    const booked = await client.callTool({ name: 'book', arguments: given }, undefined, {
      timeout: 30_000,
      resetTimeoutOnProgress: true,
      onprogress: (one) => heard.push(one),
    });
    expect(booked.structuredContent).toMatchObject({ status: 'booked' });
    expect(heard.length).toBeGreaterThan(1);
    expect(heard.map(({ progress }) => progress)).toEqual(
      heard.map(({ progress }) => progress).toSorted((a, b) => a - b),
    );
    expect(heard.some(({ message }) => message?.includes('Ticketing'))).toBe(true);
    expect(before - (await money())).toBeLessThan(Number(offer.total_amount_decimal) * 1.5);
  });
});

test('a cap for each payment holds below the allowance', async () => {
  const client = await connect('--allow-spending', '5', '--max-payment', '0.05');
  expect(await call(client, 'search', SEARCH)).toMatchObject({ isError: true, code: 'payment_above_cap' });
});

test('calls at once that together exceed the allowance: only those that fit are paid', async () => {
  const client = await connect('--allow-spending', '0.25');
  const before = await balance();
  const answers = await Promise.all(
    [60, 61, 62, 63, 64].map((day) => call(client, 'search', { ...SEARCH, depart: `+${day}d`, no_wait: true })),
  );
  const codes = answers.filter(({ isError }) => isError).map(({ code }) => code);
  expect(codes).toEqual(['payment_above_cap', 'payment_above_cap', 'payment_above_cap']);
  expect(before - (await balance())).toBeCloseTo(0.2, 5);
});

test('a dry run needs no permission, pays nothing and changes nothing', async () => {
  const client = await connect('--tools', 'all');
  const before = await balance();
  const plan = await call(client, 'search', { ...SEARCH, depart: '+50d', dry_run: true });
  expect(plan).toMatchObject({
    isError: false,
    document: { dry_run: true, payment: { amount: '0.10', decision: 'refuse' } },
  });
  expect(await call(client, 'switch', { name: 'booking', state: 'off', dry_run: true })).toMatchObject({
    isError: false,
  });
  expect((await beside.run(['switch', '--json'])).json()).toMatchObject({ booking: 'on' });
  expect(await call(client, 'wallet_airdrop', { usdc: '5', dry_run: true })).toMatchObject({ isError: false });
  expect(await balance()).toBe(before);
});

test('what pays out needs both permissions, and its amount counts', async () => {
  for (const options of [['--allow-changes'], ['--allow-spending', '5']]) {
    const client = await connect(...options, '--tools', 'operator');
    for (const [name, given] of [
      ['refund_approve', { id: 'rfr_1' }],
      ['stuck_resolve', { id: 'int_1', decision: 'retry' }],
    ] as const) {
      expect(await call(client, name, given)).toMatchObject({
        isError: true,
        code: options.length === 1 ? 'payment_above_cap' : 'changes_not_allowed',
      });
    }
  }
});

test('a list that its command gives whole comes in part, and says how to go on', async () => {
  const client = await connect();
  const { document } = await call(client, 'schema');
  const { schemas: total = 0 } = document.total as { schemas?: number };
  expect(document).toMatchObject({ left_out: { schemas: total - 20 }, next_offset: 20 });
  const rest = await call(client, 'schema', { offset: 20, limit: total });
  expect([...(document.schemas as unknown[]), ...(rest.document.schemas as unknown[])]).toHaveLength(total);
  expect(rest.document.next_offset).toBeUndefined();
  const airports = await call(client, 'airports');
  expect(airports.document).toMatchObject({ airports: { length: 20 }, next_offset: 20 });
});

proofTest('the rest of a paid search is free, and its offers are resources', async () => {
  const client = await connect('--allow-spending', '1');
  const asked = { from: 'LIS', to: 'BER', depart: '+44d' };
  const first = await call(client, 'search', asked);
  const before = await balance();
  const { next_offset: offset, total } = first.document as { next_offset?: number; total?: { offers: number } };
  const rest = await call(client, 'search', { ...asked, offset, limit: 500 });
  const ids = [first, rest].flatMap(({ document }) => (document.offers as Offer[]).map((one) => one.offer_id));
  expect([ids.length, new Set(ids).size]).toEqual([total?.offers, total?.offers]);
  expect(rest.document.payment).toBeUndefined();
  expect(await call(client, 'search', { ...asked, depart: '+45d', offset: 8 })).toMatchObject({ code: 'usage' });
  const { resources, nextCursor } = await client.listResources();
  expect([resources.length, typeof nextCursor]).toEqual([20, 'string']);
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain('farelock://offers/{offer_id}');
  const uri = `farelock://offers/${encodeURIComponent(ids[0] ?? '')}`;
  const [content] = (await client.readResource({ uri })).contents;
  expect(JSON.parse((content as { text: string }).text)).toEqual((first.document.offers as Offer[])[0]);
  await expect(client.readResource({ uri: 'farelock://offers/off_none' })).rejects.toThrow(/There is no/);
  await expect(client.readResource({ uri: 'farelock://orders/--help' })).rejects.toThrow(/There is no/);
  expect(await balance()).toBe(before);
});

test('no tool reaches limits, settings, keys or saved travellers', async () => {
  const client = await connect('--allow-spending', '5', '--allow-changes', '--tools', 'all');
  const { tools } = await client.listTools();
  expect(
    tools.map(({ name }) => name).filter((name) => /config|keys|travellers|limits_set|wallet_new/.test(name)),
  ).toEqual([]);
  for (const name of ['config_set', 'wallet_limits_set', 'wallet_new', 'keys_issue', 'payments_resume']) {
    expect(await call(client, name, { per_call: '900', key: 'per_call', value: '900' })).toMatchObject({
      isError: true,
      code: 'usage',
    });
  }
});

test('a server that was started with --dry-run plans only, whatever else is allowed', async () => {
  const client = await connect('--dry-run', '--tools', 'all');
  const before = await balance();
  for (const [name, given] of [
    ['search', { ...SEARCH, depart: '+51d' }],
    ['wallet_airdrop', { usdc: '5' }],
    ['affiliate_create', {}],
  ] as const) {
    expect(await call(client, name, given)).toMatchObject({ isError: false, document: { dry_run: true } });
  }
  expect(await balance()).toBe(before);
});

describe('in a home of its own', () => {
  const own = farelockIn();
  const ownBeside = inMemory(own);
  beforeAll(async () => void (await ownBeside.run(['wallet', 'balance'])));
  afterAll(() => own.close());
  const held = async (): Promise<number> =>
    Number((await ownBeside.run(['wallet', 'balance', '--json'])).json<{ usdc: string }>().usdc);
  const limit = (...given: string[]) => ownBeside.run(['wallet', 'limits', 'set', ...given]);

  test('an allowance lifts no limit of the wallet: not for a call, a booking or a day', async () => {
    const client = await connectTo(own, '--allow-spending', '900', '--max-payment', '900');
    const offer = offerIn(await call(client, 'search', SEARCH));
    const intent = await call(client, 'intent_create', { offer_id: offer.offer_id });
    const before = await held();
    await limit('--booking', '5');
    expect(await call(client, 'book', { intent_id: intent.document.intent_id, passengers: [PASSENGER] })).toMatchObject(
      { isError: true, code: 'payment_above_cap' },
    );
    await limit('--per-call', '0.05');
    const { limit: _many, ...days } = SEARCH;
    for (const given of [SEARCH, { ...days, flex: 1 }]) {
      const refused = await call(client, 'search', given);
      expect(refused).toMatchObject({ isError: true, code: 'payment_above_cap' });
      expect(JSON.stringify(refused.document)).not.toContain('--');
    }
    await limit('--per-call', 'none', '--per-day', '0.25');
    expect(await call(client, 'search', SEARCH)).toMatchObject({ isError: true, code: 'daily_limit_reached' });
    const restarted = await connectTo(own, '--allow-spending', '900');
    expect(await call(restarted, 'search', SEARCH)).toMatchObject({ code: 'daily_limit_reached' });
    await limit('--per-day', 'none', '--booking', 'none');
    expect(await held()).toBe(before);
  });

  proofTest(
    'killed in the middle of a call: the next server charges once, and only within its own allowance',
    async () => {
      const before = await held();
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [BIN, 'mcp', '--allow-spending', '5'],
        env: { ...own.env, PATH: process.env.PATH ?? '' },
        stderr: 'ignore',
      });
      const client = await connectOver(transport);
      const asked = { ...SEARCH, depart: '+70d', no_wait: true };
      const cut = call(client, 'search', asked).catch(() => null);
      process.kill(transport.pid ?? 0, 'SIGKILL');
      await cut;
      const small = await connectTo(own, '--allow-spending', '0.05');
      const refused = await call(small, 'search', asked);
      expect(refused).toMatchObject({ isError: true, code: 'payment_above_cap' });
      const enough = await connectTo(own, '--allow-spending', '5');
      expect(await call(enough, 'search', asked)).toMatchObject({ isError: false });
      expect(before - (await held())).toBeCloseTo(0.1, 5);
    },
  );

  proofTest('a refund is paid out only within the allowance, and counts', async () => {
    await ownBeside.run(['wallet', 'airdrop', '--usdc', '3000']);
    const found = await ownBeside.run('search LIS BER --depart +33d --all-fares --limit 500 --json'.split(' '));
    const refundable = found
      .json<{ offers: (Offer & { conditions: { refund_allowed: boolean | null } | null })[] }>()
      .offers.find(
        (one) =>
          one.conditions?.refund_allowed === true && one.total_currency === 'USD' && one.offer_id.startsWith('off_'),
      );
    const made = await ownBeside.run(['intent', 'create', refundable?.offer_id ?? '', '--json']);
    const { intent_id: id } = made.json<{ intent_id: string }>();
    await ownBeside.run(['book', id, '--passengers', '-', '--yes'], { input: JSON.stringify([PASSENGER]) });
    await ownBeside.run(['refund', 'request', id, '--reason', 'Illness']);
    const before = await held();
    const little = await connectTo(own, '--tools', 'refunds', '--allow-changes', '--allow-spending', '1');
    const refused = await call(little, 'refund_approve', { id });
    expect(refused, JSON.stringify(refused.document)).toMatchObject({ code: 'payment_above_cap' });
    expect((await call(little, 'refund_show', { id })).document).toMatchObject({ status: 'received' });
    expect(await held()).toBe(before);
    const enough = await connectTo(own, '--tools', 'refunds', '--allow-changes', '--allow-spending', '2000');
    const planned = await call(enough, 'refund_approve', { id, dry_run: true });
    const payout = Number(planned.document.payout_amount) / 1e6;
    expect((await call(enough, 'refund_approve', { id })).document).toMatchObject({ status: 'refunded' });
    expect((await held()) - before).toBeCloseTo(payout, 5);
  });

  proofTest('every tool answers as its outputSchema says', async () => {
    const everything = ['--tools', 'all', '--output-schemas'];
    const client = await connectTo(own, '--allow-spending', '2000', '--allow-changes', ...everything);
    const answered = new Set<string>();
    const ask = async (name: string, given: Record<string, unknown> = {}) => {
      const answer = await call(client, name, given);
      expect(answer.isError, `${name} ${JSON.stringify(answer.document)}`).toBe(false);
      const isLong = Buffer.byteLength(JSON.stringify(answer.document)) > 32_000;
      if (given.limit === undefined) expect([name, given, isLong]).toEqual([name, given, false]);
      answered.add(name);
      return answer.document;
    };
    const id = (document: Record<string, unknown>, key: string) => String(document[key]);
    await ask('airports', { text: ['sao', 'paulo'] });
    await ask('wallet_airdrop', { usdc: '3000' });
    const found = {
      isError: false,
      code: undefined,
      document: await ask('search', { ...SEARCH, depart: '+35d', all_fares: true }),
    };
    const { search_id } = await ask('search', { from: 'LIS', to: 'BER', depart: '+46d' });
    await ask('search_updates', { search_id });
    await ask('search', { from: 'LIS', to: 'BER', depart: '+30d', flex: 1 });
    await ask('search', { ...SEARCH, dry_run: true });
    const { offer_id } = offerIn(found);
    await ask('offer', { offer_id });
    await ask('offer', { offer_id, fares: true });
    const intent = await ask('intent_create', { offer_id });
    const intent_id = id(intent, 'intent_id');
    for (const name of ['intent_show', 'intent_verify', 'status']) await ask(name, { intent_id });
    await ask('intent_list');
    await ask('book', { intent_id, passengers: [PASSENGER], dry_run: true });
    await ask('book', { intent_id, passengers: [PASSENGER] });
    await ask('order', { id: intent_id });
    await ask('refund_request', { intent_id, reason: 'Illness' });
    await ask('refund_queue');
    await ask('refund_show', { id: intent_id });
    await ask('refund_claim', { id: intent_id });
    await ask('refund_note', { id: intent_id, text: 'Called' });
    await ask('refund_reject', { id: intent_id, reason: 'Rules' });
    for (const name of ['wallet_show', 'wallet_balance', 'wallet_history', 'wallet_limits_show']) await ask(name);
    await ask('wallet_show', { qr: '25' });
    const [first] = (await ask('payments_list')).payments as { payment_id: string }[];
    await ask('payments_show', { payment_id: first?.payment_id });
    await ask('payments_verify');
    const { code } = await ask('affiliate_create');
    await ask('affiliate_show', { code });
    const ramp = {
      country: 'BRA',
      ramp: 'ONRAMP',
      from: 'BRL',
      to: 'SOLANA_USDC',
      amount: '250.00',
      method: 'BRA_PIX',
    };
    await ask('partner_offers', ramp);
    await ask('partner_orders_list');
    await ask('requirements_list');
    await ask('partner_requirements_add', { customer_id: 'cus_demo_ana', attestation: 'AML_CHECK' });
    await ask('attestations_list');
    await ask('stuck_list');
    await ask('switch', { name: 'booking', state: 'on' });
    await ask('audit_list');
    await ask('doctor');
    await ask('db_status');
    await ask('db_check');
    await ask('explain', { code: 'offer_expired' });
    await ask('schema');
    const { tools } = await client.listTools();
    for (const { name, outputSchema } of tools)
      if (name !== 'schema') expect(await ask('schema', { command: [name] })).toMatchObject({ ...outputSchema });
    // These need an order of a partner, a booking that is stuck, a fare that is refunded, or a customer's own key.
    const others =
      /^(partner_orders_(show|create|update)|stuck_(show|resolve)|refund_approve|requirements_accept_terms)$/;
    expect(tools.map(({ name }) => name).filter((name) => !answered.has(name) && !others.test(name))).toEqual([]);
  });
});
