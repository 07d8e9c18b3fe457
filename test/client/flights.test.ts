import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFlightsClient } from '../../src/client/flights.ts';
import type { Payer } from '../../src/client/payer/payer.ts';
import { json } from '../../src/kernel/http.ts';
import { overNetwork } from '../../src/kernel/network.ts';
import { openWorld, type World } from '../payments/world.ts';
import type { WebFetch as Fetch } from '../web.ts';
import { openClient } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** A deployment that asks for no money and answers as told. */
async function deployment(body: unknown, status = 200, headers: Record<string, string> = {}) {
  const asked: Request[] = [];
  const fetch: Fetch = async (request) => {
    asked.push(request);
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers });
  };
  const { client, store } = await openClient(world, fetch);
  return { client, store, asked };
}

const WALLET = 'So11111111111111111111111111111111111111112';

test('an intent of another deployment is read: envelope, id, flat escrow fields', async () => {
  const { client, store } = await deployment({
    intent: {
      id: 'int_other',
      status: 'active',
      offer_id: 'off_1',
      funding_wallet: WALLET,
      escrow_address: 'Escrow',
      vault_address: 'Vault',
      expected_escrow_amount: '151200000',
      expected_escrow_mint: 'Mint',
      airline_order_id: 'ord_1',
    },
    customer_support_code: 'FLK-1',
  });
  const expected = {
    intent_id: 'int_other',
    refund_wallet: WALLET,
    order_id: 'ord_1',
    escrow: {
      address: 'Escrow',
      vault_address: 'Vault',
      amount: 151_200_000,
      mint: 'Mint',
      program_id: '',
      observed_amount: null,
    },
  };
  expect(await client.intent('int_other')).toMatchObject(expected);
  const created = await client.createIntent({ funding_wallet: WALLET, offer_id: 'off_1' });
  expect(created.value).toMatchObject({ ...expected, customer_support_code: 'FLK-1' });
  expect(created.payment).toBeNull();
  // Also what was free is remembered before anybody sees it.
  expect((await store.intent('int_other'))?.supportCode).toBe('FLK-1');
  await store.shut();
});

test('what a record does not say stays unsaid: its deadline, its program, its vault', async () => {
  const { client, store } = await deployment({
    id: 'int_other',
    status: 'active',
    funding_wallet: WALLET,
    refund_wallet: '',
    passenger_count: '2',
    booking_requested_at: '',
    expires_at: '2026-12-01T00:00:00Z',
    escrow: { address: 'Escrow', mint: 'Mint', amount: '5', observed_amount: '' },
  });
  expect(await client.intent('int_other')).toMatchObject({
    passenger_count: 2,
    refund_wallet: WALLET,
    booking_requested_at: null,
    escrow: { refund_after: '', program_id: '', vault_address: '', observed_amount: null },
  });
  await store.shut();
});

test('numbers that come as text are read, and empty texts are undisclosed', async () => {
  const { client, store } = await deployment({
    offers: [
      {
        id: 'off_1',
        stops: '1',
        total_emissions_kg: '',
        checked_bags_included: '',
        total_amount_decimal: 113.26,
        aircraft_name: '',
        conditions: { refund_allowed: 'true', refund_penalty_amount: 40, change_allowed: '' },
        slices: [{ stops: '0', segments: [{ technical_stops: '0', origin_terminal: '' }] }],
      },
    ],
  });
  const { value } = await client.search({ origin_iata: 'LIS', destination_iata: 'BER', depart_date: 'x' });
  expect(value.offers).toEqual([
    {
      id: 'off_1',
      offer_id: 'off_1',
      stops: 1,
      total_emissions_kg: null,
      checked_bags_included: null,
      total_amount_decimal: '113.26',
      aircraft_name: null,
      conditions: { refund_allowed: true, refund_penalty_amount: '40', change_allowed: null },
      slices: [{ stops: 0, segments: [{ technical_stops: 0, origin_terminal: null }] }],
    },
  ]);
  await store.shut();
});

test('searches and orders of another deployment are read', async () => {
  const search = await deployment({ search: { offers: [{ id: 'off_1' }], status: 'enriching', search_id: 's' } });
  expect(
    (await search.client.search({ origin_iata: 'LIS', destination_iata: 'BER', depart_date: 'x' })).value,
  ).toMatchObject({ offers: [{ offer_id: 'off_1' }], status: 'enriching', search_id: 's', total_offers: 1 });
  const order = await deployment({
    order: { airline_order_id: 'ord_1', status: 'ticketed', booking_reference: 'ABC123' },
  });
  expect((await order.client.order('ord_1', 'FLK-1')).value).toMatchObject({
    order_id: 'ord_1',
    booking_reference: 'ABC123',
    documents: [],
  });
  expect(order.asked[0]?.headers.get('X-Customer-Support-Code')).toBe('FLK-1');
  await search.store.shut();
  await order.store.shut();
});

test.each([
  ['no offers', { status: 'complete' }],
  ['offers without ids', { offers: [{}] }],
  ['a list', []],
  ['not JSON', '<html>'],
])('an answer that can’t be one (%s) is unexpected_answer', async (_name, body) => {
  const { client, store } = await deployment(body);
  await expect(client.search({ origin_iata: 'LIS', destination_iata: 'BER', depart_date: 'x' })).rejects.toMatchObject({
    code: 'unexpected_answer',
  });
  await store.shut();
});

test.each([
  [{ code: 'offer_repriced', message: 'm', detail: { a: 1 } }, 409, 'offer_repriced', { a: 1 }],
  [{ error: { code: 'intent_not_found', message: 'm' } }, 404, 'intent_not_found', undefined],
  [{ code: 'weird', message: 'no' }, 404, 'not_found', { status: 404, service_code: 'weird' }],
  [{ message: 'no' }, 418, 'unexpected_answer', { status: 418 }],
  [{}, 502, 'provider_failed', { status: 502 }],
])('%j with %i is the problem %s', async (body, status, code, detail) => {
  const { client, store } = await deployment(body, status, { 'Retry-After': '7' });
  await expect(client.intent('int_1')).rejects.toMatchObject({ code, detail, retryAfter: 7 });
  await store.shut();
});

test("the service's words are kept, without saying the fix twice", async () => {
  const { client, store } = await deployment(
    { code: 'offer_expired', message: 'The offer has expired. Search again. This call cost nothing.' },
    409,
  );
  await expect(client.intent('int_1')).rejects.toMatchObject({
    message: 'The offer has expired.',
    fix: 'Search again. This call cost nothing.',
  });
  await store.shut();
});

const noPayer: Payer = { send: () => Promise.reject(new Error('nothing to pay')) };

test('a service that is not there is network_unreachable; one that sleeps, timed_out', async () => {
  const gone = createFlightsClient({ baseUrl: 'http://127.0.0.1:9', fetch: overNetwork(), payer: noPayer });
  await expect(gone.health()).rejects.toMatchObject({ code: 'network_unreachable' });
  const asleep = createFlightsClient({
    baseUrl: 'http://shop.test',
    fetch: () => new Promise(() => undefined),
    payer: noPayer,
    timeoutMs: 20,
  });
  await expect(asleep.health()).rejects.toMatchObject({ code: 'timed_out' });
});

test('a path of the base address and a slash at its end are kept straight', async () => {
  const asked: string[] = [];
  const client = createFlightsClient({
    baseUrl: 'https://flights.example/api/',
    fetch: async ({ url }) => {
      asked.push(url);
      return json({ status: 'ok' });
    },
    payer: noPayer,
  });
  await client.health();
  expect(asked).toEqual(['https://flights.example/api/health']);
});

test('half a surrogate pair in an id is asked for, and is no error of ours', async () => {
  const asked: string[] = [];
  const client = createFlightsClient({
    baseUrl: 'https://flights.example',
    fetch: async ({ url }) => {
      asked.push(url);
      return json({ code: 'intent_not_found', message: 'There is no such intent.' }, 404);
    },
    payer: noPayer,
  });
  await expect(client.intent('int_\ud800')).rejects.toMatchObject({ code: 'intent_not_found' });
  expect(asked).toEqual(['https://flights.example/air/intents/int_%EF%BF%BD']);
});

test('a filter that an earlier release does not know is refused with what to do', async () => {
  const { client } = await deployment(
    {
      code: 'invalid_request',
      message: 'The request is not valid.',
      detail: { issues: [{ path: 'alliance', message: 'is not a known field.' }] },
    },
    400,
  );
  const searched = client.search({
    ...{ origin_iata: 'LIS', destination_iata: 'BER' },
    depart_date: '2026-12-20',
    alliance: 'star',
  });
  await expect(searched).rejects.toMatchObject({
    code: 'invalid_request',
    detail: { issues: [{ path: 'alliance', message: expect.stringMatching(/earlier release\. Leave it out\.$/) }] },
  });
});
